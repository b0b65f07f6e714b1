import Testing

@testable import Coffer

@Suite struct TransactionObserverTests {
    @Test("changes are reported before databaseWillCommit, and the commit after it")
    func commit() throws {
        let (queue, observer) = try makeObservedQueue()
        try queue.write { db throws in
            try db.execute(sql: "INSERT INTO player (name) VALUES ('Arthur')")
            #expect(observer.takeLog() == ["insert player 1"])
            try db.execute(sql: "UPDATE player SET score = 1; DELETE FROM player WHERE id = 1")
            #expect(observer.takeLog() == ["update player 1", "delete player 1"])
        }
        #expect(observer.takeLog() == ["will commit", "commit"])
    }

    @Test("statements outside of transactions are transactions of their own")
    func autocommit() throws {
        let (queue, observer) = try makeObservedQueue()
        try queue.writeWithoutTransaction { db throws in
            try db.execute(sql: "INSERT INTO player (name) VALUES ('Arthur'), ('Barbara')")
        }
        #expect(observer.takeLog() == ["insert player 1", "insert player 2", "will commit", "commit"])
    }

    @Test("a rollback is reported, whether it is explicit or caused by an error")
    func rollback() throws {
        let (queue, observer) = try makeObservedQueue()
        try queue.inTransaction { db throws in
            try db.execute(sql: "INSERT INTO player (name) VALUES ('Arthur')")
            return .rollback
        }
        #expect(observer.takeLog() == ["insert player 1", "rollback"])

        #expect(throws: DatabaseError.self) {
            try queue.write { db throws in
                try db.execute(sql: "INSERT INTO player (id) VALUES (1)")
                try db.execute(sql: "INSERT OR ROLLBACK INTO player (id) VALUES (1)")
            }
        }
        #expect(observer.takeLog() == ["insert player 1", "rollback"])

