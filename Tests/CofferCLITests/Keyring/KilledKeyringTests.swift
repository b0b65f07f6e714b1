import Coffer
import CofferTestSupport
import Foundation
import Testing

@testable import CofferCLI

@Suite("Changes of keyrings that are killed")
struct KilledKeyringTests: KeyringToolSuite {
    let tool: Tool

    init() throws { tool = try Tool() }

    /// The change of the keyring that is killed, and the change that follows it.
    enum KilledChange: String, CaseIterable {
        case change, addAndRemove, rotate

        /// - Parameter isBack: true if the previous change was complete and is to be reversed.
        func arguments(isBack: Bool) -> [String] {
            let key = ["--new-key-type", "raw", "--new-key-file"]
            let anna = ["--unlock-type", "raw", "--unlock-file", "anna.key"]
            return switch self {
            case .change where isBack:
                ["key", "change", "a.db", "--unlock-type", "raw", "--unlock-file", "ben.key"] + key + [
                    "anna.key"
                ]
            case .change: ["key", "change", "a.db"] + anna + key + ["ben.key"]
            case .addAndRemove where isBack: ["key", "remove", "a.db", "--slot", "2"] + anna
            case .addAndRemove: ["key", "add", "a.db"] + anna + key + ["ben.key"]
            case .rotate: ["key", "rotate", "a.db"] + anna
            }
        }

        /// Returns the secrets that open the database before the change.
        func opening(isBack: Bool) -> [String] {
            switch self {
            case .change: isBack ? ["ben.key"] : ["anna.key"]
            case .addAndRemove: isBack ? ["anna.key", "ben.key"] : ["anna.key"]
            case .rotate: ["anna.key"]
            }
        }
    }

    /// Returns the raw keys that open the database. Checked in this process, which takes a tenth of the time
    /// that the tool needs.
    private func keysThatOpen() -> [String] {
        [("anna.key", 1 as UInt8), ("ben.key", 2)].filter { _, byte in
            let secret = DatabaseKeyring.Secret.rawKey([UInt8](repeating: byte, count: 32))
            let configuration = Configuration().with { $0.key = .keyring(unlockedBy: secret) }
            guard
                let queue = try? DatabaseQueue(
                    path: tool.directory.path("a.db"), configuration: configuration)
            else { return false }
            return (try? queue.read { try String.fetchAll($0, sql: "SELECT a FROM t") }) == ["letter"]
        }.map(\.0)
    }

    private static let adoptionPoints = [
        "copy-created", "renamed", "note-made", "copied", "verified", "reopened", "audited", "note-removed",
    ]

    @Test(
        "an interrupted run has printed the first recovery key if the former key no longer opens the file",
        arguments: adoptionPoints, ["", ":error"])
    func firstRecoveryKey(_ point: String, kind: String) throws {
        try tool.makeDatabase()
        let result = try tool.run(
            ["key", "init", "a.db", "--key", "file:a.key", "--recovery"],
            environment: ["COFFER_FAIL_POINT": point + kind])
        #expect(result.status == (kind.isEmpty ? -SIGKILL : 74), "\(result)")
        let sql = "SELECT text FROM t"
        if try tool.run("query", "a.db", sql, "--key", "file:a.key").status != 0 {
            try tool.write(result.output, to: "sheet.txt")
            try expect(tool.run("query", "a.db", sql, "--unlock", "recovery:file:sheet.txt"), "row 1")
        } else {
            #expect(!["reopened", "audited", "note-removed"].contains(point), "\(result)")
        }
    }

