import CofferTestSupport
import Foundation
import SQLCipherBridge
import Synchronization
import Testing

@testable import Coffer

/// A suite that rotates the key of a database in use.
protocol RotateKeySuite {
    var directory: TestDirectory { get }
}

extension RotateKeySuite {
    func makeWriter(_ access: Access, _ configuration: Configuration = .rawKeyed) throws -> any DatabaseWriter
    {
        let writer = try directory.make(access, "a.db", configuration)
        try writer.write { db in
            try db.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY, a)")
            for _ in 0..<200 { try db.execute(sql: "INSERT INTO t (a) VALUES (randomblob(300))") }
        }
        return writer
    }

    func count(_ writer: any DatabaseReader) throws -> Int {
        try writer.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } ?? -1
    }

    func mode(_ writer: any DatabaseReader) throws -> String? {
        try writer.read { try String.fetchOne($0, sql: "PRAGMA journal_mode") }
    }
}

@Suite("Connections that could not continue after a failed rotation")
struct RotateKeyFailureTests: RotateKeySuite {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    /// Rotates the key, and moves the file away before a connection can open it again.
    private func rotateWithoutReopening(
        _ writer: any DatabaseWriter, _ method: DatabaseFile.RotationOptions.Method = .copy
    ) -> DatabaseFileError? {
        let path = writer.path
        var options = DatabaseFile.RotationOptions()
        options.method = method
        return #expect(throws: DatabaseFileError.self) {
            try FailPoint.$passing.withValue({ point in
                guard point == (method == .copy ? .directorySynchronized : .rekeyed) else { return }
                try? FileManager.default.moveItem(atPath: path, toPath: path + ".away")
            }) {
                _ = try writer.rotateKey(to: Keys.new, options: options)
            }
        }
    }

    private func bringBack(_ path: String) throws {
        try FileManager.default.moveItem(atPath: path + ".away", toPath: path)
    }

    private func overwrite(_ path: String, with bytes: Data) throws {
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try file.write(contentsOf: bytes)
        try file.close()
    }

    @Test(
        "if the new file cannot be opened, the error says that it has its new key, and later accesses open it",
        arguments: Access.allCases, [DatabaseFile.RotationOptions.Method.inPlace, .copy])
    func unopenable(access: Access, method: DatabaseFile.RotationOptions.Method) throws {
        let writer = try makeWriter(access)
        let error = rotateWithoutReopening(writer, method)
        #expect(error?.isPublished == true, "\(String(describing: error))")
        let refusal = #expect(throws: DatabaseError.self) {
            try writer.write { try $0.execute(sql: "DELETE FROM t") }
        }
        #expect(refusal?.resultCode == .SQLITE_CANTOPEN)
        try bringBack(writer.path)
        #expect(try count(writer) == 200)
        try writer.write { try $0.execute(sql: "INSERT INTO t (a) VALUES (1)") }
        #expect(try count(writer) == 201)
        #expect(try mode(writer) == (access == .pool ? "wal" : "delete"))
        var options = DatabaseFile.RotationOptions()
        options.method = method
        #expect(try !writer.rotateKey(to: Keys.new, options: options).isChanged)
        #expect(try DatabaseFile(path: writer.path).leftovers().isEmpty)
        try writer.close()
        #expect(try count(directory.makeQueue("a.db", .rawKeyed(0x17))) == 201)
    }

    @Test(
        "a connection that could not reopen its file does not open another file at its path",
        arguments: [DatabaseFile.RotationOptions.Method.inPlace, .copy])
    func replacedFile(method: DatabaseFile.RotationOptions.Method) throws {
        let writer = try makeWriter(.queue)
        let path = writer.path
        let other = try directory.makeQueue("other.db", .rawKeyed(0x17))
        try other.write { try $0.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY, a)") }
        try other.close()
        _ = rotateWithoutReopening(writer, method)
        try FileManager.default.moveItem(atPath: directory.path("other.db"), toPath: path)
        let insertion = "INSERT INTO t (a) VALUES (1)"
        let refusal = #expect(throws: DatabaseError.self) {
            try writer.write { try $0.execute(sql: insertion) }
        }
        #expect(refusal?.resultCode == .SQLITE_CANTOPEN)
        #expect(refusal?.message?.contains("renamed or replaced") == true, "the reason is missing")
        #expect(try count(directory.makeQueue("a.db", .rawKeyed(0x17))) == 0)
        try FileManager.default.removeItem(atPath: path)
        try bringBack(path)
        try writer.write { try $0.execute(sql: insertion) }
        #expect(try count(writer) == 201)
        try writer.close()
        #expect(try count(directory.makeQueue("a.db", .rawKeyed(0x17))) == 201)
    }

    @Test(
        "if the file cannot be read after its key was changed in place, the error says that its key is unknown",
        arguments: Access.allCases)
    func unknownKey(access: Access) throws {
        let writer = try makeWriter(access)
        let path = writer.path
        let start = Mutex(Data())
        var options = DatabaseFile.RotationOptions()
        options.method = .inPlace
        let error = #expect(throws: DatabaseFileError.self) {
            try FailPoint.$passing.withValue({ point in
                guard point == .rekeyed, let bytes = FileManager.default.contents(atPath: path) else {
                    return
                }
                start.withLock { $0 = bytes.prefix(4096) }
                try? overwrite(path, with: Data(repeating: 7, count: 4096))
            }) {
                _ = try writer.rotateKey(to: Keys.new, options: options)
            }
        }
        #expect(error?.isPublished == false)
        guard case .keyUnknown(let words) = error?.reason else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(words.contains("not a database"), "\(words)")
        #expect(throws: DatabaseError.self) { try writer.write { try $0.execute(sql: "DELETE FROM t") } }
        try overwrite(path, with: start.withLock { $0 })
        if access == .pool {
            // A reader can open the file before the writer does.
            #expect(try count(writer) == 200)
        }
        try writer.write { try $0.execute(sql: "INSERT INTO t (a) VALUES (1)") }
        #expect(try count(writer) == 201)
        #expect(try mode(writer) == (access == .pool ? "wal" : "delete"))
        try writer.rotateKey(to: Keys.old, options: options)
        try writer.close()
        #expect(try count(directory.makeQueue()) == 201)
    }

    @Test(
        "a file modified while it could not be opened is refused if its change counter is unchanged",
        arguments: [false, true])
    func changedMeanwhile(isOfProgram: Bool) throws {
        let writer = try makeWriter(.queue)
        let away = writer.path + ".away"
        _ = rotateWithoutReopening(writer, .inPlace)
        let start = try #require(FileManager.default.contents(atPath: away)).prefix(4096)
        let other = try directory.makeQueue("a.db.away", .rawKeyed(0x17))
        try other.write { try $0.execute(sql: "UPDATE t SET a = zeroblob(300) WHERE id = 100") }
        try other.close()
        // Page 1 has the change counter.
        if !isOfProgram { try overwrite(away, with: start) }
        try bringBack(writer.path)
        let zeros = "SELECT count(*) FROM t WHERE a = zeroblob(300)"
        guard !isOfProgram else {
            #expect(try writer.read { try Int.fetchOne($0, sql: zeros) } == 1)
            return
        }
        let refusal = #expect(throws: DatabaseError.self) {
            try writer.read { try Int.fetchOne($0, sql: zeros) }
        }
        #expect(refusal?.resultCode == .SQLITE_CANTOPEN)
        #expect(refusal?.message?.contains("not the content from before") == true, "\(refusal as Any)")
    }

    @Test(
        "a file that was damaged before a rotation in place can be used after it", arguments: Access.allCases)
    func damagedBefore(access: Access) throws {
        let writer = try makeWriter(access)
        try writer.writeWithoutTransaction { db in
            // Its page is not used by anything now.
            try db.execute(
                sql: """
                    CREATE TABLE u (a); PRAGMA writable_schema = ON; DELETE FROM sqlite_master WHERE name = 'u';
                    PRAGMA writable_schema = RESET
                    """)
        }
        var options = DatabaseFile.RotationOptions()
        options.method = .inPlace
        let error = #expect(throws: DatabaseFileError.self) {
            try writer.rotateKey(to: Keys.new, options: options)
        }
        #expect(error?.reason == .damaged(pages: []))
        #expect(error?.isPublished == true)
        try writer.write { try $0.execute(sql: "INSERT INTO t (a) VALUES (1)") }
        #expect(try count(writer) == 201)
        try writer.close()
        #expect(try count(directory.makeQueue("a.db", .rawKeyed(0x17))) == 201)
    }

    @Test("a reopened connection does not wait for another connection in order to restore WAL mode")
    func neighborInRollbackMode() throws {
        let waits = Mutex(0)
        let writer = try makeWriter(
            .pool,
            .rawKeyed.with {
                $0.busyMode = .callback { _ in
                    waits.withLock { $0 += 1 }
                    return false
                }
            })
        _ = rotateWithoutReopening(writer)
        try bringBack(writer.path)
        var configuration = Configuration.rawKeyed(0x17)
        configuration.allowsUnsafeTransactions = true
        let neighbor = try directory.makeQueue("a.db", configuration)
        try neighbor.writeWithoutTransaction { try $0.execute(sql: "BEGIN; SELECT * FROM t") }
        waits.withLock { $0 = 0 }
        for _ in 0..<2 {
            let count = try writer.writeWithoutTransaction {
                try Int.fetchOne($0, sql: "SELECT count(*) FROM t")
            }
            #expect(count == 200)
        }
        #expect(waits.withLock { $0 } == 0)
        try neighbor.close()
        let settings = try writer.writeWithoutTransaction { db in
            try ["journal_mode", "synchronous"].map { try String.fetchOne(db, sql: "PRAGMA \($0)") }
        }
        #expect(settings == ["wal", "1"])
        try writer.write { try $0.execute(sql: "INSERT INTO t (a) VALUES (1)") }
        #expect(try count(writer) == 201)
    }

    @Test("a connection that is open again is used only if it could be prepared", arguments: [false, true])
    func unprepared(isAtOnce: Bool) throws {
        let isRefused = Mutex(false)
        struct Refusal: Error {}
        var configuration = Configuration.rawKeyed
        let preparedObserver = PreparedObserver()
        configuration.prepareDatabase { db in
            db.add(transactionObserver: preparedObserver, extent: .databaseLifetime)
            if isRefused.withLock({ $0 }) { throw Refusal() }
        }
        let writer = try directory.makePool("a.db", configuration)
        try writer.write { try $0.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY, a)") }
        if isAtOnce {
            isRefused.withLock { $0 = true }
            let error = #expect(throws: DatabaseFileError.self) { try writer.rotateKey(to: Keys.new) }
            #expect(error?.isPublished == true)
            #expect(error?.reason == .applicationFailed("Refusal()"))
        } else {
            _ = rotateWithoutReopening(writer)
            try bringBack(writer.path)
            isRefused.withLock { $0 = true }
        }
        for _ in 0..<3 {
            let error = #expect(throws: DatabaseError.self) {
                try writer.writeWithoutTransaction { db in
                    try db.cachedStatement(sql: "INSERT INTO t (a) VALUES (1)").execute()
                }
            }
            #expect(error?.resultCode == .SQLITE_CANTOPEN)
            #expect(error?.message?.contains("Refusal") == true, "\(error as Any)")
        }
        // Additions wait for the connection.
        let observer = CommitCounter()
        writer.writeWithoutTransaction { db in
            db.add(function: DatabaseFunction("two", argumentCount: 0) { _ in 2 })
            db.add(transactionObserver: observer, extent: .databaseLifetime)
        }
        isRefused.withLock { $0 = false }
        let commits = preparedObserver.commits.withLock { $0 }
        try writer.write { try $0.execute(sql: "INSERT INTO t (a) VALUES (two())") }
        #expect(observer.commits == 1)
        // The preparation ran five times.
        #expect(preparedObserver.commits.withLock { $0 } == commits + 1)
        #expect(try count(writer) == 1)
        #expect(try mode(writer) == "wal")
        try writer.close()
        #expect(try count(directory.makeQueue("a.db", .rawKeyed(0x17))) == 1)
    }

    @Test(
        "a database that is closed while its file cannot be opened stays closed", arguments: Access.allCases)
    func closedMeanwhile(access: Access) throws {
        let writer = try makeWriter(access)
        _ = rotateWithoutReopening(writer)
        try writer.close()
        try bringBack(writer.path)
        let error = #expect(throws: DatabaseError.self) {
            try writer.write { try $0.execute(sql: "SELECT 1") }
        }
        #expect(error?.resultCode == .SQLITE_MISUSE)
    }

    @Test("a key change in place that a hot journal will roll back does not count as published")
    func hotJournal() throws {
        let writer = try makeWriter(.queue)
        let path = writer.path
        var options = DatabaseFile.RotationOptions()
        options.method = .inPlace
        let error = #expect(throws: DatabaseFileError.self) {
            try FailPoint.$passing.withValue({ point in
                guard point == .rekeyed else { return }
                try? Data(repeating: 1, count: 512).write(to: URL(fileURLWithPath: path + "-journal"))
                try? FileManager.default.moveItem(atPath: path, toPath: path + ".away")
            }) {
                _ = try writer.rotateKey(to: Keys.new, options: options)
            }
        }
        #expect(error?.isPublished == false, "\(String(describing: error))")
    }

    @Test(
        "if SQLite keeps the exclusive lock after a failure, the connection is replaced, at once or later",
        arguments: [false, true])
    func keptLock(isUnopenable: Bool) throws {
        let writer = try makeWriter(.pool)
        let path = writer.path
        struct Stop: Error {}
        try writer.barrierWriteWithoutTransaction { db in
            let change = try db.planLiveKeyChange(to: Keys.new)
            #expect(throws: Stop.self) {
                try db.completeLiveRotation(change) { handle, _ in
                    _ = try handle.firstText(trusted: "PRAGMA main.locking_mode = EXCLUSIVE")
                    _ = try handle.firstText(trusted: "PRAGMA main.journal_mode = TRUNCATE")
                    if isUnopenable { try FileManager.default.moveItem(atPath: path, toPath: path + ".away") }
                    throw Stop()
                }
            }
        }
        if isUnopenable {
            #expect(throws: DatabaseError.self) { try writer.write { try $0.execute(sql: "DELETE FROM t") } }
            try FileManager.default.moveItem(atPath: path + ".away", toPath: path)
        }
        try writer.write { try $0.execute(sql: "INSERT INTO t (a) VALUES (1)") }
        #expect(try count(writer) == 201)
        #expect(try mode(writer) == "wal")
        #expect(try count(directory.makeQueue()) == 201)
        var options = DatabaseFile.RotationOptions()
        options.whileInUse = .init()
        try writer.rotateKey(to: Keys.new, options: options)
        #expect(try count(writer) == 201)
    }

    @Test(
        "if another connection prevents restoring WAL mode, a later access sets the application's mode",
        arguments: [nil, "truncate"])
    func restoredLater(modeOfApplication: String?) throws {
        let writer = try makeWriter(.pool)
        let directory = directory
        let neighbor = Mutex<DatabaseQueue?>(nil)
        #expect(throws: DatabaseFileError.self) {
            try FailPoint.$failing.withValue(.verified) {
                try FailPoint.$passing.withValue({ point in
                    guard point == .copied else { return }
                    var configuration = Configuration.rawKeyed
                    configuration.allowsUnsafeTransactions = true
                    let queue = try? directory.makeQueue("a.db", configuration)
                    try? queue?.writeWithoutTransaction { try $0.execute(sql: "BEGIN; SELECT * FROM t") }
                    neighbor.withLock { $0 = queue }
                }) {
                    _ = try writer.rotateKey(to: Keys.new)
                }
            }
        }
        #expect(try mode(writer) == "delete")
        try writer.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA busy_timeout = 1234")
            if let modeOfApplication { try db.execute(sql: "PRAGMA journal_mode = \(modeOfApplication)") }
        }
        try neighbor.withLock { try $0?.close() }
        try writer.write { try $0.execute(sql: "INSERT INTO t (a) VALUES (1)") }
        try writer.writeWithoutTransaction { db in
            // Another connection does not know that the journal is truncated.
            let mode = try String.fetchOne(db, sql: "PRAGMA journal_mode")
            #expect(mode == modeOfApplication ?? "wal")
            #expect(try Int.fetchOne(db, sql: "PRAGMA busy_timeout") == 1234)
        }
        #expect(try count(writer) == 201)
    }
}

private final class PreparedObserver: TransactionObserver, Sendable {
    let commits = Mutex(0)

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }
    func databaseDidChange(with event: DatabaseEvent) {}
    func databaseDidCommit(_ db: Database) { commits.withLock { $0 += 1 } }
    func databaseDidRollback(_ db: Database) {}
}
