import Coffer
import CofferTestSupport
import Testing

@Suite("JSON")
struct JSONTests {
    private struct Item: TableRecord {
        enum Columns {
            static let id = Column("id")
            static let title = Column("title")
            static let info = JSONColumn("info")
        }
    }

    private enum Key: String, CodingKey { case info }

    private static let schema = """
        CREATE TABLE item (id INTEGER PRIMARY KEY, title TEXT, info TEXT);
        INSERT INTO item VALUES
            (1, 'Key', '{"color":"red","size":{"height":3},"tags":["a","b"],"country":"DE"}'), (2, 'Card', \
        '{"color":"blue","tags":[]}')
        """

    private let info = JSONColumn("info")

    private func inDatabase(_ body: (Database) throws -> Void) throws {
        try DatabaseQueue().inDatabase { db throws in
            try db.execute(sql: JSONTests.schema)
            try body(db)
        }
    }

    /// Returns an expression as SQL with literal values, and executes it to check that SQLite accepts it.
    private func sql(_ expression: some SQLSpecificExpressible) throws -> String {
        var result = ""
        try inDatabase { db throws in
            let request = Table("item").select(expression)
            let statement = try request.makePreparedRequest(db, forSingleResult: false).statement
            var recorded = ""
            db.trace { if case .statement(let statement) = $0 { recorded = statement.expandedSQL } }
            _ = try Row.fetchAll(statement)
            #expect(recorded.hasPrefix("SELECT ") && recorded.hasSuffix(#" FROM "item""#))
            result = String(recorded.dropFirst(7).dropLast(12))
        }
        return result
    }

    // MARK: Columns and paths

    @Test("parts of a JSON value")
    func parts() throws {
        #expect(try sql(info["score"]) == #""info" ->> 'score'"#)
        #expect(try sql(info["$.a.b"]) == #""info" ->> '$.a.b'"#)
        #expect(try sql(info[0]) == #""info" ->> 0"#)
        #expect(try sql(info.jsonExtract(atPath: "$.score")) == #"JSON_EXTRACT("info", '$.score')"#)
        #expect(try sql(info.jsonExtract(atPaths: ["$.a", "$.b"])) == #"JSON_EXTRACT("info", '$.a', '$.b')"#)
        #expect(try sql(info.jsonRepresentation(atPath: "a")) == #""info" -> 'a'"#)
        #expect(try sql(Column("info").asJSON["a"]) == #""info" ->> 'a'"#)
        #expect(try sql(AnySQLJSONExpressible(info)["a"]) == #""info" ->> 'a'"#)
        #expect(try sql(info["a"].asJSON["b"]) == #"("info" ->> 'a') ->> 'b'"#)
        #expect(try sql(info.jsonRepresentation(atPath: "a").asJSON["b"]) == #"("info" -> 'a') ->> 'b'"#)
        #expect(try sql(JSONColumn(Key.info)[Column("title")]) == #""info" ->> "title""#)
    }

