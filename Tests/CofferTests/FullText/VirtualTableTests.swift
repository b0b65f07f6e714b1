import Coffer
import CofferTestSupport
import Testing

@Suite("Virtual tables")
struct VirtualTableTests {
    /// An R*Tree, as in the documentation of `VirtualTableModule`.
    private struct Places: VirtualTableModule {
        final class Definition {
            var dimensions: [String] = []
        }

        let moduleName = "rtree"
        var complete: @Sendable (Database, String, Definition) throws -> Void = { _, _, _ in }

        func makeTableDefinition(configuration: VirtualTableConfiguration) -> Definition { Definition() }

        func moduleArguments(for definition: Definition, in db: Database) -> [String] {
            ["id"] + definition.dimensions.flatMap { ["\($0)Min", "\($0)Max"] }
        }

        func database(_ db: Database, didCreate tableName: String, using definition: Definition) throws {
            try complete(db, tableName, definition)
        }
    }

    /// A module without arguments.
    private struct Bare: VirtualTableModule {
        var moduleName = "fts3"

        func makeTableDefinition(configuration: VirtualTableConfiguration) {}
        func moduleArguments(for definition: Void, in db: Database) -> [String] { [] }
        func database(_ db: Database, didCreate tableName: String, using definition: Void) {}
    }

    private struct Refusal: Error {}

