import Coffer
import CofferTestSupport
import Testing

private struct Item: Codable, Identifiable, FetchableRecord, MutablePersistableRecord, Equatable {
    static let databaseTableName = "item"
    var id: Int64?
    var label: String
    var weight: Int
}

/// The results and the SQL of requests on which programs for GRDB 7 rely: see the Compatibility article.
@Suite("Request behavior that GRDB programs rely on")
struct RequestBehaviorTests {
    private func makeQueue() throws -> (queue: DatabaseQueue, recorder: SQLRecorder) {
        let recorder = SQLRecorder()
        var configuration = Configuration()
        configuration.publicStatementArguments = true
        let queue = try DatabaseQueue(configuration: recorder.recording(configuration))
        try queue.write { (db) throws in
            try db.execute(
                sql: "CREATE TABLE item (id INTEGER PRIMARY KEY, label TEXT UNIQUE, weight INTEGER NOT NULL)")
            try db.execute(sql: "INSERT INTO item VALUES (1, 'lamp', 3), (2, 'ring', 8), (3, NULL, 5)")
        }
        return (queue, recorder)
    }

    private func lastSelect(_ recorder: SQLRecorder) -> String? {
        recorder.statements.last { $0.hasPrefix("SELECT") }
    }

    @Test("counting works for filters that refer to annotations by name")
    func countWithAnnotation() throws {
        let (queue, _) = try makeQueue()
        try queue.read { (db) throws in
            let request = Table("item").annotated(with: (Column("weight") * 2).forKey("double")).filter(
                Column("double").detached > 8)
            #expect(try Row.fetchAll(db, request).count == 2)
            #expect(try request.fetchCount(db) == 2)
            let written = Table("item").annotated(with: (Column("weight") * 2).forKey("double")).filter(
                sql: "double > 8")
            #expect(try written.fetchCount(db) == 2)
            #expect(try Table("item").select(Column("label"), Column("weight")).fetchCount(db) == 3)
        }
    }

    @Test("a key may have more columns than the unique key needs, and all of them are conditions")
    func keysWithMoreColumns() throws {
        let (queue, _) = try makeQueue()
        try queue.write { (db) throws in
            #expect(try db.table("item", hasUniqueKey: ["weight", "LABEL"]))
            #expect(try db.table("item", hasUniqueKey: ["id", "weight"]))
            #expect(try db.table("item", hasUniqueKey: ["rowid", "weight"]))
            #expect(try !db.table("item", hasUniqueKey: ["weight"]))
            #expect(try !db.table("item", hasUniqueKey: []))
            #expect(try Item.fetchOne(db, key: ["label": "ring", "weight": 8])?.id == 2)
            #expect(try Item.fetchOne(db, key: ["label": "ring", "weight": 9]) == nil)
            #expect(try Item.exists(db, key: ["id": 1, "label": "lamp"]))
            #expect(try !Item.deleteOne(db, key: ["id": 1, "label": "ring"]))
            #expect(try Item.deleteOne(db, key: ["id": 1, "label": "lamp"]))
            #expect(throws: DatabaseError.self) { try Item.fetchOne(db, key: ["weight": 8]) }
        }
    }

    @Test("an unknown column in a key is an error")
    func keyWithUnknownColumn() throws {
        let (queue, _) = try makeQueue()
        try queue.write { (db) throws in
            #expect(throws: DatabaseError.self) { try Item.deleteOne(db, key: ["id": 1, "nonsense": 1]) }
            #expect(try Item.fetchCount(db) == 3)
        }
    }

    @Test("a nil key matches no row, and runs no statement")
    func nilKeys() throws {
        let (queue, recorder) = try makeQueue()
        try queue.read { (db) throws in
            recorder.clear()
            #expect(try Item.fetchOne(db, key: nil as Int?) == nil)
            #expect(try Item.fetchOne(db, id: nil) == nil)
            #expect(throws: RecordError.self) { try Item.find(db, id: nil) }
            #expect(try !Item.deleteOne(db, key: nil as Int?))
            #expect(try !Item.deleteOne(db, id: nil))
            #expect(try !Item.exists(db, id: nil))
            #expect(try !Table<Item>("item").deleteOne(db, id: nil))
            #expect(try !Table<Item>("item").exists(db, id: nil))
            #expect(recorder.statements == [])
        }
    }

