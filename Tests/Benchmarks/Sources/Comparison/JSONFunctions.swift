import Foundation

private struct Entry: Codable, FetchableRecord, PersistableRecord {
    struct Info: Codable { var country: String; var score: Int?; var tags: [String] }
    var id: Int64
    var info: Info
    enum Columns {
        static let id = Column(CodingKeys.id)
        static let info = JSONColumn(CodingKeys.info)
    }
}

private typealias Assignments = [(key: String, value: any SQLExpressible)]

extension Comparison {
    /// JSON columns and functions.
    static func json(_ area: Area) {
        let info = JSONColumn("info"), plain = Column("info"), id = Column("id")

        func value(_ name: String, _ expression: @autoclosure @escaping () -> SQLExpression) {
            area.call(name) { db in
                try db.execute(
                    sql: """
                        CREATE TABLE entry (id INTEGER PRIMARY KEY, info TEXT);
                        INSERT INTO entry VALUES (1, '{"country":"DE","score":3,"tags":["a","b"],"a":{"b":5}}'), (2, '{"country":"FR","score":null,"tags":[]}')
                        """)
                let expression = expression()
                let request = try Table("entry").select(expression).makePreparedRequest(db)
                let rows = try Row.fetchAll(db, Table("entry").select(expression.forKey("v")))
                return ["\(request.statement.sql) \(request.statement.arguments)"] + rows.map(\.description)
            }
        }
        value("subscript", info["country"])
        value("subscript.path", info["$.a.b"])
        value("subscript.index", plain.asJSON["tags"].asJSON[0])
        value("subscript.twice", info["a"].asJSON["b"])
        value("extract", info.jsonExtract(atPath: "$.score"))
        value("extract.two", info.jsonExtract(atPaths: ["$.country", "$.score"]))
        value("representation", info.jsonRepresentation(atPath: "tags"))
        value("compare", info["country"] == "DE")
        value("compare.nil", info["score"] == nil)
        value("arithmetic", info["score"] + 1)
        value("json", Database.json(plain))
        value("json.value", Database.json(#" { "a" : [ 1 ] } "#))
        value("array", Database.jsonArray([1, 2, 3, 4]))
        value("array.any", Database.jsonArray([plain, info, "x", nil as Int? ?? 0] as [any SQLExpressible]))
        value(
            "array.nested",
            Database.jsonArray([info["country"], info["tags"].asJSON] as [any SQLExpressible]))
        value("array.representation", Database.jsonArray([info.jsonRepresentation(atPath: "tags")]))
        value("array.object", Database.jsonArray([Database.jsonObject([:])]))
        value(
            "array.extract",
            Database.jsonArray([
                info.jsonExtract(atPaths: ["$.a", "$.tags"]), info.jsonExtract(atPath: "$.a"),
            ]))
        value("arrayLength", Database.jsonArrayLength("[1,2,3]"))
        value("arrayLength.path", Database.jsonArrayLength(info, atPath: "$.tags"))
        value("function.extract", Database.jsonExtract(info, atPath: "$.country"))
        value("function.extract.two", Database.jsonExtract(plain, atPaths: ["$.country", "$.a.b"]))
        value("insert", Database.jsonInsert("[1]", ["$[#]": 2]))
        value(
            "insert.many",
            Database.jsonInsert("[1]", [(key: "$[#]", value: 2), (key: "$[#]", value: "x")] as Assignments))
        value("insert.json", Database.jsonInsert(info, ["$.copy": info]))
        value("replace", Database.jsonReplace(info, ["$.country": "IT"]))
        value("set", Database.jsonSet(info, ["$.a": info]))
        let assigned: Assignments = [
            (key: "$.x", value: 1), (key: "$.y", value: plain), (key: "$.z", value: plain.asJSON),
        ]
        value("set.many", Database.jsonSet("{}", assigned))
        value("object", Database.jsonObject(["k": 1]))
        let members: Assignments = [
            (key: "k", value: info), (key: "l", value: plain), (key: "m", value: "it's"),
        ]
        value("object.many", Database.jsonObject(members))
        value("object.empty", Database.jsonObject([:]))
        value("patch", Database.jsonPatch(info, with: #"{"country":null,"new":1}"#))
        value("patch.json", Database.jsonPatch(info, with: info))
        value("remove", Database.jsonRemove(info, atPath: "$.tags"))
        value("remove.two", Database.jsonRemove(info, atPaths: ["$.tags", "$.score"]))
        value("type", Database.jsonType(info))
        value("type.path", Database.jsonType(info, atPath: "$.score"))
        value("valid", Database.jsonIsValid(plain))
        value("quote", Database.jsonQuote("it's"))
        value("quote.json", Database.jsonQuote(info))
        value("groupArray", Database.jsonGroupArray(id))
        value("groupArray.json", Database.jsonGroupArray(info, filter: id > 0))
        value("groupObject", Database.jsonGroupObject(key: info["country"], value: id))
        value("groupObject.json", Database.jsonGroupObject(key: id, value: info, filter: id < 2))

        area.call("record") { db in
            try db.create(table: "entry") { t in
                t.primaryKey("id", .integer)
                t.column("info", .jsonText).notNull()
                t.column("country", .text).generatedAs(JSONColumn("info").jsonExtract(atPath: "$.country"))
                    .indexed()
                t.column("raw", .jsonb)
            }
            try db.create(index: "byScore", on: "entry", expressions: [JSONColumn("info")["score"]])
            try Entry(id: 1, info: .init(country: "DE", score: 3, tags: ["a/b"])).insert(db)
            try Entry(id: 2, info: .init(country: "FR", score: nil, tags: [])).insert(db)
            return try String.fetchAll(db, sql: "SELECT sql FROM sqlite_master WHERE tbl_name = 'entry'")
                + Row.fetchAll(db, sql: "SELECT * FROM entry").map(\.description)
                + Row.fetchAll(db, Entry.filter { $0.info["score"] > 1 }.order { $0.info["country"] }).map(
                    \.description)
        }
        area.call("alias") { db in
            try db.execute(
                sql:
                    #"CREATE TABLE entry (id INTEGER PRIMARY KEY, info TEXT); INSERT INTO entry VALUES (1, '{"a":{"b":1}}')"#
            )
            let entry = TableAlias(name: "e")
            return try Row.fetchAll(
                db,
                Table("entry").aliased(entry).select(
                    entry[info]["a"].forKey("a"), Database.jsonArray([entry[info]]).forKey("b")))
        }
        area.call("update") { db in
            try db.execute(
                sql:
                    #"CREATE TABLE entry (id INTEGER PRIMARY KEY, info TEXT); INSERT INTO entry VALUES (1, '{"a":1}')"#
            )
            try Table("entry").updateAll(db, info.set(to: Database.jsonSet(info, ["$.a": 2])))
            return try String.fetchOne(db, sql: "SELECT info FROM entry")
        }
        area.call("bad") { db in try Row.fetchAll(db, Table("item").select(Database.json(Column("title")))) }
    }
}