    @Test("the SQL of virtual tables")
    func sql() throws {
        let sql = try recordedSQL { db throws in
            try db.create(virtualTable: "a", using: "rtree(id, x0, x1)")
            try db.create(virtualTable: "a", options: .ifNotExists, using: "rtree(id, x0, x1)")
            try db.create(virtualTable: "b", options: [.ifNotExists, .temporary], using: "rtree(id, x0, x1)")
            try db.create(virtualTable: "a", ifNotExists: true, using: "fts5(x)")
            try db.create(virtualTable: "it's \"c\"", using: "rtree(id, x0, x1)")
            try db.create(virtualTable: "d", using: Places()) { $0.dimensions = ["x", "y"] }
            try db.create(virtualTable: "d", ifNotExists: true, using: Places()) { $0.dimensions = ["z"] }
            try db.create(virtualTable: "e", options: .temporary, using: Bare())
        }
        #expect(
            sql == [
                #"CREATE VIRTUAL TABLE "a" USING rtree(id, x0, x1)"#,
                #"CREATE VIRTUAL TABLE IF NOT EXISTS "a" USING rtree(id, x0, x1)"#,
                #"CREATE VIRTUAL TABLE IF NOT EXISTS temp."b" USING rtree(id, x0, x1)"#,
                #"CREATE VIRTUAL TABLE IF NOT EXISTS "a" USING fts5(x)"#,
                #"CREATE VIRTUAL TABLE "it's ""c""" USING rtree(id, x0, x1)"#,
                "BEGIN IMMEDIATE TRANSACTION",
                #"CREATE VIRTUAL TABLE "d" USING rtree(id, xMin, xMax, yMin, yMax)"#,
                "COMMIT TRANSACTION",
                "BEGIN IMMEDIATE TRANSACTION",
                #"CREATE VIRTUAL TABLE IF NOT EXISTS "d" USING rtree(id, zMin, zMax)"#,
                "COMMIT TRANSACTION",
                "BEGIN IMMEDIATE TRANSACTION",
                #"CREATE VIRTUAL TABLE temp."e" USING fts3"#,
                "COMMIT TRANSACTION",
            ])
    }

    @Test(
        "a table and the additions of its module are created together, or not at all",
        arguments: [false, true])
    func completion(isInTransaction: Bool) throws {
        try DatabaseQueue().inDatabase { db throws in
            let create = {
                (complete: @escaping @Sendable (Database, String, Places.Definition) throws -> Void) in
                try db.create(virtualTable: "place", using: Places(complete: complete)) {
                    $0.dimensions = ["x"]
                }
            }
            if isInTransaction { try db.beginTransaction() }
            #expect(throws: Refusal.self) {
                try create { db, name, definition throws in
                    try db.execute(sql: "INSERT INTO place VALUES (1, 0, 1)")
                    #expect(name == "place" && definition.dimensions == ["x"])
                    throw Refusal()
                }
            }
            #expect(try !db.tableExists("place"))
            #expect(db.isInsideTransaction == isInTransaction)
            try create { db, _, _ throws in try db.execute(sql: "INSERT INTO place VALUES (1, 0, 1)") }
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM place WHERE xMin < 0.5") == 1)
            if isInTransaction { try db.commit() }
            try db.drop(table: "place")
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_master") == 0)
        }
    }

    @Test("an invalid definition throws, and a module cannot add a second statement")
    func definitionErrors() throws {
        try DatabaseQueue().inDatabase { db throws in
            #expect(throws: Refusal.self) {
                try db.create(virtualTable: "a", using: Places()) { _ in throw Refusal() }
            }
            #expect(throws: DatabaseError.self) {
                try db.create(virtualTable: "a", using: Bare(moduleName: "no module; DROP TABLE x"))
            }
            // A single statement, regardless of the text.
            #expect(throws: DatabaseError.self) {
                try db.create(virtualTable: "a", using: "rtree(id, x0, x1); CREATE TABLE second (a)")
            }
            #expect(
                try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_master WHERE name = 'second'") == 0)
        }
    }

    @Test("hostile names stay names", arguments: hostileTexts)
    func hostileNames(name: String) throws {
        try makeCanaryQueue().inDatabase { db throws in
            // The modules reject invalid names. SQLite's modules create shadow tables, whose names begin with
            // the name of the table.
            try? db.create(virtualTable: "hostile\(name)", using: Places()) { $0.dimensions = ["x"] }
            try? db.create(virtualTable: "hostile1", using: FTS3()) { t in t.column(name) }
            try? db.create(virtualTable: "hostile2", using: FTS4()) { t in
                t.column(name).notIndexed()
                t.column("b")
                t.content = name
                t.compress = name
                t.uncompress = name
                t.matchinfo = name
            }
            try? db.create(virtualTable: "hostile3", using: FTS4()) { t in t.column(name).asLanguageId() }
            try? db.create(virtualTable: "hostile4", using: FTS5()) { t in
                t.column(name).notIndexed()
                t.column("b")
                t.content = name
                t.contentRowID = name
                t.detail = name
            }
            try? db.create(virtualTable: "hostile5", using: FTS5()) { t in
                t.tokenizer = FTS5TokenizerDescriptor(components: [name, name])
                t.column("b")
            }
            // The modules create their own tables and indexes, which are named after the table.
            let others = "SELECT name FROM sqlite_master WHERE tbl_name NOT LIKE 'hostile%'"
            #expect(try String.fetchAll(db, sql: others) == ["canary"])
            #expect(try Row.fetchAll(db, sql: "SELECT * FROM canary") == [["id": 1, "name": "alive"]])
        }
    }

    @Test("columns of full-text tables may have names that are not plain words")
    func unusualColumnNames() throws {
        try DatabaseQueue().inDatabase { db throws in
            let names = ["it's", "a \"b\"", "sélect", "a,b", "tokenize"]
            try db.create(virtualTable: "a", using: FTS3()) { t in names.forEach { t.column($0) } }
            try db.create(virtualTable: "b", using: FTS4()) { t in
                names.forEach { t.column($0).notIndexed() }; t.column("body")
            }
            try db.create(virtualTable: "c", using: FTS5()) { t in
                names.forEach { t.column($0).notIndexed() }; t.column("body")
            }
            #expect(try db.columns(in: "a").map(\.name) == names)
            #expect(try db.columns(in: "b").map(\.name) == names + ["body"])
            #expect(try db.columns(in: "c").map(\.name) == names + ["body"])
        }
    }
}
