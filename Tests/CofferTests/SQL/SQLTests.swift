import Coffer
import Testing

@Suite("SQL literals")
struct SQLTests {
    @Test("a plain string is plain SQL")
    func plain() throws {
        let sql: SQL = "SELECT 1"
        #expect(try BuiltSQL(building: sql) == BuiltSQL("SELECT 1"))
    }

    @Test("SQL and arguments are kept unchanged")
    func sqlAndArguments() throws {
        let sql = SQL(sql: "SELECT ?, :a", arguments: [1] + ["a": 2])
        #expect(try BuiltSQL(building: sql) == BuiltSQL("SELECT ?, :a", [1] + ["a": 2]))
    }

    @Test("literals are put together step by step")
    func composition() throws {
        let name = "O'Brien"
        var query: SQL = "UPDATE player "
        query += "SET name = \(name) "
        query.append(literal: "WHERE id = \(42)")
        query.append(sql: " AND score > ?", arguments: [1000])
        let sum = query + " AND 1"
        #expect(
            try BuiltSQL(building: sum)
                == BuiltSQL("UPDATE player SET name = ? WHERE id = ? AND score > ? AND 1", [name, 42, 1000]))
    }

    @Test("literals are joined with a separator")
    func joining() throws {
        let components: [SQL] = ["a = \(1)", "b = \(2)", "c"]
        #expect(
            try BuiltSQL(building: components.joined(separator: " AND "))
                == BuiltSQL("a = ? AND b = ? AND c", [1, 2]))
        #expect(try BuiltSQL(building: components.joined()) == BuiltSQL("a = ?b = ?c", [1, 2]))
        #expect(try BuiltSQL(building: [SQL]().joined(separator: ",")) == BuiltSQL(""))
        #expect(
            try BuiltSQL(building: components.lazy.filter { _ in true }.joined(separator: ", ")).sql
                == "a = ?, b = ?, c")
    }

    @Test("only the empty string is empty")
    func emptiness() {
        let empty: SQL = ""
        #expect(empty.isEmpty)
        #expect((empty + SQL(sql: "")).isEmpty)
        #expect([SQL]().joined(separator: ",").isEmpty)
        #expect(!SQL(sql: " ").isEmpty)
        #expect(!("\(1)" as SQL).isEmpty)
    }

    @Test("a named argument may be repeated, but not with a different value")
    func namedArguments() throws {
        let a = SQL(sql: "a = :x", arguments: ["x": 1])
        #expect(
            try BuiltSQL(building: a + " AND b = \(2) AND " + a)
                == BuiltSQL("a = :x AND b = ? AND a = :x", [2] + ["x": 1]))
        #expect {
            try BuiltSQL(building: a + SQL(sql: "b = :x", arguments: ["x": 2]))
        } throws: { error in
            (error as? DatabaseError)?.resultCode == .SQLITE_MISUSE
        }
    }

    @Test("a literal is executed, with all of its statements")
    func execution() throws {
        try DatabaseQueue().write { db throws in
            try db.execute(sql: "CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT)")
            try db.execute(
                literal: """
                    INSERT INTO player (name) VALUES (\("Arthur"));
                    INSERT INTO player (name) VALUES (\("Barbara"));
                    """)
            #expect(
                try Row.fetchAll(db, sql: "SELECT name FROM player") == [
                    ["name": "Arthur"], ["name": "Barbara"],
                ])
        }
    }

    @Test("statements of a literal have their arguments")
    func statements() throws {
        try DatabaseQueue().write { db throws in
            let statement = try db.makeStatement(literal: "SELECT \(1) AS a")
            #expect(statement.arguments == [1])
            #expect(try Row.fetchOne(statement) == ["a": 1])

            let cached = try db.cachedStatement(literal: "SELECT \(2) AS a")
            #expect(try Row.fetchOne(cached) == ["a": 2])
            #expect(try db.cachedStatement(literal: "SELECT \(3) AS a") === cached)
            #expect(try Row.fetchOne(cached) == ["a": 3])

            let cursor = try db.allStatements(literal: "SELECT \(1) AS a; SELECT \(2), \(3)")
            #expect(try cursor.next()?.arguments == [1])
            #expect(try cursor.next()?.arguments == [2, 3])
            #expect(try cursor.next() == nil)
        }
    }

    @Test("a literal with too few arguments does not make a statement")
    func missingArgument() throws {
        try DatabaseQueue().read { db throws in
            #expect(throws: DatabaseError.self) { try db.makeStatement(literal: "SELECT \(1), ?") }
            #expect(throws: DatabaseError.self) { try db.execute(literal: "SELECT \(1), ?") }
        }
    }

    @Test("a literal is an expression, a selection and an ordering")
    func expression() throws {
        let day = SQL("DATE(\(Column("createdAt")))")
        #expect(
            try BuiltSQL(building: "\(day == "2020-01-23")")
                == BuiltSQL(#"(DATE("createdAt")) = ?"#, ["2020-01-23"]))
        #expect(try BuiltSQL(building: "\(SQL("a OR b") && Column("c"))").sql == #"(a OR b) AND "c""#)
        #expect(try BuiltSQL(building: "\(day.forKey("day"))").sql == #"DATE("createdAt") AS "day""#)
        #expect(try BuiltSQL(building: "\(day.desc)").sql == #"DATE("createdAt") DESC"#)
        #expect(try BuiltSQL(building: SQL(Column("a") + 1)) == BuiltSQL(#""a" + ?"#, [1]))
    }
}
