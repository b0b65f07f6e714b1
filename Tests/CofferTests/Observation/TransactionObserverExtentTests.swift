import Synchronization
import Testing

@testable import Coffer

@Suite struct TransactionObserverExtentTests {
    private func insert(_ db: Database) throws { try db.execute(sql: "INSERT INTO t DEFAULT VALUES") }

    private func makeQueue() throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.writeWithoutTransaction { try $0.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY)") }
        return queue
    }

    @Test("an observer is not kept alive by default")
    func observerLifetime() throws {
        let queue = try makeQueue()
        weak var weakObserver: RecordingObserver?
        try queue.writeWithoutTransaction { db throws in
            do {
                let observer = RecordingObserver()
                weakObserver = observer
                db.add(transactionObserver: observer)
                try insert(db)
                #expect(observer.log.count == 3)
            }
            #expect(weakObserver == nil)
            try insert(db)
        }
    }

    @Test("an observer of the next transaction is kept alive for it, and is not notified again")
    func nextTransaction() throws {
        let queue = try makeQueue()
        weak var weakObserver: RecordingObserver?
        try queue.writeWithoutTransaction { db throws in
            do {
                let observer = RecordingObserver()
                weakObserver = observer
                db.add(transactionObserver: observer, extent: .nextTransaction)
            }
            #expect(weakObserver != nil)
            let observer = try #require(weakObserver)
            // A transaction within the notification already counts as the next one.
            observer.onCommit = { db in try db.execute(sql: "INSERT INTO t DEFAULT VALUES") }
            try insert(db)
            try insert(db)
            #expect(observer.log == ["insert t 1", "will commit", "commit"])
        }
        #expect(weakObserver == nil)
    }

    @Test("an observer of the database lives as long as the connection")
    func databaseLifetime() throws {
        weak var weakObserver: RecordingObserver?
        do {
            let queue = try makeQueue()
            do {
                let observer = RecordingObserver()
                weakObserver = observer
                queue.add(transactionObserver: observer, extent: .databaseLifetime)
            }
            try queue.writeWithoutTransaction(insert)
            #expect(weakObserver?.log.count == 3)
        }
        #expect(weakObserver == nil)
    }

    @Test("a closed connection releases its observers and accepts no more")
    func close() throws {
        let queue = try makeQueue()
        weak var weakObserver: RecordingObserver?
        do {
            let observer = RecordingObserver()
            weakObserver = observer
            queue.add(transactionObserver: observer, extent: .databaseLifetime)
        }
        try queue.close()
        #expect(weakObserver == nil)
        let late = RecordingObserver()
        queue.add(transactionObserver: late)
        queue.remove(transactionObserver: late)
    }

    @Test("a removed observer is not notified again, even in the middle of a transaction")
    func removal() throws {
        let queue = try makeQueue()
        let observer = RecordingObserver()
        queue.add(transactionObserver: observer)
        try queue.write { db throws in
            try insert(db)
            db.remove(transactionObserver: observer)
            try insert(db)
        }
        #expect(observer.log == ["insert t 1"])
    }

    @Test("functions are called once after the next transaction")
    func afterNextTransaction() throws {
        let queue = try makeQueue()
        let log = Mutex<[String]>([])
        try queue.writeWithoutTransaction { db throws in
            let register = {
                db.afterNextTransaction { db in
                    log.withLock { $0.append("commit \(db.isInsideTransaction)") }
                } onRollback: { _ in
                    log.withLock { $0.append("rollback") }
                }
            }
            register()
            #expect(log.withLock { $0 } == [])
            try insert(db)
            try insert(db)
            #expect(log.withLock { $0 } == ["commit false"])
            try db.inTransaction {
                register()
                return .rollback
            }
            #expect(log.withLock { $0 } == ["commit false", "rollback"])
            try db.inTransaction {
                register()
                return .commit
            }
            #expect(log.withLock { $0 } == ["commit false", "rollback", "commit false"])
        }
    }
}
