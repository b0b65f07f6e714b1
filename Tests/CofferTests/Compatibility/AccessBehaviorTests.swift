import Coffer
import CofferTestSupport
import Dispatch
import Foundation
import Synchronization
import Testing

/// The behavior of accesses, transactions and tasks that programs expect from GRDB 7: see the Compatibility
/// article.
@Suite("Access behavior that GRDB programs rely on", .timeLimit(.minutes(Patience.minutes)))
struct AccessBehaviorTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    private func make(_ access: Access, _ configuration: Configuration = .rawKeyed) throws
        -> any DatabaseWriter
    {
        let writer = try directory.make(access, "vault.db", configuration)
        try writer.write { try $0.execute(sql: "CREATE TABLE item (a)") }
        return writer
    }

    // MARK: Canceled tasks

    @Test("a cancelled task rolls back the transaction that it has begun itself", arguments: Access.allCases)
    func explicitRollback(access: Access) async throws {
        await #expect(processExitsWith: .success) { [access] in
            let directory = try TestDirectory()
            let writer = try directory.make(access)
            try await writer.write { try $0.execute(sql: "CREATE TABLE item (a)") }
            for bySQL in [false, true] {
                let task = Task {
                    try await writer.writeWithoutTransaction { db in
                        try db.beginTransaction()
                        try db.execute(sql: "INSERT INTO item VALUES (1), (2)")
                        let open = try Row.fetchCursor(db, sql: "SELECT * FROM item")
                        _ = try open.next()
                        defer { withExtendedLifetime(open) {} }
                        do {
                            cancelCurrentTask()
                            try db.commit()
                        } catch {
                            if bySQL { try db.execute(sql: "ROLLBACK") } else { try db.rollback() }
                            throw error
                        }
                    }
                }
                await #expect(throws: CancellationError.self) { try await task.value }
            }
            #expect(try await writer.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM item") } == 0)
            withExtendedLifetime(directory) {}
        }
    }

    @Test(
        "a transaction that a cancelled task leaves open is rolled back at the end of the access",
        arguments: Access.allCases)
    func leftTransaction(access: Access) async throws {
        await #expect(processExitsWith: .success) { [access] in
            let directory = try TestDirectory()
            let writer = try directory.make(access)
            try await writer.write { try $0.execute(sql: "CREATE TABLE item (a)") }
            let task = Task {
                try await writer.writeWithoutTransaction { db in
                    try db.execute(sql: "SAVEPOINT s; INSERT INTO item VALUES (1)")
                    cancelCurrentTask()
                    try db.execute(sql: "RELEASE s")
                }
            }
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(try await writer.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM item") } == 0)
            withExtendedLifetime(directory) {}
        }
    }

    @Test(
        "a read whose task is cancelled after a fetch runs no further statement, but returns its value",
        arguments: Access.allCases)
    func finishedRead(access: Access) async throws {
        let writer = try make(access)
        let task = Task {
            try await writer.read { db in
                let count = try Int.fetchOne(db, sql: "SELECT count(*) FROM item")
                cancelCurrentTask()
                #expect(throws: CancellationError.self) { try Int.fetchOne(db, sql: "SELECT 1") }
                return count
            }
        }
        #expect(try await task.value == 0)
        let write = Task {
            try await writer.write { db in
                try db.execute(sql: "INSERT INTO item VALUES (1)")
                cancelCurrentTask()
            }
        }
        await #expect(throws: CancellationError.self) { try await write.value }
        #expect(try await writer.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM item") } == 0)
    }

    @Test(
        "a cancelled task may roll back its changes by SQL, and end a transaction that has only read",
        arguments: Access.allCases)
    func endsBySQL(access: Access) async throws {
        let writer = try make(access)
        let write = Task {
            try await writer.writeWithoutTransaction { db in
                try db.execute(sql: "BEGIN; SAVEPOINT s; INSERT INTO item VALUES (1)")
                cancelCurrentTask()
                #expect(throws: Never.self) { try db.execute(sql: "ROLLBACK TO SAVEPOINT s") }
                #expect(throws: CancellationError.self) { try db.execute(sql: "RELEASE SAVEPOINT s") }
                #expect(throws: Never.self) { try db.execute(sql: "ROLLBACK") }
                #expect(!db.isInsideTransaction)
            }
        }
        try await write.value
        let read = Task {
            try await writer.read { db in
                try db.execute(sql: "SAVEPOINT s")
                cancelCurrentTask()
                #expect(throws: Never.self) { try db.execute(sql: "RELEASE SAVEPOINT s") }
                return 1
            }
        }
        #expect(try await read.value == 1)
    }

    // MARK: Pools

    @Test(
        "opening a pool creates its WAL, even if the file was in another journal mode",
        arguments: [true, false])
    func logFiles(isNew: Bool) throws {
        if !isNew { try make(.queue).close() }
        let pool = try directory.makePool("vault.db")
        #expect(directory.fileNames() == ["vault.db", "vault.db-shm", "vault.db-wal"])
        try pool.close()
    }

    @Test("a read of a pool sees the state at its beginning, although its first statement comes later")
    func settledReads() async throws {
        let pool = try directory.makePool()
        try await pool.write { try $0.execute(sql: "CREATE TABLE item (a)") }
        @Sendable func write() {
            let done = DispatchSemaphore(value: 0)
            DispatchQueue.global().async {
                #expect(throws: Never.self) {
                    try pool.write { try $0.execute(sql: "INSERT INTO item VALUES (1)") }
                }
                done.signal()
            }
            done.wait()
        }
        @Sendable func count(_ db: Database) throws -> Int? {
            try Int.fetchOne(db, sql: "SELECT count(*) FROM item")
        }
        func readNow() throws -> Int? {
            try pool.read { db in
                write()
                return try count(db)
            }
        }
        #expect(try readNow() == 0)
        let second = try await pool.read { db in
            write()
            return try count(db)
        }
        #expect(second == 1)
        let third = try await withCheckedThrowingContinuation {
            (continuation: CheckedContinuation<Int?, any Error>) in
            pool.asyncRead { db in
                write()
                continuation.resume(with: Result { try count(db.get()) })
            }
        }
        #expect(third == 2)
        // The read has executed nothing, so its state can still be passed to a snapshot pool.
        let snapshot = try await pool.read { db in try DatabaseSnapshotPool(db) }
        write()
        #expect(try await snapshot.read(count) == 3)
    }

    @Test(
        "an unsafe reentrant read inside a write uses the connection of the write", arguments: Access.allCases
    )
    func reentrantReads(access: Access) throws {
        let writer = try make(access)
        try writer.write { db in
            try db.execute(sql: "INSERT INTO item VALUES (1)")
            try writer.unsafeReentrantRead { (inner) throws in
                #expect(inner === db)
                #expect(try Int.fetchOne(inner, sql: "SELECT count(*) FROM item") == 1)
            }
        }
        try writer.barrierWriteWithoutTransaction { db in
            try writer.unsafeReentrantRead { #expect($0 === db) }
        }
    }

    @Test(
        "readers of pools and snapshots wait ten seconds for locks, with any busy mode of the writer")
    func patience() throws {
        let timeout: (Database) throws -> Int? = { try Int.fetchOne($0, sql: "PRAGMA busy_timeout") }
        for mode: Database.BusyMode in [.immediateError, .timeout(1)] {
            let pool = try directory.makePool("vault.db", .rawKeyed.with { $0.busyMode = mode })
            #expect(try pool.read(timeout) == 10_000)
            #expect(try pool.makeSnapshot().read(timeout) == 10_000)
            #expect(try pool.makeSnapshotPool().read(timeout) == 10_000)
        }
        let impatient = Configuration.rawKeyed.with { $0.readonlyBusyMode = .timeout(0.5) }
        #expect(try directory.makePool("vault.db", impatient).read(timeout) == 500)
        #expect(try directory.makeQueue("vault.db").read(timeout) == 0)
    }

    // MARK: Snapshots

    @Test("a snapshot whose transaction is restarted in SQL sees the latest state")
    func refreshedSnapshot() throws {
        let pool = try directory.makePool()
        try pool.write { try $0.execute(sql: "CREATE TABLE item (a)") }
        let count: (Database) throws -> Int? = { try Int.fetchOne($0, sql: "SELECT count(*) FROM item") }
        let snapshot = try pool.makeSnapshot()
        try pool.write { try $0.execute(sql: "INSERT INTO item VALUES (1)") }
        #expect(try snapshot.read(count) == 0)
        try snapshot.read { try $0.execute(sql: "ROLLBACK; BEGIN TRANSACTION") }
        #expect(try snapshot.read(count) == 1)
        try pool.write { try $0.execute(sql: "INSERT INTO item VALUES (1)") }
        #expect(try snapshot.read(count) == 1)
        // Without a transaction, or in a transaction of another kind of access, no statement runs.
        try snapshot.read { try $0.execute(sql: "ROLLBACK") }
        #expect(throws: DatabaseError.self) { try snapshot.read(count) }
        #expect(throws: DatabaseError.self) {
            try pool.write { try $0.execute(sql: "ROLLBACK; BEGIN TRANSACTION") }
        }
    }

    // MARK: Configurations

    @Test("a queue and a snapshot report that one read runs at a time")
    func readerCounts() throws {
        let configuration = Configuration.rawKeyed.with { $0.maximumReaderCount = 3 }
        let pool = try directory.makePool("vault.db", configuration)
        #expect(pool.configuration.maximumReaderCount == 3)
        #expect(try pool.makeSnapshot().configuration.maximumReaderCount == 1)
        #expect(try pool.makeSnapshotPool().configuration.maximumReaderCount == 3)
        #expect(try directory.makeQueue("vault.db", configuration).configuration.maximumReaderCount == 1)
    }

    @Test("the quality of service comes from the target queue by default")
    func qualityOfService() {
        var configuration = Configuration()
        #expect(configuration.readQoS == .userInitiated && configuration.writeQoS == .userInitiated)
        configuration.targetQueue = DispatchQueue(label: "reads", qos: .background)
        #expect(configuration.readQoS == .background && configuration.writeQoS == .background)
        configuration.writeTargetQueue = DispatchQueue(label: "writes", qos: .utility)
        #expect(configuration.readQoS == .background && configuration.writeQoS == .utility)
        configuration.writeQoS = .default
        #expect(configuration.writeQoS == .default)
    }

    @Test(
        "accesses of read-only databases run on the target queue, not on the writer's",
        arguments: Access.allCases)
    func targetQueueOfReadOnly(access: Access) throws {
        let key = DispatchSpecificKey<String>()
        let (target, writes) = (DispatchQueue(label: "target"), DispatchQueue(label: "writes"))
        target.setSpecific(key: key, value: "target")
        writes.setSpecific(key: key, value: "writes")
        var configuration = Configuration.rawKeyed
        configuration.targetQueue = target
        configuration.writeTargetQueue = writes
        let queue: @Sendable (Database) -> String? = { _ in DispatchQueue.getSpecific(key: key) }
        let writer = try make(access, configuration)
        #expect(writer.writeWithoutTransaction { queue($0) } == "writes")
        configuration.readonly = true
        let reader = try directory.make(access, "vault.db", configuration)
        #expect(reader.writeWithoutTransaction { queue($0) } == "target")
        #expect(try reader.read { queue($0) } == "target")
    }

    @Test("a page cache size set by the preparation is not overridden", arguments: Access.allCases)
    func cacheSizes(access: Access) throws {
        let preparation: @Sendable (Database) throws -> Void = {
            try $0.execute(sql: "PRAGMA cache_size = -500")
        }
        let size: (Database) throws -> Int? = { try Int.fetchOne($0, sql: "PRAGMA cache_size") }
        let keyed = Configuration.rawKeyed.with { $0.prepareDatabase(preparation) }
        let plain = Configuration().with {
            $0.allowsPlaintext = true
            $0.prepareDatabase(preparation)
        }
        let prepared = Configuration().with {
            $0.prepareDatabase { try $0.usePassphrase("x'" + String(repeating: "ab", count: 32) + "'") }
            $0.prepareDatabase(preparation)
        }
        for (name, configuration) in [("keyed", keyed), ("plain", plain), ("prepared", prepared)] {
            let writer = try directory.make(access, name, configuration)
            #expect(try writer.writeWithoutTransaction(size) == -500, "\(name)")
            #expect(try writer.read(size) == -500, "\(name)")
            let temporaryStore = try writer.writeWithoutTransaction {
                try Int.fetchOne($0, sql: "PRAGMA temp_store")
            }
            #expect(temporaryStore == (name == "plain" ? 0 : 2))
        }
        // If the preparation does not set the size, the configuration determines it.
        let silent = Configuration().with {
            $0.prepareDatabase { try $0.usePassphrase("x'" + String(repeating: "ab", count: 32) + "'") }
        }
        #expect(try directory.make(access, "prepared", silent).read(size) == -16384)
    }

    // MARK: Statements and errors

    @Test(
        "a second statement where one is expected is misuse, also if it does not compile",
        arguments: ["SELECT 2", "x", "SELECT * FROM later"])
    func secondStatement(second: String) throws {
        try DatabaseQueue().write { (db) throws in
            let error = #expect(throws: DatabaseError.self) {
                try db.makeStatement(sql: " CREATE TABLE later (a); \(second);\n")
            }
            #expect(error?.sql == "CREATE TABLE later (a); \(second)")
            #expect(error?.resultCode == .SQLITE_MISUSE)
            #expect(
                error?.message?.contains("Database.execute(sql:) or Database.allStatements(sql:)") == true)
            _ = try db.makeStatement(sql: "SELECT 1; -- and nothing else\n ;")
        }
    }

    @Test("statements that keep a database from being closed are logged")
    func closingLog() async {
        await #expect(processExitsWith: .exitCode(7)) {
            let lines = Mutex<[String]>([])
            Database.logError = { code, message in
                if message.hasPrefix("unfinalized") {
                    lines.withLock { $0.append("\(code.rawValue) \(message)") }
                }
            }
            let queue = try DatabaseQueue()
            let statement = try queue.inDatabase { try $0.makeStatement(sql: "SELECT 1") }
            #expect(throws: DatabaseError.self) { try queue.close() }
            withExtendedLifetime(statement) {}
            let directory = try TestDirectory()
            let pool = try directory.makePool()
            let statementOfReader = try pool.unsafeReentrantRead { try $0.makeStatement(sql: "SELECT 2") }
            #expect(throws: DatabaseError.self) { try pool.close() }
            #expect(try pool.unsafeReentrantRead { try Int.fetchOne($0, sql: "SELECT 3") } == 3)
            withExtendedLifetime(statementOfReader) {}
            let expected = ["5 unfinalized statement: SELECT 1", "5 unfinalized statement: SELECT 2"]
            exit(lines.withLock { $0 } == expected ? 7 : 1)
        }
    }

    @Test(
        "a pool rejects an in-memory path, and a vacuum rejects an existing destination"
    )
    func codes() throws {
        let pool = #expect(throws: DatabaseError.self) { try DatabasePool(path: ":memory:") }
        #expect(pool?.resultCode == .SQLITE_ERROR)
        let queue = try directory.makeQueue("vault.db")
        let copy = #expect(throws: DatabaseError.self) { try queue.vacuum(into: queue.path) }
        #expect(copy?.resultCode == .SQLITE_ERROR)
        #expect(copy?.message?.hasPrefix("output file already exists") == true)
    }

    // MARK: Keys

    @Test(
        "changing the passphrase first in a queue's transaction works, and notifies no observer"
    )
    func passphraseInTransaction() throws {
        final class Ends: TransactionObserver {
            var log: [String] = []
            func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }
            func databaseDidChange(with event: DatabaseEvent) {}
            func databaseDidCommit(_ db: Database) { log.append("commit") }
            func databaseDidRollback(_ db: Database) { log.append("rollback") }
        }
        func configuration(_ passphrase: String) -> Configuration {
            Configuration().with { $0.key = .passphrase(passphrase) }
        }
        let ends = Ends()
        let queue = try DatabaseQueue(path: directory.path("vault.db"), configuration: configuration("old"))
        try queue.write { try $0.execute(sql: "CREATE TABLE item (a)") }
        queue.add(transactionObserver: ends)
        try queue.write { db in
            try db.changePassphrase("new")
            #expect(ends.log == [])
            #expect(db.isInsideTransaction)
            try db.execute(sql: "INSERT INTO item VALUES (1)")
        }
        #expect(ends.log == ["commit"])
        // Data that the transaction has already read or written would not belong to the file that it
        // continues with.
        for sql in ["SELECT 1", "INSERT INTO item VALUES (2)"] {
            let error = #expect(throws: DatabaseError.self) {
                try queue.write { db in
                    try db.execute(sql: sql)
                    try db.changePassphrase("newer")
                }
            }
            #expect(error?.resultCode == .SQLITE_MISUSE)
        }
        // If the change fails, the transaction stays open for the program.
        try queue.write { db in
            #expect(throws: DatabaseError.self) { try db.changePassphrase("") }
            try db.execute(sql: "INSERT INTO item VALUES (3)")
        }
        try queue.close()
        #expect(throws: DatabaseError.self) {
            try DatabaseQueue(path: queue.path, configuration: configuration("old"))
        }
        let reopened = try DatabaseQueue(path: queue.path, configuration: configuration("new"))
        #expect(try reopened.read { try Int.fetchAll($0, sql: "SELECT a FROM item ORDER BY a") } == [1, 3])
    }
}

private func cancelCurrentTask() {
    unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
}