    /// The keyring may be removed only if it certainly opens nothing.
    @Test(
        "a killed run with a first recovery key can be repeated, or the next run reports its state",
        arguments: adoptionPoints, [[], ["--new-key", "file:anna.key"]])
    func repeatedRecoveryKey(_ point: String, slot: [String]) throws {
        try tool.makeDatabase()
        try tool.writeKey("anna.key", 1)
        let command = ["key", "init", "a.db", "--key", "file:a.key", "--recovery"] + slot
        var last = try tool.run(command, environment: ["COFFER_FAIL_POINT": point])
        #expect(last.status == -SIGKILL, "\(last)")
        let again = try tool.run(command)
        switch point {
        case "copy-created", "copied", "verified":
            expect(again)
            last = again
        case "renamed", "note-made":
            expect(again, status: 73, "If the present key still opens it, and no database that was moved")
            #expect(again.output.isEmpty, "\(again)")
            try expect(tool.run("query", "a.db", "SELECT text FROM t", "--key", "file:a.key"), "row 1")
            try FileManager.default.removeItem(atPath: tool.directory.path("a.db.keys"))
            last = try tool.run(command)
            expect(last)
        default: expect(again, status: 73, "the secrets of that run open the database. Keep both.")
        }
        try tool.write(last.output, to: "sheet.txt")
        for source in ["recovery:file:sheet.txt"] + slot.dropFirst() {
            try expect(tool.run("query", "a.db", "SELECT text FROM t", "--unlock", source), "row 1")
        }
        // The next change removes the leftovers.
        try expect(tool.run("key", "rotate", "a.db", "--unlock", "recovery:file:sheet.txt"))
        #expect(tool.directory.fileNames().filter { $0.hasPrefix(".") || $0.contains("json") }.isEmpty)
    }

    @Test("a keyring that may belong to a moved database is never removed")
    func keyringOfMovedDatabase() throws {
        try make()
        let names = FileManager.default
        try names.moveItem(atPath: tool.directory.path("a.db"), toPath: tool.directory.path("moved.db"))
        try tool.makeDatabase("a.db")
        let before = try tool.directory.bytes(of: "a.db.keys")
        try expect(
            tool.run("key", "init", "a.db", "--key", "file:a.key", "--recovery"), status: 73,
            "no database that was moved needs the keyring")
        #expect(try tool.directory.bytes(of: "a.db.keys") == before)
    }

    /// `COFFER_NIGHTLY=1` kills each change 300 times.
    @Test(
        "a change that is killed at any moment leaves the old slots or the new ones, whole",
        arguments: KilledChange.allCases)
    func kills(_ change: KilledChange) throws {
        try make()
        try tool.writeKey("ben.key", 2)
        var random = SeededRandom("killed changes of a keyring: \(change)")
        let database = try tool.directory.bytes(of: "a.db")
        let keyring = DatabaseKeyring(databasePath: tool.directory.path("a.db"))
        var isBack = false
        var (complete, halves) = (0, 0)
        let points = ["note-made", "copy-created", "copy-synchronized", "renamed", "directory-synchronized"]
        for round in 0..<Nightly.pick(300, byDay: 8) {
            let point = round < points.count ? points[round] : ""
            let epoch = try keyring.inspect().epoch
            let worker = try tool.start(
                change.arguments(isBack: isBack),
                environment: point.isEmpty ? [:] : ["COFFER_FAIL_POINT": point])
            if point.isEmpty {
                usleep(UInt32.random(in: 0...(change == .rotate ? 150_000 : 60_000), using: &random))
                worker.send(SIGKILL)
            }
            _ = worker.wait()
            let contents = try keyring.inspect()
            #expect(contents.damage.isEmpty, "round \(round)")
            let opening = keysThatOpen()
            if change == .rotate {
                try #require(opening == ["anna.key"], "round \(round)")
                halves += contents.isRotating ? 1 : 0
                complete += contents.epoch > epoch ? 1 : 0
            } else if opening == change.opening(isBack: !isBack) {
                complete += 1
                isBack.toggle()
            } else {
                try #require(opening == change.opening(isBack: isBack), "round \(round)")
            }
        }
        print("kill -9 of \(change) of a keyring: \(complete) were complete, \(halves) half a rotation")
        if change != .rotate { #expect(try tool.directory.bytes(of: "a.db") == database) }
        // The next change removes the leftovers.
        try expect(tool.run(change.arguments(isBack: isBack)))
        #expect(keysThatOpen() == change.opening(isBack: !isBack))
        #expect(try !keyring.inspect().isRotating)
        #expect(tool.directory.fileNames().filter { $0.hasPrefix(".") || $0.contains("-") }.isEmpty)
    }
}
