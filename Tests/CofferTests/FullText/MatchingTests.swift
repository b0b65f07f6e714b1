import Coffer
import CofferTestSupport
import Dispatch
import Testing

@Suite("Full-text requests")
struct MatchingTests {
    private struct NoteText: TableRecord, FetchableRecord, Decodable, Equatable {
        static var databaseSelection: [any SQLSelectable] { [.allColumns, .rowID] }
        enum Columns {
            static let title = Column("title")
            static let body = Column("body")
        }

        var rowid: Int64
        var title: String
        var body: String
    }

    /// The same table, with only its columns selected.
    private struct Text: TableRecord {
        static let databaseTableName = "noteText"
    }

    private static let rows = """
        INSERT INTO noteText(rowid, title, body) VALUES
            (1, 'Tulips', 'A red tulip, and another tulip'), (2, 'Roses', 'The red rose that stands beside \
        each of the tulip beds'),
            (3, 'Oaks', 'green')
        """

    private func inDatabase(fts4 isOld: Bool = false, _ body: (Database) throws -> Void) throws {
        try DatabaseQueue().inDatabase { db throws in
            if isOld {
                try db.create(virtualTable: "noteText", using: FTS4()) { t in
                    t.column("title"); t.column("body")
                }
            } else {
                try db.create(virtualTable: "noteText", using: FTS5()) { t in
                    t.tokenizer = .porter()
                    t.column("title")
                    t.column("body")
                }
            }
            try db.execute(sql: MatchingTests.rows)
            try body(db)
        }
    }

    private func sql(_ db: Database, _ request: some FetchRequest) throws -> BuiltSQL {
        let statement = try request.makePreparedRequest(db, forSingleResult: false).statement
        return BuiltSQL(statement.sql, statement.arguments)
    }

