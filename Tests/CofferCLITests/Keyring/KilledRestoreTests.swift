import Coffer
import CofferTestSupport
import Foundation
import Testing

@Suite("Restoring with a keyring after a killed run")
struct KilledRestoreTests {
    private let tool: Tool
    private let anna = ["--unlock-file", "anna.key", "--unlock-type", "raw"]
    private let raw = ["--key-file", "a.key", "--key-type", "raw"]

    /// Makes `safe.db`, a backup of `a.db` with a keyring; `a.db` has one row more. `r.db` has a raw key.
    init() throws {
        tool = try Tool()
        try tool.writeKey("anna.key", 1)
        try tool.makeDatabase("r.db")
        for arguments in [
            ["key", "init", "a.db", "--new-key-file", "anna.key", "--new-key-type", "raw"],
            ["query", "a.db", "CREATE TABLE t (a); INSERT INTO t VALUES ('letter')", "--write"] + anna,
            ["backup", "a.db", "safe.db"] + anna,
            ["query", "a.db", "INSERT INTO t VALUES ('later')", "--write"] + anna,
        ] {
            let result = try tool.run(arguments)
            try #require(result.status == 0, "\(result)")
        }
    }

    private static let points = [
        "copy-created", "copied", "verified", "copy-synchronized", "old-kept", "locked", "renamed",
        "directory-synchronized", "audited",
    ]

    private func kill(_ arguments: [String], at point: String) throws {
        let killed = try tool.run(arguments, environment: ["COFFER_FAIL_POINT": point])
        #expect(killed.status == -SIGKILL, "\(point): \(killed)")
    }

    private func litter() -> [String] {
        let names = tool.directory.fileNames()
        return names.filter { name in
            name.contains(".coffer-")
                || name.hasSuffix(".keys") && !names.contains(String(name.dropLast(".keys".count)))
        }
    }

    private func kept() -> [String] {
        tool.directory.fileNames().filter { $0.contains(".replaced-") && $0.hasSuffix("Z") }
    }

    private func content(_ name: String) throws -> String {
        try tool.run(["query", name, "SELECT a FROM t"] + anna).output
    }

