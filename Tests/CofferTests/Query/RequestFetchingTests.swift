import Coffer
import CofferTestSupport
import Testing

@Suite("Fetching from requests")
struct RequestFetchingTests {
    /// Returns the executed SQL.
    private func executed(_ body: (Database) throws -> Void) throws -> [String] {
        let recorder = SQLRecorder()
        try makeLeague().read { db throws in
            recorder.record(db)
            try body(db)
            db.trace(nil)
        }
        return recorder.statements
    }

    private func executed<T: Equatable>(_ expected: T, _ body: (Database) throws -> T) throws -> [String] {
        try executed { db throws in #expect(try body(db) == expected) }
    }

    // MARK: - One row

    @Test("fetching one row adds LIMIT 1, unless the request has a limit or returns at most one row")
    func singleResults() throws {
        func sql(_ request: some FetchRequest) throws -> String {
            try makeLeague().read { try request.makePreparedRequest($0, forSingleResult: true).statement.sql }
        }
        #expect(try sql(Player.all()) == #"SELECT * FROM "player" LIMIT 1"#)
        #expect(try sql(Player.filter(id: 1)) == #"SELECT * FROM "player" WHERE "id" = ?"#)
        #expect(try sql(Player.filter { $0.id == 1 }) == #"SELECT * FROM "player" WHERE "id" = ?"#)
        #expect(
            try sql(Player.filter { 1 == $0.id && $0.score > 2 })
                == #"SELECT * FROM "player" WHERE (? = "id") AND ("score" > ?)"#)
        #expect(try sql(Player.filter { $0.email == "x" }) == #"SELECT * FROM "player" WHERE "email" = ?"#)
        #expect(
            try sql(Player.filter { $0.email == nil })
                == #"SELECT * FROM "player" WHERE "email" IS NULL LIMIT 1"#)
        #expect(try sql(Player.filter { $0.id == nil }) == #"SELECT * FROM "player" WHERE "id" IS NULL"#)
        #expect(
            try sql(Citizenship.filter { $0.citizenId == nil && $0.countryCode == "FR" })
                == #"SELECT * FROM "citizenship" WHERE ("citizenId" IS NULL) AND ("countryCode" = ?) LIMIT 1"#
        )
        #expect(try sql(Player.filter(Column.rowID == 1)) == #"SELECT * FROM "player" WHERE "rowid" = ?"#)
        #expect(
            try sql(Player.filter { $0.name == "x" }) == #"SELECT * FROM "player" WHERE "name" = ? LIMIT 1"#)
        #expect(
            try sql(Player.filter { $0.id == $0.score })
                == #"SELECT * FROM "player" WHERE "id" = "score" LIMIT 1"#)
        #expect(
            try sql(Player.filter { $0.id == 1 || $0.id == 2 })
                == #"SELECT * FROM "player" WHERE ("id" = ?) OR ("id" = ?) LIMIT 1"#)
        #expect(try sql(Player.filter(sql: "id = 1")) == #"SELECT * FROM "player" WHERE id = 1 LIMIT 1"#)
        #expect(
            try sql(Citizenship.filter { $0.citizenId == 1 })
                == #"SELECT * FROM "citizenship" WHERE "citizenId" = ? LIMIT 1"#)
        #expect(
            try sql(Citizenship.filter { $0.citizenId == 1 && $0.countryCode == "FR" })
                == #"SELECT * FROM "citizenship" WHERE ("citizenId" = ?) AND ("countryCode" = ?)"#)
        #expect(try sql(Player.select { max($0.score) }) == #"SELECT MAX("score") FROM "player""#)
        #expect(
            try sql(Player.select { [max($0.score).forKey("max"), count($0.id)] })
                == #"SELECT MAX("score") AS "max", COUNT("id") FROM "player""#)
        #expect(
            try sql(Player.select { [max($0.score), $0.id] })
                == #"SELECT MAX("score"), "id" FROM "player" LIMIT 1"#)
        #expect(
            try sql(Player.select { max($0.score) }.group(\.teamId))
                == #"SELECT MAX("score") FROM "player" GROUP BY "teamId" LIMIT 1"#)
        #expect(try sql(Player.limit(10, offset: 3)) == #"SELECT * FROM "player" LIMIT 10 OFFSET 3"#)
        #expect(try sql(Player.limit(-1)) == #"SELECT * FROM "player" LIMIT -1"#)
        #expect(try sql(Player.limit(0)) == #"SELECT * FROM "player" LIMIT 0"#)
        #expect(
            try sql(Table("coach").filter(Column("id") == 1))
                == #"SELECT * FROM "coach" WHERE "id" = ? LIMIT 1"#)
    }