        try queue.writeWithoutTransaction { db throws in
            try db.execute(sql: "INSERT INTO player (id) VALUES (7)")
            _ = observer.takeLog()
            #expect(throws: DatabaseError.self) {
                try db.execute(sql: "INSERT INTO player (id) VALUES (8), (7)")
            }
        }
        #expect(observer.takeLog() == ["insert player 8", "rollback"])
    }

    @Test(
        "an observer that refuses a commit rolls the transaction back, and its error is thrown",
        arguments: ["write", "autocommit", "empty", "savepoint"])
    func refusal(access: String) throws {
        let (queue, observer) = try makeObservedQueue()
        let other = RecordingObserver()
        queue.add(transactionObserver: other)
        observer.refusesCommits = true
        #expect(throws: RecordingObserver.Refusal()) {
            switch access {
            case "write": try queue.write { db in try db.execute(sql: "INSERT INTO player (id) VALUES (1)") }
            case "autocommit":
                try queue.writeWithoutTransaction { db in
                    try db.execute(sql: "INSERT INTO player (id) VALUES (1)")
                }
            case "empty": try queue.writeWithoutTransaction { db in try db.execute(sql: "BEGIN; COMMIT") }
            default:
                try queue.writeWithoutTransaction { db throws in
                    try db.execute(sql: "SAVEPOINT a; INSERT INTO player (id) VALUES (1); RELEASE a")
                }
            }
        }
        let change = access == "empty" ? [] : ["insert player 1"]
        #expect(observer.takeLog() == change + ["will commit", "rollback"])
        #expect(other.takeLog() == change + ["rollback"])
        observer.refusesCommits = false
        try queue.write { db throws in
            #expect(db.isInsideTransaction)
            #expect(try Row.fetchOne(db, sql: "SELECT * FROM player") == nil)
        }
    }

    @Test("transactions without changes are reported, except read-only ones")
    func emptyTransactions() throws {
        let (queue, observer) = try makeObservedQueue()
        try queue.writeWithoutTransaction { db throws in
            try db.execute(sql: "BEGIN; COMMIT")
            #expect(observer.takeLog() == ["will commit", "commit"])
            try db.execute(sql: "SAVEPOINT a; SELECT * FROM player; RELEASE a")
            #expect(observer.takeLog() == ["will commit", "commit"])
            try db.execute(sql: "BEGIN; ROLLBACK")
            #expect(observer.takeLog() == ["rollback"])
        }
        try queue.read { db in _ = try Row.fetchAll(db, sql: "SELECT * FROM player") }
        try? queue.read { _ in throw RecordingObserver.Refusal() }
        #expect(observer.takeLog() == [])
    }

    @Test("a commit that fails for a foreign key can be repaired and tried again")
    func deferredForeignKey() throws {
        let (queue, observer) = try makeObservedQueue()
        try queue.writeWithoutTransaction { db throws in
            try db.execute(
                sql:
                    "CREATE TABLE pet (id INTEGER PRIMARY KEY, owner REFERENCES player(id) DEFERRABLE INITIALLY DEFERRED)"
            )
            _ = observer.takeLog()
            try db.execute(sql: "BEGIN; INSERT INTO pet (owner) VALUES (5)")
            #expect(throws: DatabaseError.self) { try db.execute(sql: "COMMIT") }
            #expect(db.isInsideTransaction)
            try db.execute(sql: "INSERT INTO player (id) VALUES (5); COMMIT")
        }
        #expect(
            observer.takeLog().filter { $0 != "will commit" } == [
                "insert pet 1", "insert player 5", "commit",
            ])
    }

    @Test("cascades and triggers are reported, with the same filter as all changes")
    func indirectChanges() throws {
        let (queue, observer) = try makeObservedQueue()
        try queue.writeWithoutTransaction { db throws in
            try db.execute(
                sql: """
                    CREATE TRIGGER deleteTeam AFTER DELETE ON team BEGIN INSERT INTO team (id, name) VALUES \
                    (old.id + 98, old.name); END;
                    INSERT INTO team (id) VALUES (1), (2);
                    INSERT INTO player (id, teamId) VALUES (10, 1), (11, 2), (12, 1);
                    """)
            _ = observer.takeLog()
            _ = observer.takeKinds()
            try db.execute(sql: "DELETE FROM team WHERE id = 1")
            #expect(
                Set(observer.takeKinds()) == [
                    .delete(tableName: "team"), .delete(tableName: "player"), .insert(tableName: "team"),
                ])
            #expect(
                Set(observer.takeLog()) == [
                    "delete team 1", "delete player 10", "delete player 12", "insert team 99", "will commit",
                    "commit",
                ])
            observer.observes = { $0 == .delete(tableName: "player") }
            try db.execute(sql: "DELETE FROM team WHERE id = 2")
            #expect(observer.takeLog() == ["delete player 11", "will commit", "commit"])
        }
    }

    @Test("an observer is asked once per execution and event kind, with the columns of an update")
    func kinds() throws {
        let (queue, observer) = try makeObservedQueue()
        try queue.write { db throws in
            let insert = try db.makeStatement(sql: "INSERT INTO player (name) VALUES ('a'), ('b'), ('c')")
            try insert.execute()
            try insert.execute()
            #expect(observer.takeKinds() == [.insert(tableName: "player"), .insert(tableName: "player")])
            try db.execute(sql: "UPDATE PLAYER SET Name = 'x', score = score + 1")
            #expect(observer.takeKinds() == [.update(tableName: "player", columnNames: ["name", "score"])])
            try db.execute(sql: "SELECT * FROM player; CREATE TABLE t (a); DROP TABLE t")
            #expect(observer.takeKinds() == [])
        }
    }

    @Test("SQLite makes no callbacks if no observer is interested")
    func disinterest() throws {
        let (queue, observer) = try makeObservedQueue()
        observer.observes = { $0.tableName == "team" }
        try queue.write { db throws in
            try db.execute(sql: "INSERT INTO player (name) VALUES ('a')")
            try db.execute(sql: "INSERT INTO team (name) VALUES ('a')")
        }
        #expect(observer.takeLog() == ["insert team 1", "will commit", "commit"])
    }

    @Test(
        "a deletion without a condition is reported row by row if there is an observer",
        arguments: [true, false])
    func truncation(isCompiledBefore: Bool) throws {
        let (queue, observer) = try makeObservedQueue()
        try queue.writeWithoutTransaction { db throws in
            // Without foreign keys, SQLite would use the truncate optimization.
            try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)")
            observer.observes = { _ in false }
            let statement = try db.makeStatement(sql: "DELETE FROM t")
            if isCompiledBefore {
                try statement.execute()
                #expect(db.changesCount == 2)
                try db.execute(sql: "INSERT INTO t VALUES (1), (2)")
            }
            _ = observer.takeLog()
            observer.observes = { _ in true }
            try statement.execute()
            #expect(observer.takeLog() == ["delete t 1", "delete t 2", "will commit", "commit"])
            #expect(try Row.fetchAll(db, sql: "SELECT * FROM t").isEmpty)
            try db.execute(sql: "DROP TABLE t")
            #expect(throws: DatabaseError.self) { try db.execute(sql: "SELECT * FROM t") }
        }
    }

    @Test("a cursor in the middle of its rows survives an observed deletion without condition")
    func truncationBesideCursor() throws {
        let (queue, observer) = try makeObservedQueue()
        try queue.writeWithoutTransaction { db throws in
            try db.execute(
                sql:
                    "CREATE TABLE t (a); INSERT INTO t VALUES (1), (2); INSERT INTO team (id) VALUES (1), (2), (3)"
            )
            _ = observer.takeLog()
            let teams = try Row.fetchCursor(db, sql: "SELECT id FROM team ORDER BY id")
            #expect(try teams.next() != nil)
            try db.execute(sql: "DELETE FROM t")
            #expect(try teams.next() != nil)
            #expect(try teams.next() != nil)
            #expect(try teams.next() == nil)
        }
        #expect(observer.takeLog() == ["delete t 1", "delete t 2", "will commit", "commit"])
    }

    @Test(
        "an observer can use the connection after the end of a transaction, and is notified of its own changes"
    )
    func useAfterCommit() throws {
        let (queue, observer) = try makeObservedQueue()
        observer.onCommit = { [unowned observer] db in
            observer.onCommit = { _ in }
            try db.execute(sql: "INSERT INTO team (id) VALUES (7)")
        }
        observer.onRollback = { db in try db.execute(sql: "INSERT INTO team (id) VALUES (8)") }
        try queue.write { db in try db.execute(sql: "INSERT INTO player (id) VALUES (1)") }
        #expect(
            observer.takeLog() == [
                "insert player 1", "will commit", "commit", "insert team 7", "will commit", "commit",
            ])
        try queue.inTransaction { db in .rollback }
        #expect(observer.takeLog() == ["rollback", "insert team 8", "will commit", "commit"])
    }

    @Test("changes with RETURNING are reported, and committed even if not all rows are read")
    func returning() throws {
        let (queue, observer) = try makeObservedQueue()
        try queue.writeWithoutTransaction { db throws in
            let rows = try Row.fetchAll(db, sql: "INSERT INTO team (id) VALUES (1), (2) RETURNING id")
            #expect(rows.count == 2)
            #expect(observer.takeLog() == ["insert team 1", "insert team 2", "will commit", "commit"])
            do {
                let cursor = try Row.fetchCursor(
                    db, sql: "INSERT INTO team (id) VALUES (3), (4) RETURNING id")
                _ = try cursor.next()
            }
            #expect(observer.takeLog() == ["insert team 3", "insert team 4", "will commit", "commit"])
        }
    }

    @Test("an observer that stops is not called until the next transaction")
    func stop() throws {
        let (queue, observer) = try makeObservedQueue()
        observer.stopsAfterChanges = 2
        try queue.write { db throws in
            try db.execute(sql: "INSERT INTO team (id) VALUES (1), (2), (3)")
            try db.execute(sql: "SAVEPOINT a; INSERT INTO team (id) VALUES (4); RELEASE a")
            try db.notifyChanges(in: .fullDatabase)
        }
        #expect(observer.takeLog() == ["insert team 1", "insert team 2", "will commit", "commit"])
        observer.stopsAfterChanges = nil
        try queue.write { db in try db.execute(sql: "INSERT INTO team (id) VALUES (5)") }
        #expect(observer.takeLog() == ["insert team 5", "will commit", "commit"])
    }

    @Test("stopping outside of a notification traps")
    func stopOutside() async {
        await #expect(processExitsWith: .failure) {
            RecordingObserver().stopObservingDatabaseChangesUntilNextTransaction()
        }
    }

    @Test("tables without row IDs, system tables and the schema are not reported")
    func untold() throws {
        let (queue, observer) = try makeObservedQueue()
        try queue.write { db throws in
            try db.execute(
                sql: """
                    CREATE TABLE w (id TEXT PRIMARY KEY) WITHOUT ROWID;
                    CREATE TABLE s (id INTEGER PRIMARY KEY AUTOINCREMENT);
                    INSERT INTO w VALUES ('a');
                    INSERT INTO s DEFAULT VALUES;
                    DROP TABLE w;
                    """)
        }
        #expect(observer.takeLog() == ["insert s 1", "will commit", "commit"])
    }

    @Test("a prepared statement that outlives its closed connection calls no freed objects")
    func zombie() throws {
        // The cursor escapes on purpose: it keeps SQLite's connection alive after its owner is gone.
        let (queue, observer) = try makeObservedQueue()
        var statement: Statement?
        try queue.writeWithoutTransaction { db throws in
            statement = try db.makeStatement(sql: "INSERT INTO team (id) VALUES (1)")
        }
        _ = observer
        #expect(throws: DatabaseError.self) { try queue.close() }
        #expect(statement?.sql == "INSERT INTO team (id) VALUES (1)")
        statement = nil
        try queue.close()
    }
}
