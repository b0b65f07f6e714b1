import Coffer
import CofferTestSupport
import Dispatch
import Foundation
import Synchronization
import Testing

/// The documentation's examples of connections and accesses. `Scripts/check-docs` looks for their lines in
/// this folder.
@Suite("Examples of connections", .timeLimit(.minutes(5)))
struct ConnectionExampleTests {
    typealias Owner = Vault.Owner
    typealias Item = Vault.Item
    typealias Share = Vault.Share

    /// The output of the examples.
    private final class Printed: Sendable {
        private let lines = Mutex<[String]>([])
        private let signal = DispatchSemaphore(value: 0)

        func add(_ line: String) {
            lines.withLock { $0.append(line) }
            signal.signal()
        }

        /// Waits for `count` more lines and returns all lines.
        func all(after count: Int) -> [String] {
            for _ in 0..<count { signal.wait() }
            return lines.withLock { $0 }
        }
    }

    private let directory: TestDirectory
    private let queue: DatabaseQueue

    init() throws {
        directory = try TestDirectory()
        queue = try Vault.open()
    }

    private func shareCount() throws -> Int { try queue.read { db in try Share.fetchCount(db) } }

    @Test("transactions")
    func transactions() throws {
        try queue.write { db in
            _ = try Item.filter { $0.name == "candle" }.updateAll(db, [Column("amount").set(to: 0)])
        }
        try queue.writeWithoutTransaction { db in
            try db.beginTransaction(.exclusive)
            try Item.filter { $0.amount == 0 }.deleteAll(db)
            try db.commit()
        }
        #expect(try queue.read { db in try Item.fetchCount(db) } == 2)
        try queue.writeWithoutTransaction { db in
            try db.beginTransaction()
            try Share.deleteAll(db)
            try db.rollback()
        }
        #expect(try shareCount() == 1)
        try queue.write { db in
            try db.inSavepoint {
                try Share.deleteAll(db)
                return .rollback
            }
        }
        #expect(try shareCount() == 1)
        try queue.inTransaction { db in
            try Share.deleteAll(db)
            return .rollback
        }
        #expect(try shareCount() == 1)
        try queue.writeWithoutTransaction { db in
            try db.inTransaction {
                let removed = try Share.deleteAll(db)
                return removed > 10 ? .rollback : .commit
            }
        }
        #expect(try shareCount() == 0)
        try queue.write { db in
            let number = try db.readOnly { try Item.fetchCount(db) }
            #expect(number == 2)
        }
    }

    @Test("statements")
    func statements() throws {
        var printed: [Int] = []
        func print(_ number: Int) { printed.append(number) }
        try queue.write { db in
            let taking = try db.makeStatement(sql: "UPDATE item SET amount = amount - 1 WHERE id = ?")
            for id in [1, 2] {
                try taking.execute(arguments: [id])
            }
            #expect(try Item.find(db, key: 1).amount == 0)
            let statement = try db.cachedStatement(sql: "SELECT name FROM item WHERE worth > ?")
            let names = try String.fetchAll(statement, arguments: [100])
            #expect(names == ["ring", "safe"])
            let statements = try db.allStatements(
                sql: "SELECT count(*) FROM item; SELECT count(*) FROM share")
            while let statement = try statements.next() {
                print(try Int.fetchOne(statement) ?? 0)
            }
            #expect(printed == [3, 1])
            db.add(
                function: DatabaseFunction("kilograms", argumentCount: 1, pure: true) { arguments in
                    Double.fromDatabaseValue(arguments[0]).map { $0 / 1000 }
                })
            #expect(try Double.fetchOne(db, sql: "SELECT kilograms(weight) FROM item WHERE id = 2") == 90)
        }
    }

    @Test("reading and writing")
    func readingAndWriting() throws {
        let (vault, owner) = (queue, Owner(id: 7, name: "Ada"))
        let heavy = try vault.read { db in
            try Item.filter { $0.weight > 20_000 }.fetchAll(db)
        }
        #expect(heavy.map(\.name) == ["safe"])
        let ring = try vault.write { db in
            try Item(ownerId: owner.id, name: "ring").inserted(db)
        }
        #expect(ring.id == 4)
    }