    @Test("the kept file has its keyring at each moment, and opens after a rotation", arguments: points)
    func over(_ point: String) throws {
        let arguments = ["restore", "safe.db", "a.db"] + anna
        try kill(arguments, at: point)
        for name in kept() { #expect(tool.exists("\(name).keys"), "\(point): \(name)") }
        let again = try tool.run(arguments)
        #expect(again.status == 0, "\(again)")
        #expect(litter() == [])
        #expect(try tool.run(["key", "rotate", "a.db"] + anna).status == 0)
        #expect(try !content("a.db").contains("later") && content("a.db").contains("letter"))
        let contents = try kept().map(content)
        #expect(contents.allSatisfy { $0.contains("letter") }, "\(contents)")
        #expect(contents.contains { $0.contains("later") }, "\(contents)")
    }

    @Test(
        "a rotation leaves no copy with the former data key",
        arguments: points + ["journal-left"], [true, false])
    func rotatedAfter(_ point: String, hasLog: Bool) throws {
        // Only a log is merged into a copy of the old file.
        if point == "journal-left", !hasLog { return }
        if hasLog { try leaveLog() }
        try kill(["restore", "safe.db", "a.db"] + anna, at: point)
        let isReplaced = ["renamed", "directory-synchronized", "audited"].contains(point)
        let rotated = try tool.run(["key", "rotate", "a.db"] + anna)
        #expect(rotated.status == 0, "\(rotated)")
        #expect(litter() == [])
        #expect(isReplaced || replaced() == [])
        #expect(try content("a.db").contains("letter"))
    }

    @Test(
        "a rotation of a raw key leaves no copy of a killed restore either", arguments: [[], ["--in-place"]])
    func rotatedRawKey(options: [String]) throws {
        try tool.writeKey("next.key", 7)
        let backup = try tool.run(["backup", "r.db", "r-safe.db"] + raw)
        #expect(backup.status == 0, "\(backup)")
        try kill(["restore", "r-safe.db", "r.db"] + raw, at: "copied")
        #expect(litter() != [])
        let rotated = try tool.run(["rotate", "r.db", "--new-key", "raw:file:next.key"] + options + raw)
        #expect(rotated.status == 0, "\(rotated)")
        #expect(litter() == [])
    }

    @Test(
        "a killed restore that gives a database its keyring is completed, and leaves nothing else",
        arguments: ["new.db", "r.db"], points)
    func gettingKeyring(_ name: String, _ point: String) throws {
        let arguments = ["restore", "safe.db", name] + anna
        // These steps need an old file.
        if name == "new.db", ["old-kept", "locked"].contains(point) { return }
        try kill(arguments, at: point)
        let again = try tool.run(arguments)
        #expect(again.status == 0, "\(again)")
        #expect(litter() == [])
        #expect(try content(name).contains("letter"))
    }

    @Test(
        "a step that fails leaves neither the kept file nor its keyring", arguments: ["old-kept", "locked"])
    func failures(_ point: String) throws {
        let names = tool.directory.fileNames()
        let result = try tool.run(
            ["restore", "safe.db", "a.db"] + anna, environment: ["COFFER_FAIL_POINT": "\(point):error"])
        #expect(result.status == 74, "\(result)")
        #expect(tool.directory.fileNames() == names)
    }

    @Test(
        "a step that fails after the old file was replaced names the kept file",
        arguments: ["renamed", "audited"])
    func failuresAfterReplacing(_ point: String) throws {
        let result = try tool.run(
            ["restore", "safe.db", "a.db"] + anna, environment: ["COFFER_FAIL_POINT": "\(point):error"])
        let name = try #require(kept().first)
        #expect(result.status == 74 && result.errors.contains("The old file is '"), "\(result)")
        #expect(result.errors.contains("\(name)'"), "\(result)")
    }

    @Test(
        "keyrings with the same data key are named when one is destroyed", arguments: destructions,
        [true, false])
    func sameKeyrings(_ destruction: [String], isMoved: Bool) throws {
        let restored = try tool.run(["restore", "safe.db", "a.db"] + anna)
        #expect(restored.status == 0, "\(restored)")
        let name = try #require(kept().first)
        if isMoved { try FileManager.default.removeItem(atPath: tool.directory.path(name)) }
        let result = try tool.run(destruction)
        #expect(result.status == 0, "\(result)")
        let isNamed = result.errors.contains("coffer key destroy \(name) --yes-destroy \(name)")
        // An erasure names the old file, with which its keyring is erased.
        #expect(isNamed == (isMoved || destruction[0] == "key"), "\(result)")
        #expect(result.errors.contains("'\(name)") && !result.errors.contains("safe.db"), "\(result)")
    }

    @Test(
        "a leftover that could not be removed is removed by a later run",
        arguments: [
            ["restore", "safe.db", "a.db"], ["key", "add", "a.db", "--new-key", "raw:file:ben.key"],
        ])
    func leftoverThatStays(_ command: [String]) throws {
        try tool.writeKey("ben.key", 2)
        try kill(command + anna, at: "copy-synchronized")
        let name = try #require(litter().first { $0.hasSuffix(".tmp") })
        // A folder of the file's name cannot be removed like a file.
        let (path, away) = (tool.directory.path(name), tool.directory.path("away"))
        try FileManager.default.moveItem(atPath: path, toPath: away)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        for _ in 0..<2 {
            let failed = try tool.run(command + anna)
            #expect(failed.status != 0, "\(failed)")
        }
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.moveItem(atPath: away, toPath: path)
        let again = try tool.run(command + anna)
        #expect(again.status == 0, "\(again)")
        #expect(litter() == [])
    }

    // MARK: - After the log of the old file was merged

    /// Leaves a row in the log of `a.db`, as a process that is killed does.
    private func leaveLog() throws {
        var configuration = Configuration()
        configuration.key = .keyring(unlockedBy: .rawKey([UInt8](repeating: 1, count: 32)))
        let queue = try DatabaseQueue(path: tool.directory.path("a.db"), configuration: configuration)
        try queue.writeWithoutTransaction { db in
            try db.execute(
                sql: """
                    PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;
                    INSERT INTO t VALUES ('logged')
                    """)
            for ending in ["", "-wal"] {
                try tool.directory.write(tool.directory.bytes(of: "a.db\(ending)"), to: "left\(ending)")
            }
        }
        try queue.close()
        let files = FileManager.default
        for ending in ["", "-wal"] {
            try? files.removeItem(atPath: tool.directory.path("a.db\(ending)"))
            try files.moveItem(
                atPath: tool.directory.path("left\(ending)"), toPath: tool.directory.path("a.db\(ending)"))
        }
    }

    private func replaced() -> [String] { tool.directory.fileNames().filter { $0.contains(".replaced-") } }

    private static let nextCommands =
        destructions + [["restore", "safe.db", "a.db"], ["vacuum", "a.db"], ["key", "rotate", "a.db"]]

    /// Kills a restore after the old file was replaced by a copy that has the content of its log.
    ///
    /// - Returns: the name of the old file.
    private func killAfterMerging(at point: String) throws -> String {
        try leaveLog()
        try kill(["restore", "safe.db", "a.db"] + anna, at: point)
        let name = try #require(kept().first)
        #expect(replaced() == [name, "\(name)-wal", "\(name).keys"])
        return name
    }

    @Test(
        "each command that replaces or destroys the database removes the old file, its log, and its keyring",
        arguments: ["journal-left", "locked"], nextCommands)
    func merged(_ point: String, _ command: [String]) throws {
        let name = try killAfterMerging(at: point)
        let result = try tool.run(command + (Self.destructions.contains(command) ? [] : anna))
        #expect(result.status == 0, "\(result)")
        #expect(!replaced().contains { $0.hasPrefix(name) }, "\(replaced())")
        if command[0] == "restore" {
            #expect(try kept().count == 1 && content(kept()[0]).contains("logged"))
        } else if !Self.destructions.contains(command) {
            #expect(try content("a.db").contains("logged"))
        }
    }

    @Test("an old file that was used after the kill stays with its keyring", arguments: nextCommands)
    func mergedAndUsed(_ command: [String]) throws {
        let name = try killAfterMerging(at: "locked")
        let used = try tool.run(["query", name, "INSERT INTO t VALUES ('mine')", "--write"] + anna)
        #expect(used.status == 0, "\(used)")
        let result = try tool.run(command + (Self.destructions.contains(command) ? [] : anna))
        #expect(result.status == 0, "\(result)")
        #expect(try content(name).contains("mine"))
    }

    @Test("an old file whose log was written after the kill stays with its keyring", arguments: nextCommands)
    func mergedAndLogged(_ command: [String]) throws {
        let name = try killAfterMerging(at: "locked")
        let log = try tool.directory.bytes(of: "\(name)-wal")
        try tool.directory.write(log, to: "\(name)-wal")
        let result = try tool.run(command + (Self.destructions.contains(command) ? [] : anna))
        #expect(result.status == 0, "\(result)")
        #expect(try tool.directory.bytes(of: "\(name)-wal") == log && tool.exists(name))
    }

    @Test(
        "a step that fails after the log was merged leaves the complete old database",
        arguments: ["journal-left", "locked"])
    func failuresAfterMerging(_ point: String) throws {
        try leaveLog()
        let result = try tool.run(
            ["restore", "safe.db", "a.db"] + anna, environment: ["COFFER_FAIL_POINT": "\(point):error"])
        #expect(result.status == 74, "\(result)")
        #expect(replaced() == [] && litter() == [])
        #expect(try content("a.db").contains("logged"))
    }

    @Test("the names of the kept file and of its keyring must be free")
    func takenName() throws {
        try tool.write("mine", to: "old.db.keys")
        let result = try tool.run(["restore", "safe.db", "a.db", "--keep-old", "old.db"] + anna)
        #expect(result.status == 73 && result.errors.contains("old.db.keys"), "\(result)")
        #expect(try tool.text(of: "old.db.keys") == "mine" && content("a.db").contains("later"))
    }

    // MARK: - The copy of the keyring for the kept file

    struct State: Sendable {
        let change: [String]
        /// False if the run was killed just before the old file got its second name.
        let hasName: Bool
    }

    private static let states = [
        ["key", "add", "a.db", "--new-key-file", "ben.key", "--new-key-type", "raw"],
        ["key", "rotate", "a.db"], ["vacuum", "a.db"],
    ].flatMap { change in [true, false].map { State(change: change, hasName: $0) } }

    private static let destructions = [
        ["erase", "a.db", "--yes-erase", "a.db"], ["key", "destroy", "a.db", "--yes-destroy", "a.db"],
    ]

    private func keyrings() -> [String] { tool.directory.fileNames().filter { $0.hasSuffix(".keys") } }

    /// Kills a restore before it replaces the old file.
    ///
    /// - Returns: the second name of the old file.
    private func killBeforeReplacing() throws -> String {
        try kill(["restore", "safe.db", "a.db"] + anna, at: "old-kept")
        let name = try #require(kept().first)
        #expect(keyrings() == ["a.db.keys", "\(name).keys", "safe.db.keys"])
        return name
    }

    /// Kills a restore before it replaces the old file, and changes the file or its keyring.
    private func reach(_ state: State) throws {
        try tool.writeKey("ben.key", 2)
        let name = try killBeforeReplacing()
        if !state.hasName { try FileManager.default.removeItem(atPath: tool.directory.path(name)) }
        let changed = try tool.run(state.change + anna)
        #expect(changed.status == 0, "\(changed)")
    }

    @Test(
        "a copy for the kept file is destroyed with the keyring, even if the file or the keyring has changed",
        arguments: destructions, states)
    func destroyingChanged(_ destruction: [String], _ state: State) throws {
        try reach(state)
        let result = try tool.run(destruction)
        #expect(result.status == 0, "\(result)")
        #expect(kept() == [] && keyrings() == ["safe.db.keys"])
    }

    private static let lostSlots = [
        ["key", "remove", "a.db", "--slot", "2"],
        ["key", "change", "a.db", "--slot", "2", "--new-key", "raw:file:carl.key"],
    ]

    @Test(
        "a secret that loses its slot does not open the copy for the kept file either",
        arguments: lostSlots, ["old-kept", "locked"])
    func losingSlot(_ command: [String], _ point: String) throws {
        try tool.writeKey("ben.key", 2)
        try tool.writeKey("carl.key", 3)
        let added = try tool.run(["key", "add", "a.db", "--new-key", "raw:file:ben.key"] + anna)
        try #require(added.status == 0, "\(added)")
        let name = point == "locked" ? try killAfterMerging(at: point) : try killBeforeReplacing()
        let ben = ["--unlock", "raw:file:ben.key"]
        let refused = try tool.run(["key", "remove", "a.db", "--slot", "9"] + anna)
        #expect(refused.status != 0 && tool.exists("\(name).keys"), "\(refused)")
        let changed = try tool.run(command + anna)
        #expect(changed.status == 0, "\(changed)")
        #expect(replaced() == [] && keyrings() == ["a.db.keys", "safe.db.keys"])
        #expect(try tool.run(["query", "a.db", "SELECT a FROM t"] + ben).status != 0)
        #expect(try content("a.db").contains(point == "locked" ? "logged" : "later"))
    }

    @Test(
        "the keyring of a kept file stays when a slot is removed or changed, because the restore is complete",
        arguments: lostSlots, ["renamed", "audited"])
    func losingSlotAfterReplacing(_ command: [String], _ point: String) throws {
        try tool.writeKey("ben.key", 2)
        try tool.writeKey("carl.key", 3)
        for file in ["safe.db", "a.db"] {
            let added = try tool.run(["key", "add", file, "--new-key", "raw:file:ben.key"] + anna)
            try #require(added.status == 0, "\(added)")
        }
        try kill(["restore", "safe.db", "a.db"] + anna, at: point)
        let name = try #require(kept().first)
        let changed = try tool.run(command + anna)
        #expect(changed.status == 0 && tool.exists("\(name).keys"), "\(changed)")
        #expect(try content(name).contains("later"))
    }

    @Test(
        "the next restore removes the copy for the kept file, even if the file or the keyring has changed",
        arguments: states)
    func restoringChanged(_ state: State) throws {
        try reach(state)
        let again = try tool.run(["restore", "safe.db", "a.db"] + anna)
        #expect(again.status == 0, "\(again)")
        #expect(litter() == [] && kept().count == 1)
        #expect(try kept().map(content).allSatisfy { $0.contains("later") })
    }

    @Test("erasing reaches a copy whose keyring is gone, or whose destruction was interrupted")
    func erasingRemains() throws {
        let name = try killBeforeReplacing()
        let copy = "\(name).keys"
        try FileManager.default.removeItem(atPath: tool.directory.path(name))
        try tool.directory.write([UInt8](repeating: 0, count: 900), to: copy)
        try FileManager.default.removeItem(atPath: tool.directory.path("a.db.keys"))
        let plan = try tool.run("erase", "a.db", "--dry-run")
        #expect(plan.status == 0 && plan.output.contains(copy), "\(plan)")
        let result = try tool.run(Self.destructions[0])
        #expect(result.status == 0, "\(result)")
        #expect(kept() == [] && keyrings() == ["safe.db.keys"])
    }

    @Test("another keyring with the name of the copy stays", arguments: destructions)
    func otherKeyring(_ destruction: [String]) throws {
        let name = try killBeforeReplacing()
        let other = try tool.directory.bytes(of: "safe.db.keys")
        try tool.directory.write(other, to: "\(name).keys")
        let result = try tool.run(destruction)
        #expect(result.status == 0, "\(result)")
        #expect(keyrings() == ["\(name).keys", "safe.db.keys"])
        #expect(try tool.directory.bytes(of: "\(name).keys") == other)
    }

    @Test(
        "the keyring of a kept file stays, even if that file was moved before",
        arguments: destructions, ["renamed", "audited"])
    func movedFile(_ destruction: [String], _ point: String) throws {
        try kill(["restore", "safe.db", "a.db"] + anna, at: point)
        let name = try #require(kept().first)
        func move(_ old: String, _ new: String) throws {
            try FileManager.default.moveItem(
                atPath: tool.directory.path(old), toPath: tool.directory.path(new))
        }
        try move(name, "moved.db")
        let result = try tool.run(destruction)
        #expect(result.status == 0, "\(result)")
        try move("\(name).keys", "moved.db.keys")
        #expect(try content("moved.db").contains("later"))
    }
}
