import Testing

@testable import Coffer

@Suite struct TransactionObserverSavepointTests {
    @Test("changes in a savepoint are reported when it is released, and never if it is rolled back")
    func savepoints() throws {
        let (queue, observer) = try makeObservedQueue()
        try queue.inTransaction { db throws in
            try db.execute(sql: "INSERT INTO team (id) VALUES (1)")
            #expect(observer.takeLog() == ["insert team 1"])
            try db.execute(
                sql: "SAVEPOINT foo; INSERT INTO team (id) VALUES (2); INSERT INTO team (id) VALUES (3)")
            #expect(observer.takeLog() == [])
            try db.execute(sql: "RELEASE SAVEPOINT FOO")
            #expect(observer.takeLog() == ["insert team 2", "insert team 3"])
            try db.execute(
                sql:
                    "SAVEPOINT bar; INSERT INTO team (id) VALUES (4); ROLLBACK TO SAVEPOINT bar; RELEASE SAVEPOINT bar"
            )
            #expect(observer.takeLog() == [])
            return .commit
        }
        #expect(observer.takeLog() == ["will commit", "commit"])
    }

    @Test("a commit or a rollback ends open savepoints")
    func endOfTransaction() throws {
        let (queue, observer) = try makeObservedQueue()
        try queue.writeWithoutTransaction { db throws in
            try db.execute(
                sql:
                    "BEGIN; SAVEPOINT a; INSERT INTO team (id) VALUES (1); SAVEPOINT b; INSERT INTO team (id) VALUES (2)"
            )
            #expect(observer.takeLog() == [])
            try db.execute(sql: "COMMIT")
            #expect(observer.takeLog() == ["insert team 1", "insert team 2", "will commit", "commit"])
            try db.execute(sql: "BEGIN; SAVEPOINT a; INSERT INTO team (id) VALUES (3); ROLLBACK")
            #expect(observer.takeLog() == ["rollback"])
            try db.execute(sql: "INSERT INTO team (id) VALUES (4)")
            #expect(observer.takeLog() == ["insert team 4", "will commit", "commit"])
        }
    }

    @Test("a savepoint outside of a transaction is a transaction")
    func outermostSavepoint() throws {
        let (queue, observer) = try makeObservedQueue()
        try queue.writeWithoutTransaction { db throws in
            try db.execute(sql: "SAVEPOINT a; INSERT INTO team (id) VALUES (1)")
            #expect(observer.takeLog() == [])
            try db.execute(sql: "RELEASE a")
        }
        #expect(observer.takeLog() == ["insert team 1", "will commit", "commit"])
    }

    @Test("an observer that is added in the middle of a savepoint is notified of the remaining changes")
    func lateObserver() throws {
        let queue = try DatabaseQueue()
        let observer = RecordingObserver()
        try queue.write { db throws in
            try db.execute(sql: "CREATE TABLE team (id INTEGER PRIMARY KEY)")
            try db.inSavepoint {
                try db.execute(sql: "INSERT INTO team (id) VALUES (1)")
                db.add(transactionObserver: observer)
                try db.inSavepoint {
                    try db.execute(sql: "INSERT INTO team (id) VALUES (2)")
                    return .rollback
                }
                try db.execute(sql: "INSERT INTO team (id) VALUES (3)")
                #expect(observer.takeLog() == [])
                return .commit
            }
            #expect(observer.takeLog() == ["insert team 3"])
        }
        #expect(observer.takeLog() == ["will commit", "commit"])
    }
}