    @Test("the SQL of searches", arguments: [false, true])
    func searches(isOld: Bool) throws {
        let pattern = try FTS5Pattern(rawPattern: "red")
        let older = try FTS3Pattern(rawPattern: "red")
        try inDatabase(fts4: isOld) { db throws in
            let match = BuiltSQL(#"SELECT * FROM "noteText" WHERE "noteText" MATCH ?"#, ["red"])
            #expect(try sql(db, Text.matching(pattern)) == match)
            #expect(try sql(db, Text.matching(older)) == match)
            #expect(try sql(db, Text.all().matching(pattern)) == match)
            #expect(
                try Text.matching(pattern).fetchCount(db) == 2 && Text.matching(older).fetchCount(db) == 2)
            #expect(try Row.fetchAll(db, Text.matching(pattern)).count == 2)
            let none = BuiltSQL(#"SELECT * FROM "noteText" WHERE 0"#)
            #expect(try sql(db, Text.matching(nil as FTS5Pattern?)) == none)
            #expect(try sql(db, Text.matching(nil as FTS3Pattern?)) == none)
            let column = BuiltSQL(#"SELECT * FROM "noteText" WHERE "title" MATCH ?"#, ["red"])
            #expect(try sql(db, Text.filter(Column("title").match(pattern))) == column)
            #expect(try sql(db, Text.filter(Column("title").match(older))) == column)
            #expect(try Text.filter(Column("title").match(pattern)).fetchCount(db) == 0)
            #expect(try Text.filter(Column("body").match(older)).fetchCount(db) == 2)
            let null = try sql(db, Text.filter(Column("title").match(nil as FTS3Pattern?)))
            #expect(null == BuiltSQL(#"SELECT * FROM "noteText" WHERE "title" MATCH NULL"#))
            #expect(
                try sql(db, Text.matching(pattern).filter(Column("title") == "Roses"))
                    == BuiltSQL(
                        #"SELECT * FROM "noteText" WHERE ("noteText" MATCH ?) AND ("title" = ?)"#,
                        ["red", "Roses"]))
            #expect(
                try Row.fetchAll(
                    db, sql: "SELECT * FROM noteText WHERE noteText MATCH ?", arguments: [pattern]
                ).count == 2)
            #expect(
                try SQLRequest<Row>(literal: "SELECT * FROM noteText WHERE noteText MATCH \(older)").fetchAll(
                    db
                ).count == 2)
            #expect(try Text.filter(sql: "noteText MATCH ?", arguments: [pattern]).fetchCount(db) == 2)
        }
    }

    @Test("records have the row ID, rank sorts, and counts count")
    func ranking() throws {
        let pattern = try #require(FTS5Pattern(matchingAllPrefixesIn: "tul"))
        try inDatabase { db throws in
            let request = NoteText.matching(pattern).order(Column.rank)
            #expect(
                try sql(db, request)
                    == BuiltSQL(
                        #"SELECT *, "rowid" FROM "noteText" WHERE "noteText" MATCH ? ORDER BY "rank""#,
                        ["tul*"]))
            #expect(try request.fetchAll(db).map(\.rowid) == [1, 2])
            #expect(try request.fetchCount(db) == 2)
            #expect(try NoteText.fetchOne(db, key: 3)?.title == "Oaks")
            var counted: [String] = []
            db.trace {
                if case .statement(let statement) = $0, !statement.sql.hasPrefix("--") {
                    counted.append(statement.sql)
                }
            }
            _ = try Text.matching(pattern).fetchCount(db)
            #expect(counted == [#"SELECT COUNT(*) FROM "noteText" WHERE "noteText" MATCH ?"#])
        }
    }

    @Test("a search under an alias uses the table's hidden column")
    func alias() throws {
        let pattern = try FTS5Pattern(rawPattern: "red")
        try inDatabase { db throws in
            let alias = TableAlias<Text>(name: "n")
            let request = Text.aliased(alias).matching(pattern)
            #expect(
                try sql(db, request)
                    == BuiltSQL(#"SELECT "n".* FROM "noteText" "n" WHERE "n"."noteText" MATCH ?"#, ["red"]))
            #expect(try request.fetchCount(db) == 2)
            #expect(throws: DatabaseError.self) {
                try Row.fetchAll(db, sql: #"SELECT * FROM noteText n WHERE "n" MATCH 'red'"#)
            }
            let outer = TableAlias(name: "outside")
            let nested = Text.matching(pattern).filter(Column("rowid") == outer[Column("rowid")])
            #expect(try Table("noteText").aliased(outer).filter(nested.exists()).fetchCount(db) == 2)
        }
    }

    @Test("a pattern that does not fit the table throws when the request is used")
    func misfit() throws {
        let pattern = try FTS3Pattern(rawPattern: "red.")
        try inDatabase { db throws in
            let error = #expect(throws: DatabaseError.self) { try Row.fetchAll(db, Text.matching(pattern)) }
            #expect(error?.resultCode == .SQLITE_ERROR)
        }
    }

    // MARK: Functions

    @Test("snippets, highlights and weights")
    func functions() throws {
        let pattern = try #require(FTS5Pattern(matchingAllTokensIn: "tulip"))
        try inDatabase { db throws in
            let found = Text.matching(pattern)
            let highlight = FTS5.highlight(Column("body"), from: "[", to: "]")
            #expect(
                try sql(db, found.select(highlight.forKey("body")))
                    == BuiltSQL(
                        #"SELECT HIGHLIGHT("noteText", 1, ?, ?) AS "body" FROM "noteText" WHERE "noteText" MATCH ?"#,
                        ["[", "]", "tulip"]))
            #expect(
                try String.fetchAll(db, found.select(highlight).order(Column.rowID))
                    == [
                        "A red [tulip], and another [tulip]",
                        "The red rose that stands beside each of the [tulip] beds",
                    ])
            let snippet = FTS5.snippet(from: "<", to: ">", ellipsis: "…", tokenCount: 3)
            #expect(
                try sql(db, found.select(snippet))
                    == BuiltSQL(
                        #"SELECT SNIPPET("noteText", -1, ?, ?, ?, ?) FROM "noteText" WHERE "noteText" MATCH ?"#,
                        ["<", ">", "…", 3, "tulip"]))
            #expect(
                try String.fetchAll(
                    db,
                    found.filter(Column.rowID == 2).select(
                        FTS5.snippet(Column("body"), from: "<", to: ">", ellipsis: "…", tokenCount: 3)))
                    == ["…the <tulip> beds"])
            #expect(
                try sql(db, found.order(FTS5.bm25(weights: [10, 0.5]), FTS5.bm25()))
                    == BuiltSQL(
                        #"SELECT * FROM "noteText" WHERE "noteText" MATCH ? ORDER BY BM25("noteText", ?, ?), BM25("noteText")"#,
                        ["tulip", 10.0, 0.5]))
            // Only the title counts, then only the body.
            try db.execute(
                sql: "INSERT INTO noteText(rowid, title, body) VALUES (4, 'x', 'tulip tulip tulip tulip')")
            #expect(
                try Int64.fetchAll(db, found.select(Column.rowID).order(FTS5.bm25(weights: [1000, 0.001])))
                    .first == 1)
            #expect(
                try Int64.fetchAll(db, found.select(Column.rowID).order(FTS5.bm25(weights: [0.001, 1000])))
                    .first == 4)
            let ranks = try Row.fetchAll(db, found.select(FTS5.bm25(), Column.rank))
            #expect(ranks.allSatisfy { $0[0] as Double == $0[1] as Double } && ranks.count == 3)
            // Also under an alias, including within the aliased request.
            let alias = TableAlias<Text>(name: "n")
            #expect(
                try String.fetchAll(
                    db, found.aliased(alias).filter(Column.rowID == 4).select(alias[highlight]))
                    == ["[tulip] [tulip] [tulip] [tulip]"])
        }
    }

    @Test("auxiliary functions throw for an unknown column, and outside of a search")
    func misusedFunctions() async throws {
        let pattern = try FTS5Pattern(rawPattern: "red")
        try inDatabase { db throws in
            let error = #expect(throws: DatabaseError.self) {
                try String.fetchAll(
                    db, Text.matching(pattern).select(FTS5.highlight(Column("absent"), from: "", to: "")))
            }
            #expect(error?.message == "no such column: absent in the table noteText")
            #expect(throws: DatabaseError.self) { try db.execute(literal: "SELECT \(FTS5.bm25())") }
            #expect(throws: DatabaseError.self) {
                try Row.fetchAll(db, Table("sqlite_master").select(FTS5.bm25()))
            }
        }
        await #expect(processExitsWith: .failure) {
            _ = FTS5.snippet(from: "", to: "", ellipsis: "", tokenCount: 0)
        }
        await #expect(processExitsWith: .failure) {
            _ = FTS5.snippet(from: "", to: "", ellipsis: "", tokenCount: 65)
        }
    }

    // MARK: Observation

    @Test(
        "an observation of a search is notified only of writes to its table, including by triggers",
        .timeLimit(.minutes(5)),
        arguments: Access.allCases)
    func observation(access: Access) async throws {
        try await withTestDirectory { directory async throws in
            let writer = try directory.make(access)
            try await writer.write { db throws in
                try db.execute(
                    sql:
                        "CREATE TABLE note(id INTEGER PRIMARY KEY, title TEXT, body TEXT); CREATE TABLE other(a)"
                )
                try db.create(virtualTable: "noteText", using: FTS5()) { t in
                    t.synchronize(withTable: "note")
                    t.column("title")
                    t.column("body")
                }
                try db.create(virtualTable: "alone", using: FTS5()) { t in t.column("body") }
            }
            let pattern = try FTS5Pattern(rawPattern: "red")
            let log = ValueLog<[Int]>()
            let observation = ValueObservation.tracking { db in
                [
                    try Text.matching(pattern).fetchCount(db),
                    try Table("alone").matching(pattern).fetchCount(db),
                ]
            }
            let queue = DispatchQueue(label: "values")
            let cancellable = observation.start(
                in: writer, scheduling: .async(onQueue: queue), onError: log.fail, onChange: log.append)
            await log.values(upTo: [0, 0])
            let steps = [
                ("INSERT INTO note VALUES (1, 'Tulips', 'red')", [1, 0]),
                ("INSERT INTO other VALUES (1)", [1, 0]),
                ("INSERT INTO alone VALUES ('red')", [1, 1]), ("UPDATE note SET body = 'green'", [0, 1]),
                ("DELETE FROM alone", [0, 0]),
            ]
            for (sql, value) in steps {
                try await writer.write { db throws in try db.execute(sql: sql) }
                await log.values(upTo: value)
            }
            #expect(log.values == [[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]])
            cancellable.cancel()
        }
    }
}
