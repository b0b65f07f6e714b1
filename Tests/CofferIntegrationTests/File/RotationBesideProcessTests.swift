import Coffer
import CofferTestSupport
import Foundation
import Testing

@Suite("Rotating a file that another process has open")
struct RotationBesideProcessTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    private static let new = DatabaseKey.rawKey([UInt8](repeating: 0x17, count: 32))
    private static let old = DatabaseKey.rawKey([UInt8](repeating: 0x42, count: 32))

    @Test(
        "is refused as busy, names the process, and changes nothing; afterwards it succeeds",
        arguments: ["writing", "reading", "idle"],
        [false, true])
    func busy(state: String, wal: Bool) throws {
        let path = directory.path("a.db")
        do {
            let queue = try directory.makeQueue(
                "a.db", .rawKeyed.with { $0.journalMode = wal ? .wal : .default })
            try queue.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
            try queue.close()
        }
        let holder = try Holder(path: path, state: state)
        let before = try directory.bytes(of: "a.db")
        for method in [DatabaseFile.RotationOptions.Method.copy, .inPlace] {
            var options = DatabaseFile.RotationOptions()
            options.method = method
            let error = #expect(throws: DatabaseFileError.self) {
                try DatabaseFile(path: path).rotate(
                    from: RotationBesideProcessTests.old, to: RotationBesideProcessTests.new, options: options
                )
            }
            guard case .busy(let users)? = error?.reason else {
                Issue.record("\(error as Any)")
                continue
            }
            #expect(users.contains { $0.processID == holder.processID })
        }
        #expect(reasonOfPlan(path) != nil)
        #expect(try directory.bytes(of: "a.db") == before)
        #expect(directory.fileNames().allSatisfy { !$0.contains("rotate") })

        // The same rotation through a connection of this process.
        if state != "writing" || wal {
            let queue = try directory.makeQueue("a.db")
            #expect(throws: DatabaseFileError.self) {
                try queue.rotateKey(to: RotationBesideProcessTests.new)
            }
            #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } == 1)
            try queue.close()
        }
        holder.end()
        #expect(holder.succeeded)
        let result = try DatabaseFile(path: path).rotate(
            from: RotationBesideProcessTests.old, to: RotationBesideProcessTests.new)
        #expect(result.isChanged)
        let queue = try directory.makeQueue("a.db", .rawKeyed(0x17))
        #expect(
            try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") }
                == (state == "writing" ? 2 : 1))
    }

    @Test(
        "a process that opens the file during the copy is detected before the file is replaced",
        arguments: [true, false])
    func openedMeanwhile(isWriter: Bool) throws {
        let path = directory.path("players.db")
        let queue = try directory.makeQueue("players.db")
        try queue.write { try $0.execute(sql: "CREATE TABLE player (id INTEGER PRIMARY KEY)") }
        try queue.close()
        let before = try directory.bytes(of: "players.db")
        var other: OtherProcess?
        let error = #expect(throws: DatabaseFileError.self) {
            try DatabaseFile(path: path).rotate(
                from: RotationBesideProcessTests.old, to: RotationBesideProcessTests.new
            ) { progress in
                guard progress.phase == .verifying, other == nil else { return }
                other = try OtherProcess(path: path, .queue)
                let count = try isWriter ? "0" : other?.tell("count")
                #expect(count == "0")
            }
        }
        guard case .busy(let users)? = error?.reason else {
            Issue.record("\(error as Any)")
            return
        }
        #expect(users.count == 1 && error?.isPublished == false)
        #expect(try directory.bytes(of: "players.db") == before)
        let answer = try other?.tell("insert")
        #expect(answer == "done")
        #expect(directory.fileNames() == ["players.db"])
    }

    @Test(
        "an in-place rotation locks out other processes from the digest until the key change",
        arguments: [true, false])
    func keptOutInPlace(wal: Bool) throws {
        let path = directory.path("players.db")
        let queue = try directory.makeQueue(
            "players.db", .rawKeyed.with { $0.journalMode = wal ? .wal : .default })
        try queue.write { try $0.execute(sql: "CREATE TABLE player (id INTEGER PRIMARY KEY)") }
        try queue.close()
        var options = DatabaseFile.RotationOptions()
        options.method = .inPlace
        let shell = SQLCipherShell(path: path)
        var refusals = 0
        let result = try DatabaseFile(path: path).rotate(
            from: RotationBesideProcessTests.old, to: RotationBesideProcessTests.new, options: options
        ) { progress in
            guard progress.phase == .publishing, refusals == 0 else { return }
            for sql in [
                "INSERT INTO player VALUES (1);", "PRAGMA journal_mode = WAL;", "SELECT * FROM player;",
            ] {
                let failure = #expect(throws: SQLCipherShell.Failure.self) { try shell.run(sql) }
                #expect(failure.map { "\($0)".contains("locked") } == true, "\(failure as Any)")
                refusals += 1
            }
        }
        #expect(refusals == 3 && result.isChanged)
        #expect(directory.fileNames() == ["players.db"])
        let rotated = try directory.makeQueue("players.db", .rawKeyed(0x17))
        #expect(try rotated.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM player") } == 0)
        try rotated.write { try $0.execute(sql: "INSERT INTO player VALUES (1)") }
        try rotated.close()
    }

    private func reasonOfPlan(_ path: String) -> DatabaseFileError.Reason? {
        do {
            _ = try DatabaseFile(path: path).rotationPlan(
                from: RotationBesideProcessTests.old, to: RotationBesideProcessTests.new)
            return nil
        } catch {
            return (error as? DatabaseFileError)?.reason
        }
    }
}

/// A process that has a file open.
private final class Holder {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private let hasEnded = DispatchSemaphore(value: 0)

    init(path: String, state: String) throws {
        process.executableURL = URL(fileURLWithPath: ChildProcess.built("CofferTestWorker"))
        process.arguments = ["hold", path, state]
        process.standardInput = input
        process.standardOutput = output
        process.terminationHandler = { [hasEnded] _ in hasEnded.signal() }
        try process.run()
        let ready = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        try #require(ready == "ready\n")
    }

    var processID: Int32 { process.processIdentifier }

    func end() {
        try? input.fileHandleForWriting.close()
        hasEnded.wait()
    }

    var succeeded: Bool { process.terminationStatus == 0 }
}