    @Test("traces, and the features of a custom engine")
    func traces() throws {
        struct Log: Sendable {
            let printed: Printed
            func notice(_ line: String) { printed.add(line) }
        }
        final class History: TransactionObserver {
            private(set) var deletedItems: [DatabasePreUpdateEvent] = []
            func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }
            func databaseDidChange(with event: DatabaseEvent) {}
            func databaseDidCommit(_ db: Database) {}
            func databaseDidRollback(_ db: Database) {}
            func databaseWillChange(with event: DatabasePreUpdateEvent) {
                if event.kind == .delete, event.tableName == "item" { deletedItems.append(event.copy()) }
            }
        }
        let (printed, vault, history) = (Printed(), queue, History())
        let log = Log(printed: printed)
        var configuration = Configuration()
        configuration.prepareDatabase { connection in
            connection.trace(options: .profile) { event in
                if case .profile(let statement, let seconds) = event, seconds > 0.1 {
                    log.notice("slow: \(statement.sql)")
                }
            }
        }
        let other = try DatabaseQueue(configuration: configuration)
        #expect(try other.read { db in try Int.fetchOne(db, sql: "SELECT 1") } == 1)
        do {
            try EngineFeature.preUpdateEvents.require()
            vault.add(transactionObserver: history)
            try vault.write { db in _ = try Item.deleteOne(db, key: 3) }
            #expect(history.deletedItems.count == 1)
        } catch let error as EngineFeatureError {
            #expect(error.feature == .preUpdateEvents && !EngineFeature.preUpdateEvents.isAvailable)
        }
    }

    @Test("faults of the engine")
    func engineFaults() {
        var printed: [String] = []
        func print(_ text: String) { printed.append(text) }
        for fault in EngineFault.ofThisEngine where fault.treatment == .open {
            print("\(fault.rawValue): \(fault.summary)")
        }
        #expect(printed.count == EngineFault.ofThisEngine.count { $0.treatment == .open })
    }

    @Test("errors")
    func errors() throws {
        let error = #expect(throws: DatabaseError.self) {
            throw DatabaseError(resultCode: .SQLITE_CONSTRAINT, message: "A share ends before it begins.")
        }
        #expect(error?.resultCode == .SQLITE_CONSTRAINT)
        var printed: [String] = []
        func print(_ text: String) { printed.append(text) }
        try queue.write { db in
            do {
                try Owner(id: 7, name: "Ada").insert(db)
            } catch DatabaseError.SQLITE_CONSTRAINT_PRIMARYKEY {
                print("There is such an owner.")
            } catch DatabaseError.SQLITE_CONSTRAINT {
                print("Something else is not as the schema wants it.")
            }
        }
        #expect(printed == ["There is such an owner."])
    }

    @Test("making databases")
    func making() throws {
        let (path, keyPath) = (directory.path("vault.db"), directory.path("vault.key"))
        try directory.write([UInt8](repeating: 0x42, count: 32), to: "vault.key")
        #expect(unsafe chmod(keyPath, 0o600) == 0)
        try directory.makeQueue("vault.db").write { db in
            try db.execute(sql: "CREATE TABLE owner (name TEXT); INSERT INTO owner VALUES ('Ada')")
        }
        do {
            var configuration = Configuration()
            configuration.key = .keyFile(keyPath)
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            let names = try queue.read { db in try String.fetchAll(db, sql: "SELECT name FROM owner") }
            #expect(names == ["Ada"])
            try queue.close()
        }
        do {
            let configuration = Configuration.rawKeyed
            let pool = try DatabasePool(path: path, configuration: configuration)
            let names = try pool.read { db in try String.fetchAll(db, sql: "SELECT name FROM owner") }
            #expect(names == ["Ada"])
        }
        let queue = try DatabaseQueue()
        let one = try DatabaseQueue(named: "shared"), same = try DatabaseQueue(named: "shared")
        try one.write { db in try db.execute(sql: "CREATE TABLE item (name TEXT)") }
        #expect(try same.read { db in try db.tableExists("item") })
        #expect(try !queue.read { db in try db.tableExists("item") })
        let reader = AnyDatabaseReader(queue)  // a type without parameters, for properties
        #expect(reader.path == ":memory:")
        let writer = AnyDatabaseWriter(queue)  // a type without parameters, for properties
        #expect(writer.path == ":memory:")
        var configuration = Configuration()
        configuration.key = .passphrase("correct horse battery staple")
        configuration.busyMode = .timeout(5)
        configuration.label = "vault"
        configuration.prepareDatabase { db in
            try db.execute(sql: "PRAGMA synchronous = EXTRA")
        }
        let other = try DatabaseQueue(path: directory.path("other.db"), configuration: configuration)
        #expect(try other.read { db in try Int.fetchOne(db, sql: "PRAGMA synchronous") } == 3)
    }

    @Test("accesses")
    func accesses() throws {
        let printed = Printed()
        @Sendable func print(_ result: Result<Int, any Error>) { printed.add("\((try? result.get()) ?? -1)") }
        queue.asyncRead { result in
            print(Result { try Item.fetchCount(result.get()) })
        }
        #expect(printed.all(after: 1) == ["3"])
        do {
            queue.asyncWrite { db in
                try Share.deleteAll(db)
            } completion: { _, result in
                print(result)
            }
            #expect(printed.all(after: 1) == ["3", "1"])
        }
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA optimize")
        }
    }

    @Test("accesses that wait for a limited time")
    func waits() async throws {
        var printed: [Int] = []
        func print(_ number: Int) { printed.append(number) }
        var configuration = Configuration.rawKeyed
        configuration.maximumWait = 2
        configuration.maximumWaiterCount = 100
        let pool = try directory.makePool("vault.db", configuration)
        try queue.backup(to: pool)
        let (vault, id): (any DatabaseWriter, Int64) = (pool, 2)
        let share = Share(itemId: 2, guestId: 3, expiry: nil)
        func first() throws {
            let item = try vault.read(timeout: 0.5) { db in try Item.fetchOne(db, key: id) }
            #expect(item?.id == id)
            try vault.write(timeout: 2) { db in try share.insert(db) }
        }
        try first()
        func second() async throws -> Int {
            do {
                try await pool.write(timeout: 0.2) { db in _ = try Share.deleteAll(db) }
                return 200
            } catch is DatabaseWaitError {
                return 503  // the HTTP status "service unavailable"
            }
        }
        #expect(try await second() == 200)
        print(pool.statistics.waitingWriteCount)
        #expect(printed == [0])
    }

    @Test("accesses of a pool")
    func pools() throws {
        var printed: [Int] = []
        func print(_ number: Int) { printed.append(number) }
        let pool = try directory.makePool("vault.db")
        try queue.backup(to: pool)
        try pool.barrierWriteWithoutTransaction { db in
            try db.execute(sql: "DROP TABLE IF EXISTS oldItem; VACUUM")
        }
        try pool.writeWithoutTransaction { db in
            _ = try db.checkpoint(.truncate)
        }
        let count = pool.writeWithoutTransaction { _ in
            pool.concurrentRead { db in try Item.fetchCount(db) }
        }
        print(try count.wait())
        #expect(printed == [3])
        try pool.writeInTransaction { db in
            try Share.deleteAll(db)
            return .rollback
        }
        do {
            let snapshot = try pool.makeSnapshot()
            try pool.write { db in _ = try Share.deleteAll(db) }
            let before = try snapshot.read { db in try Share.fetchCount(db) }  // the shares of that moment
            #expect(before == 1)
        }
        let snapshot = try pool.makeSnapshotPool()
        let counts = try [
            snapshot.read { db in try Item.fetchCount(db) }, snapshot.read { db in try Share.fetchCount(db) },
        ]
        #expect(counts == [3, 0])
    }
}