    @Test("rows that are changed through a view are counted")
    func changesThroughView() throws {
        let (queue, _) = try makeQueue()
        try queue.write { (db) throws in
            try db.execute(
                sql: """
                    CREATE VIEW heavy AS SELECT id, label FROM item WHERE weight > 4;
                    CREATE TRIGGER drop_heavy INSTEAD OF DELETE ON heavy BEGIN DELETE FROM item WHERE id = \
                    OLD.id; END;
                    CREATE TRIGGER set_heavy INSTEAD OF UPDATE ON heavy BEGIN UPDATE item SET label = \
                    NEW.label WHERE id = OLD.id; END;
                    """)
            #expect(
                try Table("heavy").filter(Column("id") == 2).updateAll(db, Column("label").set(to: "gem"))
                    == 1)
            #expect(
                try Table("heavy").filter(Column("id") == 1).updateAll(db, Column("label").set(to: "gem"))
                    == 0)
            #expect(try Table("heavy").deleteAll(db) == 2)
        }
    }

    @Test("counts of changed rows do not include rows of triggers")
    func changesWithTriggers() throws {
        let (queue, _) = try makeQueue()
        try queue.write { (db) throws in
            try db.execute(
                sql: """
                    CREATE TABLE log (id INTEGER);
                    CREATE TRIGGER note AFTER DELETE ON item BEGIN INSERT INTO log VALUES (OLD.id), \
                    (OLD.id); END
                    """)
            #expect(try Item.filter(Column("id") < 3).deleteAll(db) == 2)
        }
    }

    @Test("views are ordered by the key from the schema source")
    func stableOrderOfViews() throws {
        struct Source: DatabaseSchemaSource {
            func columnsForPrimaryKey(_ db: Database, inView view: DatabaseObjectID) throws -> [String]? {
                ["id"]
            }
        }
        var configuration = Configuration()
        configuration.schemaSource = Source()
        try DatabaseQueue(configuration: configuration).write { (db) throws in
            try db.execute(sql: "CREATE VIEW v (name, id) AS SELECT 'b', 1 UNION ALL SELECT 'a', 2")
            #expect(
                try Table("v").all().withStableOrder().makePreparedRequest(db).statement.sql
                    == "SELECT * FROM \"v\" ORDER BY \"id\"")
            #expect(
                try Int.fetchAll(db, Table("v").select(Column("id"), as: Int.self).withStableOrder()) == [
                    1, 2,
                ])
        }
    }

    @Test("a view without a known key is ordered by its columns")
    func stableOrderOfOtherViews() throws {
        try DatabaseQueue().write { (db) throws in
            try db.execute(sql: "CREATE VIEW v (name, id) AS SELECT 'b', 1")
            #expect(
                try Table("v").all().withStableOrder().makePreparedRequest(db).statement.sql
                    == "SELECT * FROM \"v\" ORDER BY 1, 2")
        }
    }

    @Test("an empty list of columns of a common table expression is the same as no list")
    func commonTableWithoutColumns() throws {
        try DatabaseQueue().read { (db) throws in
            let table = CommonTableExpression<Row>(named: "c", columns: [], sql: "SELECT 1 AS n")
            #expect(try table.all().with(table).fetchOne(db) == ["n": 1])
        }
    }

    @Test("literals without values take their arguments later")
    func literalsWithPlaceholders() throws {
        try DatabaseQueue().write { (db) throws in
            try db.execute(sql: "CREATE TABLE t (a, b)")
            try db.makeStatement(literal: "INSERT INTO t VALUES (?, ?)").execute(arguments: [1, 2])
            try db.cachedStatement(literal: "INSERT INTO t VALUES (:a, :b)").execute(arguments: [
                "a": 3, "b": 4,
            ])
            let statements = try db.allStatements(
                literal: "INSERT INTO t VALUES (?, 0); DELETE FROM t WHERE a = ?")
            while let statement = try statements.next() { try statement.execute(arguments: [1]) }
            #expect(try Row.fetchAll(db, sql: "SELECT * FROM t") == [["a": 3, "b": 4]])
            #expect(throws: DatabaseError.self) {
                try db.makeStatement(literal: "INSERT INTO t VALUES (\(1), ?)")
            }
        }
    }

    @Test(
        "short lists and booleans are written as in GRDB",
        arguments: [
            ([].contains(Column("id")) as SQLExpression, "0"), (![].contains(Column("id")), "1"),
            ([7].contains(Column("id")), "\"id\" = 7"), (![7].contains(Column("id")), "\"id\" <> 7"),
            ([7, 8].contains(Column("id")), "\"id\" IN (7, 8)"), (true == Column("weight"), "\"weight\" = 1"),
            (false != Column("weight"), "\"weight\" <> 0"),
        ])
    func shortLists(expression: SQLExpression, sql: String) throws {
        let (queue, recorder) = try makeQueue()
        try queue.read { (db) throws in
            _ = try Row.fetchAll(db, Item.filter(expression))
            #expect(lastSelect(recorder) == "SELECT * FROM \"item\" WHERE \(sql)")
        }
    }

    @Test("none() adds a false condition to a request")
    func noRows() throws {
        let (queue, recorder) = try makeQueue()
        try queue.read { (db) throws in
            _ = try Item.filter(Column("weight") == 1).none().fetchAll(db)
            #expect(lastSelect(recorder) == "SELECT * FROM \"item\" WHERE (\"weight\" = 1) AND 0")
            #expect(try Item.none().databaseRegion(db).isEmpty)
        }
    }

    @Test("the region of a request that cannot return rows is empty")
    func emptyRegions() throws {
        let (queue, _) = try makeQueue()
        try queue.read { (db) throws in
            #expect(try Item.filter(Column("id") == nil).databaseRegion(db).isEmpty)
            #expect(try Item.filter(Column("id") === nil).databaseRegion(db).isEmpty)
            #expect(try Item.filter(nil == Column("id")).databaseRegion(db).isEmpty)
            #expect(try Item.filter(([] as [Int]).contains(Column("weight"))).databaseRegion(db).isEmpty)
            #expect(try !Item.filter(Column("label") == nil).databaseRegion(db).isEmpty)
            #expect(try !Item.filter(Column("id") != nil).databaseRegion(db).isEmpty)
        }
    }
}
