import Coffer
import CofferTestSupport
import Foundation
import Testing

/// `COFFER_NIGHTLY=1` kills more than 300 times, else about 40 times.
@Suite("A rotation that is killed", .serialized)
struct RotationCrashTests {
    let directory: TestDirectory
    private let old: UInt8 = 0x42
    private let new: UInt8 = 0x17

    init() throws { directory = try TestDirectory() }

    /// The named steps; see `FailPoint`.
    private static let steps = [
        "note-made", "journal-left", "locked", "copy-created", "copying", "copied", "verified", "copy-synchronized", "renamed",
        "directory-synchronized", "reopened", "audited", "note-removed",
    ]

    @Test(
        "at a named step leaves a file that exactly one of the keys opens, and the next run completes it",
        arguments: RotationCrashTests.steps,
        ["delete", "wal"])
    func namedSteps(step: String, mode: String) throws {
        let path = try makeBank(mode)
        let killed = try run("rotate", path, "\(old)", "\(new)", environment: ["COFFER_FAIL_POINT": step])
        #expect(killed.status == -SIGKILL, "\(killed.outputText) \(killed.errorText)")
        let isPublished = ["renamed", "directory-synchronized", "reopened", "audited", "note-removed"].contains(step)
        try checkOneKey(path, expected: isPublished ? new : old)
        let second = try run("rotate", path, "\(old)", "\(new)")
        #expect(second.outputText == (isPublished ? "unchanged\n" : "changed\n"), "\(second.errorText)")
        try checkComplete(path, mode: mode)
    }

    @Test("at any moment leaves a file that exactly one of the keys opens", arguments: ["delete", "wal"])
    func anyMoment(mode: String) throws {
        var random = SeededRandom("rotation \(mode)")
        var published = 0
        let kills = Nightly.pick(100, byDay: 6)
        for round in 1...kills {
            let path = try makeBank(mode)
            let worker = try Worker("rotate", path, "\(old)", "\(new)")
            usleep(UInt32.random(in: 0...60_000, using: &random))
            worker.kill()
            _ = worker.output()
            let key = try checkOneKey(path)
            if key == new { published += 1 }
            let second = try run("rotate", path, "\(old)", "\(new)")
            #expect(second.status == 0, "round \(round): \(second.outputText) \(second.errorText)")
            try checkComplete(path, mode: mode)
            try FileManager.default.removeItem(atPath: path)
        }
        print("kill -9 of a rotation, \(mode): \(kills) kills, \(published) with the copy in place")
    }

    @Test("beside a writer that acknowledges what it commits loses nothing of it", arguments: Access.allCases)
    func besideWriter(access: Access) throws {
        let path = try makeBank("delete")
        var random = SeededRandom("live rotation \(access)")
        let kills = Nightly.pick(50, byDay: 4)
        var keys: [UInt8: Int] = [:]
        var last = 30
        for round in 1...kills {
            let worker = try Worker("live", path, access.rawValue, "\(old)", "\(new)")
            usleep(UInt32.random(in: 100_000...400_000, using: &random))
            worker.kill()
            let acknowledged = worker.output().split(separator: "\n").compactMap { Int($0) }.last ?? last
            #expect(worker.errorText == "", "round \(round)")
            let key = try checkOneKey(path)
            keys[key, default: 0] += 1
            var configuration = Configuration.rawKeyed(key)
            configuration.busyMode = .timeout(5)
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            let committed = try queue.read { db in
                try Bank.audit(db)
                return try Bank.lastNumber(db, teller: 1)
            }
            try queue.close()
            try #require(committed >= acknowledged && committed <= acknowledged + 1, "round \(round)")
            last = committed
        }
        print("kill -9 of rotations beside a writer, \(access): \(kills) kills, \(last) transactions, keys \(keys)")
        // What was left goes with the next rotation, whichever key the file has.
        let key = try checkOneKey(path)
        #expect(try run("rotate", path, "\(key)", "99").status == 0)
        #expect(try DatabaseFile(path: path).inspect().leftovers.isEmpty)
    }

    @Test("in place leaves a file that exactly one of the keys opens", arguments: ["delete", "wal"])
    func inPlace(mode: String) throws {
        var random = SeededRandom("rotation in place \(mode)")
        for round in 1...Nightly.pick(30, byDay: 3) {
            let path = try makeBank(mode)
            let worker = try Worker("rotate", path, "\(old)", "\(new)", "inPlace")
            usleep(UInt32.random(in: 0...60_000, using: &random))
            worker.kill()
            _ = worker.output()
            // A journal of the change is played back by whoever opens the file: both keys may have to be tried.
            let second = try run("rotate", path, "\(old)", "\(new)", "inPlace")
            #expect(second.status == 0, "round \(round): \(second.outputText) \(second.errorText)")
            try checkOneKey(path, expected: new)
            try FileManager.default.removeItem(atPath: path)
        }
    }

    // MARK: -

    private func makeBank(_ mode: String) throws -> String {
        let path = directory.path("bank-\(UUID().uuidString.prefix(8)).db")
        try #require(run("make", path, "\(old)", "30", mode).status == 0)
        return path
    }

    /// Looks without changing anything, and returns the key that opens the file.
    @discardableResult
    private func checkOneKey(_ path: String, expected: UInt8? = nil) throws -> UInt8 {
        let file = DatabaseFile(path: path)
        let opening = [old, new].filter { byte in (try? file.verify(key: .rawKey([UInt8](repeating: byte, count: 32))).isIntact) == true }
        try #require(opening.count == 1, "keys that open the file: \(opening)")
        if let expected { #expect(opening == [expected]) }
        return opening[0]
    }

    private func checkComplete(_ path: String, mode: String) throws {
        try checkOneKey(path, expected: new)
        let name = (path as NSString).lastPathComponent
        #expect(directory.fileNames().filter { $0.hasPrefix(name) } == [name])
        let contents = try DatabaseFile(path: path).inspect(key: .rawKey([UInt8](repeating: new, count: 32)))
        #expect(contents.journalMode == mode)
        let queue = try DatabaseQueue(path: path, configuration: .rawKeyed(new))
        try queue.read { db in
            try Bank.audit(db)
            #expect(try Bank.lastNumber(db, teller: 1) == 30)
        }
        try queue.close()
    }

    private func run(_ arguments: String..., environment: [String: String] = [:]) throws -> ChildProcess {
        try ChildProcess.run(ChildProcess.built("CrashWorker"), arguments, environment: environment)
    }
}

/// A `CrashWorker` that is killed from outside.
private final class Worker {
    private let process = Process()
    private let pipe = Pipe()
    private let errors = Pipe()
    private let hasEnded = DispatchSemaphore(value: 0)

    init(_ arguments: String...) throws {
        process.executableURL = URL(fileURLWithPath: ChildProcess.built("CrashWorker"))
        process.arguments = arguments
        process.standardOutput = pipe
        process.standardError = errors
        process.terminationHandler = { [hasEnded] _ in hasEnded.signal() }
        try process.run()
    }

    func kill() { Foundation.kill(process.processIdentifier, SIGKILL) }

    func output() -> String {
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        hasEnded.wait()
        return String(decoding: data, as: UTF8.self)
    }

    var errorText: String { String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self) }
}
