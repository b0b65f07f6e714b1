import CofferTestSupport
import Testing

@testable import Coffer

/// Functions that use the statements, the records and the cursors by which they are called. SQLite calls them
/// in the middle of a step, and would continue with freed memory if its statement was reset.
@Suite("Functions that use their calling statement, record or cursor")
struct ReentrancyTests {
    private struct Item: Codable, Equatable, FetchableRecord, PersistableRecord {
        static let databaseTableName = "item"
        var id: Int
        var name: String
    }

    private struct Generated: Codable, Equatable, FetchableRecord, TableRecord {
        static let databaseTableName = "generated"
        var id: Int
        var value: Int
    }

    /// Calls `body` at the first call of the SQL function `hook`, and returns 1 from all calls.
    private func addHook(to db: Database, _ body: @escaping (Database) throws -> Void) {
        // The function is only called by statements of the same access.
        nonisolated(unsafe) var (pending, connection, body) = (true, db, body)
        db.add(
            function: DatabaseFunction("hook", argumentCount: 1) { _ in
                guard unsafe pending else { return 1 }
                unsafe pending = false
                unsafe try body(connection)
                return 1
            })
    }

    private func withItems(_ body: (Database) throws -> Void) throws {
        try DatabaseQueue().write { (db) throws in
            try db.execute(
                sql: """
                    CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT);
                    CREATE TABLE log (x);
                    INSERT INTO item VALUES (1, 'one'), (2, 'two'), (3, 'three');
                    """)
            try body(db)
        }
    }

    @Test("a record operation inside the same operation has a statement of its own")
    func records() throws {
        try withItems { db in
            for event in ["INSERT", "UPDATE", "DELETE"] {
                let row = event == "DELETE" ? "old" : "new"
                try db.execute(
                    sql: """
                        CREATE TRIGGER on_\(event) AFTER \(event) ON item BEGIN
                            INSERT INTO log SELECT hook(1); INSERT INTO log VALUES (\(row).name);
                        END
                        """)
            }
            addHook(to: db) { try Item(id: 10, name: "inner").insert($0) }
            try Item(id: 11, name: "outer").insert(db)
            addHook(to: db) { try Item(id: 10, name: "inner 2").update($0) }
            try Item(id: 11, name: "outer 2").update(db)
            addHook(to: db) { (db) throws in #expect(try Item(id: 1, name: "").exists(db)) }
            #expect(try Item(id: 2, name: "").exists(db))
            #expect(
                try Item.filter(Column("id") > 9).order(Column("id")).fetchAll(db)
                    == [Item(id: 10, name: "inner 2"), Item(id: 11, name: "outer 2")])
            addHook(to: db) { (db) throws in #expect(try Item(id: 1, name: "").delete(db)) }
            #expect(try Item(id: 2, name: "").delete(db))
            #expect(try Item.order(Column("id")).fetchAll(db).map(\.id) == [3, 10, 11])
            let texts = try String.fetchAll(
                db, sql: "SELECT x FROM log WHERE typeof(x) = 'text' ORDER BY rowid")
            #expect(texts == ["inner", "outer", "inner 2", "outer 2", "one", "two"])
        }
    }

    @Test("a fetch by key inside a fetch by key returns its own row")
    func fetches() throws {
        try DatabaseQueue().write { (db) throws in
            // The function is only called by statements of the same access.
            nonisolated(unsafe) let connection = db
            db.add(
                function: DatabaseFunction("below", argumentCount: 1, pure: true) { values in
                    guard let id = Int.fromDatabaseValue(values[0]), id > 1 else { return 1 }
                    return unsafe try (Generated.fetchOne(connection, key: id - 1)?.value ?? -100) + 1
                })
            try db.execute(
                sql: """
                    CREATE TABLE generated (id INTEGER PRIMARY KEY, value AS (below(id)));
                    INSERT INTO generated VALUES (1), (2), (3), (4), (5), (6)
                    """)
            for id in [6, 1, 3, 6] {
                #expect(try Generated.fetchOne(db, key: id) == Generated(id: id, value: id))
            }
        }
    }

    @Test(
        "a statement cannot be executed by its own function, and continues",
        arguments: [false, true])
    func statements(usesValues: Bool) throws {
        try withItems { (db) throws in
            // The function is only called by statements of the same access.
            nonisolated(unsafe) var running: Statement?
            addHook(to: db) { _ in
                let statement = try #require(unsafe running)
                let error = #expect(throws: DatabaseError.self) {
                    if usesValues {
                        try statement.execute(values: 7)
                    } else {
                        try statement.execute(arguments: [7])
                    }
                }
                #expect(error?.resultCode == .SQLITE_MISUSE)
            }
            let statement = try db.makeStatement(sql: "INSERT INTO log SELECT hook(id) + ? FROM item")
            unsafe running = statement
            try statement.execute(arguments: [5])
            #expect(try Int.fetchAll(db, sql: "SELECT x FROM log") == [6, 6, 6])
        }
    }

    @Test("a cursor cannot be advanced by its own function, and continues")
    func cursors() throws {
        try withItems { (db) throws in
            // The function is only called by statements of the same access.
            nonisolated(unsafe) var running: RowCursor?
            addHook(to: db) { _ in
                let cursor = try #require(unsafe running)
                let error = #expect(throws: DatabaseError.self) { _ = try cursor.next() }
                #expect(error?.resultCode == .SQLITE_MISUSE)
            }
            let cursor = try Row.fetchCursor(db, sql: "SELECT id, hook(id) FROM item ORDER BY id")
            unsafe running = cursor
            var ids: [Int] = []
            while let row = try cursor.next() { ids.append(row[0]) }
            #expect(ids == [1, 2, 3])
        }
    }

    @Test("a writing cursor may outlive its connection")
    func lateCursor() throws {
        // The access has ended when the cursor is released.
        nonisolated(unsafe) var cursor: RowCursor?
        var queue: DatabaseQueue? = try DatabaseQueue()
        try queue?.writeWithoutTransaction { db in
            try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)")
            unsafe cursor = try Row.fetchCursor(db, sql: "UPDATE t SET a = a + 1 RETURNING a")
            #expect(unsafe try cursor?.next() != nil)
        }
        queue = nil
        unsafe cursor = nil
    }
}
