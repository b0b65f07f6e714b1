import Coffer
import Testing

@Suite("SQLRequest")
struct SQLRequestTests {
    private func makeQueue() throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.write { db throws in
            try db.execute(sql: "CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT)")
            try db.execute(sql: "INSERT INTO player VALUES (1, 'Arthur'), (2, 'Barbara'), (3, 'Barbara')")
        }
        return queue
    }

    @Test("rows are fetched from all kinds of requests")
    func initializers() throws {
        try makeQueue().read { db throws in
            let expected: Row = ["name": "Arthur"]
            let interpolated: SQLRequest<Row> = "SELECT name FROM player WHERE id = \(1)"
            #expect(try interpolated.fetchOne(db) == expected)
            #expect(
                try SQLRequest(sql: "SELECT name FROM player WHERE id = ?", arguments: [1]).fetchOne(db)
                    == expected)
            #expect(
                try SQLRequest(literal: "SELECT name FROM player WHERE id = \(1)").fetchOne(db) == expected)
            #expect(try SQLRequest<Row>("SELECT name FROM player").fetchAll(db).count == 3)
            let request: SQLRequest<Row> = SQLRequest(sql: "SELECT name FROM player ORDER BY id")
            #expect(try Row.fetchAll(db, request).count == 3)
        }
    }

    @Test("all rows, distinct rows, the first row, a cursor")
    func fetching() throws {
        try makeQueue().read { db throws in
            let request: SQLRequest<Row> = "SELECT name FROM player ORDER BY id"
            #expect(try request.fetchAll(db).map { $0[0] as String } == ["Arthur", "Barbara", "Barbara"])
            #expect(try request.fetchSet(db) == [["name": "Arthur"], ["name": "Barbara"]])
            #expect(try Row.fetchSet(db, request).count == 2)
            #expect(try request.fetchOne(db) == ["name": "Arthur"])
            #expect(try Row.fetchOne(db, request) == ["name": "Arthur"])
            let cursor = try request.fetchCursor(db)
            #expect(try cursor.next() == ["name": "Arthur"])
            let otherCursor = try Row.fetchCursor(db, request)
            #expect(try otherCursor.next() == ["name": "Arthur"])
            let none: SQLRequest<Row> = "SELECT name FROM player WHERE 0"
            #expect(try none.fetchOne(db) == nil)
            #expect(try none.fetchAll(db) == [])
        }
    }

    @Test("rows are counted by SQLite")
    func counting() throws {
        try makeQueue().read { db throws in
            let request: SQLRequest<Row> = "SELECT * FROM player WHERE name = \("Barbara")"
            #expect(try request.fetchCount(db) == 2)
            #expect(try SQLRequest(sql: "SELECT * FROM player -- all of them").fetchCount(db) == 3)
            #expect(try request.adapted { _ in SuffixRowAdapter(fromIndex: 1) }.fetchCount(db) == 2)
            #expect(try AnyFetchRequest(request).fetchCount(db) == 2)
        }
    }

    @Test("only a cached request reuses its statement")
    func caching() throws {
        try makeQueue().read { db throws in
            let cached = SQLRequest<Row>(sql: "SELECT * FROM player", cached: true)
            let statement = try cached.makePreparedRequest(db).statement
            #expect(try cached.makePreparedRequest(db).statement === statement)
            #expect(try db.cachedStatement(sql: "SELECT * FROM player") === statement)
            let uncached = SQLRequest<Row>(sql: "SELECT * FROM player")
            #expect(
                try uncached.makePreparedRequest(db).statement !== uncached.makePreparedRequest(db).statement)
        }
    }

    @Test("an adapter is applied to the rows, and a second one to the result of the first")
    func adapters() throws {
        try makeQueue().read { db throws in
            let request = SQLRequest<Row>(
                sql: "SELECT id, name, 3 AS extra FROM player ORDER BY id",
                adapter: SuffixRowAdapter(fromIndex: 1))
            #expect(try request.fetchOne(db) == ["name": "Arthur", "extra": 3])
            let adapted = request.adapted { _ in ColumnMapping(["n": "name"]) }
            #expect(try adapted.fetchOne(db) == ["n": "Arthur"])
            #expect(try adapted.fetchOne(db)?.unadapted == ["id": 1, "name": "Arthur", "extra": 3])
            #expect(
                try adapted.adapted { _ in RenameColumnAdapter { $0 + "!" } }.fetchOne(db) == ["n!": "Arthur"]
            )
            #expect(try AnyFetchRequest(adapted).fetchOne(db) == ["n": "Arthur"])
        }
    }

    @Test("a request knows its region and is a subquery")
    func regionAndSubquery() throws {
        try makeQueue().read { db throws in
            let request: SQLRequest<Row> = "SELECT name FROM player WHERE id = \(1)"
            let region = try request.makePreparedRequest(db).statement.databaseRegion
            #expect(try request.databaseRegion(db) == region)
            #expect(region.isModified(byEventsOfKind: .delete(tableName: "player")))
            #expect(!region.isModified(byEventsOfKind: .delete(tableName: "team")))
            let any = AnyFetchRequest(request.adapted { _ in EmptyRowAdapter() })
            #expect(try any.databaseRegion(db) == region)
            #expect(
                try BuiltSQL(building: "SELECT (\(any))")
                    == BuiltSQL("SELECT (SELECT name FROM player WHERE id = ?)", [1]))
            let names: AnyFetchRequest<String> = any.asRequest(of: String.self)
            #expect(try names.fetchCount(db) == 1)
        }
    }

    /// A typical request type of an application.
    private struct PlayerRequest: FetchRequest {
        typealias RowDecoder = Row
        var id: Int
        private var request: SQLRequest<Row> { "SELECT * FROM player WHERE id = \(id)" }
        init(id: Int) { self.id = id }
        var sqlSubquery: SQLSubquery { request.sqlSubquery }
        func makePreparedRequest(_ db: Database, forSingleResult singleResult: Bool) throws -> PreparedRequest
        {
            try request.makePreparedRequest(db, forSingleResult: singleResult)
        }
        func fetchCount(_ db: Database) throws -> Int { try request.fetchCount(db) }
    }

    @Test("applications can write requests of their own")
    func customRequest() throws {
        try makeQueue().read { db throws in
            let request = PlayerRequest(id: 2)
            #expect(try request.fetchOne(db) == ["id": 2, "name": "Barbara"])
            #expect(try request.fetchCount(db) == 1)
            #expect(try request.databaseRegion(db).isModified(byEventsOfKind: .insert(tableName: "player")))
            #expect(try SQLRequest<Row>("SELECT \(request.exists()) AS e").fetchOne(db) == ["e": 1])
        }
    }
}