    @Test("fetching one row adds LIMIT 1 again after a unique index is dropped")
    func keyThatIsDropped() throws {
        try makeLeague().write { db throws in
            try db.execute(
                sql: "CREATE TABLE t (a); CREATE UNIQUE INDEX i ON t (a); INSERT INTO t VALUES (1)")
            let request = Table("t").filter(Column("a") == 1)
            #expect(try request.fetchOne(db) == ["a": 1])
            try db.execute(sql: "DROP INDEX i; INSERT INTO t VALUES (1)")
            #expect(try request.fetchOne(db) == ["a": 1])
            #expect(try request.fetchAll(db).count == 2)
            #expect(
                try request.makePreparedRequest(db, forSingleResult: true).statement.sql.hasSuffix("LIMIT 1"))
        }
    }

    // MARK: - Counting

    @Test("requests count their rows")
    func counting() throws {
        let count = #"SELECT COUNT(*) FROM "player""#
        #expect(try executed(6) { try Player.fetchCount($0) } == [count])
        #expect(
            try executed(4) { try Player.filter { $0.email != nil }.fetchCount($0) } == [
                count + #" WHERE "email" IS NOT NULL"#
            ])
        #expect(try executed(6) { try Player.select(\.name).order(\.name).fetchCount($0) } == [count])
        #expect(
            try executed(5) { try Player.select(\.name).distinct().fetchCount($0) } == [
                #"SELECT COUNT(DISTINCT "name") FROM "player""#
            ])
        #expect(
            try executed(5) { try Player.select { $0.score.forKey("s") }.distinct().fetchCount($0) }
                == [#"SELECT COUNT(DISTINCT "score") FROM "player""#])
        #expect(
            try executed(6) {
                try Player.select { [$0.name, $0.score] }.distinct().order(\.name).fetchCount($0)
            }
                == [#"SELECT COUNT(*) FROM (SELECT DISTINCT "name", "score" FROM "player")"#])
        #expect(
            try executed(6) { try Player.all().distinct().fetchCount($0) } == [
                #"SELECT COUNT(*) FROM (SELECT DISTINCT * FROM "player")"#
            ])
        #expect(
            try executed(2) { try Player.limit(2).fetchCount($0) } == [
                #"SELECT COUNT(*) FROM (SELECT * FROM "player" LIMIT 2)"#
            ])
        #expect(
            try executed(1) { try Player.select { max($0.score) }.fetchCount($0) } == [
                #"SELECT COUNT(*) FROM (SELECT MAX("score") FROM "player")"#
            ])
        #expect(
            try executed(3) { try Player.select(\.teamId).group(\.teamId).fetchCount($0) }
                == [#"SELECT COUNT(*) FROM (SELECT "teamId" FROM "player" GROUP BY "teamId")"#])
        #expect(
            try executed(1) { try Player.select(sql: "COUNT(*)").fetchCount($0) } == [
                #"SELECT COUNT(*) FROM (SELECT COUNT(*) FROM "player")"#
            ])
        let alias = TableAlias(name: "p")
        #expect(
            try executed(5) { try Player.aliased(alias).select(alias["name"]).distinct().fetchCount($0) }
                == [#"SELECT COUNT(DISTINCT "p"."name") FROM "player" "p""#])
        let cte = CommonTableExpression<Int>(named: "one", sql: "SELECT 1")
        let counting = #"SELECT COUNT(*) FROM (WITH "one" AS (SELECT 1) SELECT * FROM "one")"#
        #expect(try executed(1) { try cte.all().with(cte).fetchCount($0) } == [counting])
        #expect(try makeLeague().read { try Table("player").fetchCount($0) } == 6)
    }

    @Test("requests and keys report whether there are rows")
    func existence() throws {
        #expect(
            try executed(false) { try Player.all().isEmpty($0) } == [
                #"SELECT EXISTS (SELECT * FROM "player")"#
            ])
        #expect(
            try executed(true) { try Player.filter { $0.score > 5000 }.isEmpty($0) } == [
                #"SELECT EXISTS (SELECT * FROM "player" WHERE "score" > ?)"#
            ])
        #expect(
            try executed(true) { try Player.exists($0, id: 1) } == [
                #"SELECT EXISTS (SELECT * FROM "player" WHERE "id" = ?)"#
            ])
        try makeLeague().read { db throws in
            #expect(try Player.exists(db, key: 1))
            #expect(try !Player.exists(db, key: 100))
            let address = "arthur@example.com"
            #expect(try Player.exists(db, key: ["email": address]))
            #expect(try !Citizenship.exists(db, key: ["citizenId": 9, "countryCode": "FR"]))
            #expect(try Table("player").exists(db, key: 1))
            #expect(try Table<Player>("player").exists(db, id: 1))
            #expect(try Table("player").exists(db, key: ["id": 1]))
        }
    }

    // MARK: - Values

    /// If such a statement is an operand, SQLite also counts duplicates.
    @Test("an offset skips distinct rows once each, also in existence checks and subqueries")
    func distinctOffsets() throws {
        try makeLeague().read { db in
            // Six players of three teams, one of which is NULL.
            let teams = Player.select(Player.Columns.teamId).distinct()
            for (offset, isEmpty) in [(2, false), (3, true)] {
                let request = teams.limit(5, offset: offset)
                #expect(try request.fetchCount(db) == 3 - offset)
                #expect(try request.isEmpty(db) == isEmpty)
                #expect(try SQLRequest<Bool>("SELECT \(request.exists())").fetchOne(db) == !isEmpty)
                #expect(try SQLRequest<Bool>("SELECT EXISTS (\(request))").fetchOne(db) == !isEmpty)
            }
            let last = teams.order(Player.Columns.teamId.desc).limit(1, offset: 3)
            #expect(try SQLRequest<Int>("SELECT ifnull((\(last)), 0)").fetchAll(db) == [0])
            let playersOfNone = try Player.filter(last.sqlExpression == nil).fetchCount(db)
            #expect(playersOfNone == 6)
        }
    }

    @Test("requests and tables fetch rows and values")
    func values() throws {
        try makeLeague().read { db throws in
            let names = Player.filter { $0.teamId == 1 }.select(\.name, as: String.self)
            #expect(try names.fetchAll(db) == ["Arthur", "Barbara"])
            #expect(try names.fetchSet(db) == ["Arthur", "Barbara"])
            #expect(try names.fetchOne(db) == "Arthur")
            #expect(try Array(names.fetchCursor(db)) == ["Arthur", "Barbara"])
            #expect(try Int.fetchOne(db, Player.select { max($0.score) }) == 1000)
            #expect(
                try Row.fetchOne(db, Player.select { [min($0.score), max($0.score)] }) == [
                    "MIN(\"score\")": -7, "MAX(\"score\")": 1000,
                ])
            let best = Player.select({ max($0.score) }, as: Int.self)
            #expect(try best.fetchOne(db) == 1000)
            #expect(try Player.selectID().fetchSet(db) == [1, 2, 3, 4, 5, 6])
            #expect(try Note.limit(1).asRequest(of: Row.self).fetchAll(db) == [["text": "first"]])
            let notes = Table("note")
            #expect(try notes.fetchAll(db).count == 3)
            #expect(try notes.fetchSet(db).count == 3)
            #expect(try notes.fetchOne(db) == ["text": "first"])
            #expect(try notes.fetchCursor(db).next() == ["text": "first"])
            let ids = Table<Int64>("player")
            #expect(try ids.fetchAll(db) == [1, 2, 3, 4, 5, 6])
            #expect(try ids.fetchSet(db) == [1, 2, 3, 4, 5, 6])
            #expect(try ids.fetchOne(db) == 1)
            #expect(try ids.fetchCursor(db).next() == 1)
            let values = Table<DatabaseValue>("player")
            #expect(try values.fetchAll(db).count == 6)
            #expect(try values.fetchSet(db).count == 6)
            #expect(try values.fetchOne(db) == 1.databaseValue)
            #expect(try values.fetchCursor(db).next() == 1.databaseValue)
            #expect(try Player.numberOfSelectedColumns(db) == 7)
            #expect(try PlayerName.numberOfSelectedColumns(db) == 2)
        }
    }

    @Test("erased and adapted requests forward to the request")
    func forwarding() throws {
        try makeLeague().read { db throws in
            let request = Player.filter { $0.teamId == 1 }.asRequest(of: Row.self)
            let adapted = request.adapted { _ in RangeRowAdapter(0..<1) }
            #expect(try adapted.fetchAll(db) == [["id": 1], ["id": 2]])
            #expect(try adapted.fetchCount(db) == 2)
            let erased = AnyFetchRequest(request)
            #expect(try erased.fetchCount(db) == 2)
            #expect(try erased.fetchOne(db)?["name"] == "Arthur")
            #expect(try Player.filter(adapted.contains(1.databaseValue)).none().isEmpty(db))
        }
    }

    @Test("a request type can be extended for all requests of a record type")
    func derivedRequests() throws {
        func best<Request: DerivableRequest<Player>>(_ request: Request) -> Request {
            request.filter { $0.score > 100 }.order(\.score.desc).select(\.id).distinct().aliased(
                TableAlias(name: "p"))
        }
        let request = best(Player.all())
        #expect(
            try makeLeague().read { try request.makePreparedRequest($0).statement.sql }
                == #"SELECT DISTINCT "p"."id" FROM "player" "p" WHERE "p"."score" > ? ORDER BY "p"."score" DESC"#
        )
    }

    // MARK: - Statements

    @Test("the statement of a request is prepared once, and not shared by cursors that live at the same time")
    func statementReuse() throws {
        try makeLeague().read { db throws in
            let request: (Int) -> QueryInterfaceRequest<Int64> = { score in
                Player.filter { $0.score >= score }.selectID()
            }
            let first = ObjectIdentifier(try request(0).makePreparedRequest(db).statement)
            let second = ObjectIdentifier(try request(1).makePreparedRequest(db).statement)
            #expect(first == second)
            // Both are prepared before either is read, and their steps alternate.
            let good = try request(1000).fetchCursor(db)
            let all = try request(-100).fetchCursor(db)
            #expect(try good.next() == 1)
            #expect(try all.next() == 1)
            #expect(try request(1000).fetchAll(db) == [1, 3])
            #expect(try good.next() == 3)
            #expect(try Array(all) == [2, 3, 4, 5, 6])
            #expect(try good.next() == nil)
            // A statement that the application retains is not shared.
            let prepared = try request(1000).makePreparedRequest(db)
            #expect(try request(0).fetchAll(db).count == 5)
            #expect(try Int64.fetchAll(prepared.statement) == [1, 3])
        }
    }

    @Test("a request sees columns that were added after it was used")
    func schemaChange() throws {
        try makeLeague().write { db throws in
            let request = Table("note").filter(Column.rowID == 1)
            #expect(try request.fetchOne(db) == ["text": "first"])
            #expect(try request.fetchAll(db) == [["text": "first"]])
            try db.execute(sql: "ALTER TABLE note ADD COLUMN added DEFAULT 1")
            #expect(try request.fetchOne(db) == ["text": "first", "added": 1])
            #expect(try request.fetchAll(db) == [["text": "first", "added": 1]])
            let region = try request.databaseRegion(db).description
            #expect(region == "note(added,ROWID,text)[1]")
        }
    }

    @Test("a request can read the database while it is prepared")
    func readingWhileConnecting() throws {
        try makeLeague().read { db throws in
            let request = Player.all().filterWhenConnected { db in
                try Column("id") == Player.filter { $0.name == "Craig" }.selectID().fetchOne(db) ?? 0
            }
            #expect(try request.selectID().fetchOne(db) == 3)
            #expect(try request.selectID().fetchAll(db) == [3])
        }
    }
}