    @Test("requests with JSON columns")
    func requests() throws {
        try inDatabase { db throws in
            func check(_ request: some FetchRequest, _ expected: String, _ arguments: StatementArguments = [])
                throws
            {
                let statement = try request.makePreparedRequest(db, forSingleResult: false).statement
                #expect(BuiltSQL(statement.sql, statement.arguments) == BuiltSQL(expected, arguments))
                _ = try Row.fetchAll(statement)
            }
            let country = #"SELECT * FROM "item" WHERE ("info" ->> ?) = ?"#
            try check(Item.filter(info["country"] == "DE"), country, ["country", "DE"])
            try check(Item.filter { $0.info["country"] == "DE" }, country, ["country", "DE"])
            try check(
                Item.select(info["country"].forKey("country")),
                #"SELECT "info" ->> ? AS "country" FROM "item""#, ["country"])
            try check(
                Item.order(info, info["a"].desc), #"SELECT * FROM "item" ORDER BY "info", "info" ->> ? DESC"#,
                ["a"])
            try check(Item.select(info, Column("info").asJSON), #"SELECT "info", "info" FROM "item""#)
            try check(Item.filter(info == "x"), #"SELECT * FROM "item" WHERE "info" = ?"#, ["x"])
            try check(Item.filter(info == nil), #"SELECT * FROM "item" WHERE "info" IS NULL"#)
            try check(
                Item.select { [$0.info["color"], count($0.id)] }.group { $0.info["color"] },
                #"SELECT "info" ->> ?, COUNT("id") FROM "item" GROUP BY "info" ->> ?"#, ["color", "color"])
            let alias = TableAlias<Item>(name: "t")
            let aliased = #"SELECT "t"."info" ->> ? FROM "item" "t""#
            try check(Item.aliased(alias).select(alias[info]["a"]), aliased, ["a"])
            try check(Item.aliased(alias).select(alias.info["a"]), aliased, ["a"])
            try check(Item.aliased(alias).select(alias[info["a"]]), aliased, ["a"])
            try check(
                Item.aliased(alias).select(Database.jsonArray([alias.info, alias[Column("info")].asJSON])),
                #"SELECT JSON_ARRAY(JSONB("t"."info"), JSONB("t"."info")) FROM "item" "t""#)
            #expect(try Item.filter { $0.info["color"] == "red" }.fetchCount(db) == 1)
            try Item.filter(key: 2).updateAll(db, info.set(to: "[]"), Column("title").set(to: info["color"]))
            #expect(
                try Row.fetchOne(db, sql: "SELECT title, info FROM item WHERE id = 2") == [
                    "title": "blue", "info": "[]",
                ])
        }
    }

    @Test("schema definitions contain literals instead of arguments")
    func definitions() throws {
        try DatabaseQueue().inDatabase { db throws in
            try db.create(table: "note") { t in
                t.primaryKey("id", .integer)
                t.column("info", .jsonText)
                t.column("raw", .jsonb)
                t.column("country", .text).generatedAs(JSONColumn("info").jsonExtract(atPath: "$.country"))
                t.column("city", .text).check { _ in JSONColumn("info")["city"] != nil }
            }
            try db.create(
                index: "byCountry", on: "note",
                expressions: [JSONColumn("info").jsonExtract(atPath: "$.country")])
            try db.create(
                index: "byObject", on: "note",
                expressions: [Database.jsonObject(["it's": JSONColumn("info")])])
            try db.create(index: "byInfo", on: "note", expressions: [JSONColumn("info")])
            let sql = try String.fetchAll(db, sql: "SELECT sql FROM sqlite_master")
            #expect(
                sql[0].contains(
                    #""country" TEXT GENERATED ALWAYS AS (JSON_EXTRACT("info", '$.country')) VIRTUAL"#))
            #expect(
                sql[0].contains(#""info" TEXT, "raw" BLOB"#)
                    && sql[0].contains(#"CHECK (("info" ->> 'city') IS NOT NULL)"#))
            #expect(
                sql.dropFirst() == [
                    #"CREATE INDEX "byCountry" ON "note"(JSON_EXTRACT("info", '$.country'))"#,
                    #"CREATE INDEX "byObject" ON "note"(JSON_OBJECT('it''s', JSONB("info")))"#,
                    #"CREATE INDEX "byInfo" ON "note"("info")"#,
                ])
            try db.execute(sql: #"INSERT INTO note(id, info) VALUES (1, '{"country":"DE","city":"Kiel"}')"#)
            let request = Table("note").filter(JSONColumn("info").jsonExtract(atPath: "$.country") == "DE")
            #expect(try request.fetchCount(db) == 1)
        }
    }

    // MARK: Functions

    @Test("functions that return JSON text or query JSON")
    func textFunctions() throws {
        let title = Column("title")
        #expect(try sql(Database.json(info)) == #"JSON("info")"#)
        #expect(try sql(Database.jsonArray([Column("id"), title])) == #"JSON_ARRAY("id", "title")"#)
        #expect(
            try sql(Database.jsonArray([1, "a", nil as String?, title] as [any SQLExpressible]))
                == #"JSON_ARRAY(1, 'a', NULL, "title")"#)
        #expect(try sql(Database.jsonArray([] as [Column])) == "JSON_ARRAY()")
        #expect(try sql(Database.jsonArrayLength(info)) == #"JSON_ARRAY_LENGTH("info")"#)
        #expect(
            try sql(Database.jsonArrayLength(info, atPath: "$.tags"))
                == #"JSON_ARRAY_LENGTH("info", '$.tags')"#)
        #expect(try sql(Database.jsonErrorPosition(title)) == #"JSON_ERROR_POSITION("title")"#)
        #expect(try sql(Database.jsonExtract(info, atPath: "$.a")) == #"JSON_EXTRACT("info", '$.a')"#)
        #expect(
            try sql(Database.jsonExtract(info, atPaths: ["$.a", "$.b"]))
                == #"JSON_EXTRACT("info", '$.a', '$.b')"#)
        #expect(try sql(Database.jsonInsert(info, ["$.a": 1])) == #"JSON_INSERT("info", '$.a', 1)"#)
        #expect(
            try sql(Database.jsonReplace(info, ["$.a": title])) == #"JSON_REPLACE("info", '$.a', "title")"#)
        #expect(
            try sql(Database.jsonSet(info, ["$.z": 1, "$.a": "x", "$.m": title]))
                == #"JSON_SET("info", '$.z', 1, '$.a', 'x', '$.m', "title")"#)
        #expect(try sql(Database.jsonObject(["k": 1, "a": title])) == #"JSON_OBJECT('k', 1, 'a', "title")"#)
        #expect(try sql(Database.jsonPatch(info, with: #"{"a":1}"#)) == #"JSON_PATCH("info", '{"a":1}')"#)
        #expect(try sql(Database.jsonRemove(info, atPath: "$.a")) == #"JSON_REMOVE("info", '$.a')"#)
        #expect(
            try sql(Database.jsonRemove(info, atPaths: ["$.a", "$.b"]))
                == #"JSON_REMOVE("info", '$.a', '$.b')"#)
        #expect(try sql(Database.jsonType(info)) == #"JSON_TYPE("info")"#)
        #expect(try sql(Database.jsonType(info, atPath: "$.a")) == #"JSON_TYPE("info", '$.a')"#)
        #expect(try sql(Database.jsonIsValid(info)) == #"JSON_VALID("info")"#)
        #expect(
            try sql(Database.jsonIsValid(info, options: [.json5, .probablyJSONB]))
                == #"JSON_VALID("info", 6)"#)
        #expect(try sql(Database.jsonQuote(title)) == #"JSON_QUOTE("title")"#)
        #expect(try sql(Database.jsonGroupArray(title)) == #"JSON_GROUP_ARRAY("title")"#)
        #expect(
            try sql(Database.jsonGroupArray(info, orderBy: Column("id"), filter: Column("id") > 0))
                == #"JSON_GROUP_ARRAY(JSONB("info") ORDER BY "id") FILTER (WHERE "id" > 0)"#)
        #expect(
            try sql(Database.jsonGroupObject(key: title, value: info))
                == #"JSON_GROUP_OBJECT("title", JSONB("info"))"#)
        #expect(
            try sql(Database.jsonGroupObject(key: title, value: Column("id"), filter: Column("id") > 0))
                == #"JSON_GROUP_OBJECT("title", "id") FILTER (WHERE "id" > 0)"#)
        #expect(Database.JSONValidationOptions([.json, .json5, .probablyJSONB, .jsonb]).rawValue == 15)
    }

    @Test("functions that return JSONB")
    func binaryFunctions() throws {
        let title = Column("title")
        #expect(try sql(Database.jsonb(info)) == #"JSONB("info")"#)
        #expect(try sql(Database.jsonbArray([info])) == #"JSONB_ARRAY(JSONB("info"))"#)
        #expect(
            try sql(Database.jsonbArray([1, title] as [any SQLExpressible])) == #"JSONB_ARRAY(1, "title")"#)
        #expect(try sql(Database.jsonbExtract(info, atPath: "$.a")) == #"JSONB_EXTRACT("info", '$.a')"#)
        #expect(
            try sql(Database.jsonbExtract(info, atPaths: ["$.a", "$.b"]))
                == #"JSONB_EXTRACT("info", '$.a', '$.b')"#)
        #expect(
            try sql(Database.jsonbInsert(info, ["$.b": 1, "$.a": 2]))
                == #"JSONB_INSERT("info", '$.b', 1, '$.a', 2)"#)
        #expect(try sql(Database.jsonbReplace(info, ["$.a": 1])) == #"JSONB_REPLACE("info", '$.a', 1)"#)
        #expect(try sql(Database.jsonbSet(info, ["$.a": 1])) == #"JSONB_SET("info", '$.a', 1)"#)
        #expect(
            try sql(Database.jsonbObject(["k": 1, "a": info])) == #"JSONB_OBJECT('k', 1, 'a', JSONB("info"))"#
        )
        #expect(try sql(Database.jsonbPatch(info, with: info)) == #"JSONB_PATCH("info", "info")"#)
        #expect(try sql(Database.jsonbRemove(info, atPath: "$.a")) == #"JSONB_REMOVE("info", '$.a')"#)
        #expect(
            try sql(Database.jsonbRemove(info, atPaths: ["$.a", "$.b"]))
                == #"JSONB_REMOVE("info", '$.a', '$.b')"#)
        #expect(
            try sql(Database.jsonbGroupArray(info, orderBy: title))
                == #"JSONB_GROUP_ARRAY(JSONB("info") ORDER BY "title")"#)
        #expect(
            try sql(Database.jsonbGroupObject(key: title, value: title))
                == #"JSONB_GROUP_OBJECT("title", "title")"#)
    }

    @Test("assignments and members come from literals, arrays and dictionaries")
    func assignments() throws {
        let array: [(key: String, value: any SQLExpressible)] = [("$.b", 1), ("$.a", Column("id"))]
        #expect(try sql(Database.jsonSet(info, array)) == #"JSON_SET("info", '$.b', 1, '$.a', "id")"#)
        #expect(try sql(Database.jsonObject(array)) == #"JSON_OBJECT('$.b', 1, '$.a', "id")"#)
        let dictionary: [String: any SQLExpressible] = ["k": info]
        #expect(try sql(Database.jsonObject(dictionary)) == #"JSON_OBJECT('k', JSONB("info"))"#)
        let paths: [String: any SQLExpressible] = ["$.k": info]
        #expect(try sql(Database.jsonInsert(info, paths)) == #"JSON_INSERT("info", '$.k', JSONB("info"))"#)
        let pairs: KeyValuePairs<String, any SQLExpressible> = ["z": 1, "a": 2]
        #expect(try sql(Database.jsonObject(pairs)) == "JSON_OBJECT('z', 1, 'a', 2)")
        #expect(try sql(Database.jsonObject([:])) == "JSON_OBJECT()")
    }

    // MARK: JSON in JSON

    @Test("values declared as JSON are wrapped only where arrays and objects need it")
    func embedding() throws {
        #expect(
            try sql(Database.jsonArray([Column("info"), info] as [any SQLExpressible]))
                == #"JSON_ARRAY("info", JSONB("info"))"#)
        #expect(try sql(Database.jsonObject(["a": info])) == #"JSON_OBJECT('a', JSONB("info"))"#)
        #expect(try sql(Database.jsonArray([info["a"]])) == #"JSON_ARRAY("info" ->> 'a')"#)
        #expect(
            try sql(Database.jsonArray([info["tags"].asJSON])) == #"JSON_ARRAY(JSONB("info" ->> 'tags'))"#)
        #expect(
            try sql(Database.jsonArray([info.jsonRepresentation(atPath: "a")]))
                == #"JSON_ARRAY("info" -> 'a')"#)
        #expect(try sql(Database.jsonSet(info, ["$.a": info])) == #"JSON_SET("info", '$.a', JSONB("info"))"#)
        #expect(
            try sql(Database.jsonInsert(info, ["$.a": info])) == #"JSON_INSERT("info", '$.a', JSONB("info"))"#
        )
        #expect(
            try sql(Database.jsonReplace(info, ["$.a": info]))
                == #"JSON_REPLACE("info", '$.a', JSONB("info"))"#)
        #expect(try sql(Database.jsonArray([Database.jsonObject([:])])) == "JSON_ARRAY(JSON_OBJECT())")
        #expect(try sql(Database.json(info)) == #"JSON("info")"#)
        #expect(try sql(Database.jsonPatch(info, with: info)) == #"JSON_PATCH("info", "info")"#)
        #expect(try sql(Database.jsonQuote(info)) == #"JSON_QUOTE(JSONB("info"))"#)
        // The JSON interpretation is part of the expression, even if only the SQL expression is passed on.
        #expect(try sql(Database.jsonArray([info.sqlExpression])) == #"JSON_ARRAY(JSONB("info"))"#)
        #expect(try sql(Database.jsonArray([info.asJSON.asJSON])) == #"JSON_ARRAY(JSONB("info"))"#)
    }

    @Test("results that SQLite knows to be JSON are not wrapped, even if they are declared as JSON")
    func knownJSON() throws {
        let known: [SQLExpression] = [
            info.jsonRepresentation(atPath: "tags"), Database.json(info), Database.jsonArray([1]),
            Database.jsonInsert(info, ["$.x": 1]),
            Database.jsonObject(["a": 1]), Database.jsonPatch(info, with: "{}"),
            Database.jsonRemove(info, atPath: "$.a"),
            Database.jsonReplace(info, ["$.a": 1]), Database.jsonSet(info, ["$.a": 1]), Database.jsonQuote(1),
            Database.jsonb(info),
            Database.jsonbArray([1]), Database.jsonbInsert(info, ["$.x": 1]), Database.jsonbObject(["a": 1]),
            Database.jsonbPatch(info, with: "{}"), Database.jsonbRemove(info, atPath: "$.a"),
            Database.jsonbReplace(info, ["$.a": 1]),
            Database.jsonbSet(info, ["$.a": 1]), Database.jsonExtract(info, atPaths: ["$.a", "$.b"]),
            DatabaseValue.null.sqlExpression,
        ]
        for expression in known {
            let bare = try sql(expression)
            #expect(try sql(Database.jsonArray([expression.asJSON])) == "JSON_ARRAY(\(bare))")
        }
        for aggregate in [
            Database.jsonGroupArray(Column("id")),
            Database.jsonGroupObject(key: Column("title"), value: Column("id")),
            Database.jsonbGroupArray(Column("id")),
            Database.jsonbGroupObject(key: Column("title"), value: Column("id")),
        ] {
            let bare = try sql(aggregate)
            #expect(try sql(Database.jsonObject(["all": aggregate.asJSON])) == "JSON_OBJECT('all', \(bare))")
        }
        #expect(
            try sql(Database.jsonArray([info.jsonExtract(atPath: "$.tags").asJSON]))
                == #"JSON_ARRAY(JSONB(JSON_EXTRACT("info", '$.tags')))"#)
        #expect(
            try sql(Database.jsonArray([Database.jsonbExtract(info, atPath: "$.tags").asJSON]))
                == #"JSON_ARRAY(JSONB(JSONB_EXTRACT("info", '$.tags')))"#)
        #expect(
            try sql(Database.jsonArray([Database.jsonExtract(info, atPaths: ["$.tags"]).asJSON]))
                == #"JSON_ARRAY(JSONB(JSON_EXTRACT("info", '$.tags')))"#)
    }

    @Test("JSON expressions evaluate to the expected values")
    func values() throws {
        try inDatabase { db throws in
            func value(_ expression: some SQLSpecificExpressible) throws -> String? {
                try String.fetchOne(db, Table("item").filter(Column("id") == 1).select(expression))
            }
            #expect(
                try value(
                    Database.jsonArray(
                        [Column("title"), JSONColumn("info")["tags"].asJSON] as [any SQLExpressible]))
                    == #"["Key",["a","b"]]"#)
            #expect(
                try value(Database.jsonArray([info.jsonRepresentation(atPath: "color"), info["color"]]))
                    == #"["red","red"]"#)
            #expect(try value(Database.jsonArray([info["tags"]])) == #"["[\"a\",\"b\"]"]"#)
            #expect(
                try value(Database.json(Database.jsonbSet("{}", ["$.a": info["tags"].asJSON, "$.b": 1])))
                    == #"{"a":["a","b"],"b":1}"#)
            #expect(try value(Database.jsonType(info, atPath: "$.size")) == "object")
            #expect(try value(Database.jsonErrorPosition("[1,}")) == "4")
            #expect(
                try String.fetchOne(
                    db,
                    Table("item").select(
                        Database.jsonGroupObject(key: Column("title"), value: info["tags"].asJSON)))
                    == #"{"Key":["a","b"],"Card":[]}"#)
            #expect(
                try String.fetchOne(
                    db,
                    Table("item").select(Database.jsonGroupArray(Column("title"), orderBy: Column("id").desc))
                )
                    == #"["Card","Key"]"#)
        }
    }

    private struct Garden: Codable, FetchableRecord, PersistableRecord {
        struct Place: Codable, Equatable { var city: String }
        var id: Int64
        var place: Place
    }

    @Test("nested properties of Codable records are JSON that JSON columns query")
    func records() throws {
        try DatabaseQueue().inDatabase { db throws in
            try db.execute(sql: "CREATE TABLE garden (id INTEGER PRIMARY KEY, place TEXT)")
            try Garden(id: 1, place: .init(city: "Kew")).insert(db)
            let request = Garden.filter(JSONColumn("place")["city"] == "Kew")
            #expect(try request.fetchOne(db)?.place == Garden.Place(city: "Kew"))
        }
    }

    @Test("hostile paths and names stay values", arguments: hostileTexts)
    func hostile(text: String) throws {
        try makeCanaryQueue().inDatabase { db throws in
            let column = JSONColumn(text)
            for expression in [
                column[text], column.jsonExtract(atPath: text), Database.jsonObject([text: text]),
                Database.jsonSet("{}", [text: column]),
            ] {
                _ = try? Row.fetchAll(db, Table("canary").select(expression))
                try? db.create(index: "hostile", on: "canary", expressions: [expression])
            }
            #expect(try isCanaryAlive(db))
            let object = try String.fetchOne(db, Table("canary").select(Database.jsonObject(["text": text])))
            #expect(try String.fetchOne(db, sql: "SELECT ? ->> 'text'", arguments: [object]) == text)
        }
    }
}
