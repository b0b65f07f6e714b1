import Coffer
import CofferTestSupport
import Testing

@Suite("Hostile names in schema definitions")
struct HostileSchemaNameTests {
    @Test("every name stays a name", arguments: hostileTexts.filter { !$0.isEmpty })
    func names(text: String) throws {
        try makeCanaryQueue().write { (db) throws in
            // The canary looks for other objects, and ignores those whose names begin with "hostile".
            let table = "hostile" + text
            let other = "hostile2" + text
            let index = "hostile3" + text
            let view = "hostile4" + text
            try db.create(table: table) { t in
                t.primaryKey(text, .text).collate(.nocase).check { $0 != "x" }
                t.column("b" + text).unique().defaults(to: text)
                t.column("c" + text, .integer).indexed().generatedAs(Column("b" + text))
                t.belongsTo("parent" + text, inTable: table)
                t.uniqueKey([text, "b" + text])
                t.foreignKey(["b" + text], references: table, columns: [text])
                t.check(Column("b" + text) != text + "!")
            }
            try db.create(table: other) { t in
                t.primaryKey { t.belongsTo(table) }
            }
            try db.alter(table: table) { t in
                t.add(column: "d" + text, .text).defaults(to: text)
                t.rename(column: "d" + text, to: "e" + text)
                t.add(column: "f" + text, .text)
                t.drop(column: "f" + text)
            }
            try db.create(
                index: index, on: table, columns: ["e" + text], condition: Column("e" + text) == text)
            try db.create(indexOn: table, columns: ["b" + text])
            try db.drop(indexOn: table, columns: ["b" + text])
            try db.create(
                view: view, columns: ["x" + text],
                asLiteral: "SELECT \(Column(text)) FROM \(sql: table.quotedDatabaseIdentifier)")
            try db.drop(view: view)
            try db.drop(index: index)
            #expect(
                try db.columns(in: table).map(\.name) == [
                    text, "b" + text, "c" + text,
                    "parent" + text + text.prefix(1).uppercased() + text.dropFirst(), "e" + text,
                ])
            #expect(try db.primaryKey(table).columns == [text])
            try db.drop(table: other)
            try db.rename(table: table, to: other)
            #expect(try db.tableExists(other))
            try db.drop(table: other)
            #expect(try isCanaryAlive(db))
        }
    }

    @Test("a NUL character in a name is an error", arguments: ["a\0b", "\0"])
    func nulCharacter(name: String) throws {
        try makeCanaryQueue().write { (db) throws in
            #expect(throws: DatabaseError.self) { try db.create(table: name) { $0.column("a") } }
            #expect(throws: DatabaseError.self) { try db.create(table: "t") { $0.column(name) } }
            #expect(throws: DatabaseError.self) { try db.create(index: name, on: "canary", columns: ["id"]) }
            #expect(throws: DatabaseError.self) { try db.rename(table: "canary", to: name) }
            #expect(throws: DatabaseError.self) { try db.drop(table: "canary" + name) }
            #expect(try isCanaryAlive(db))
        }
    }

    @Test(
        "reserved words, and names with letters of all scripts, are names",
        arguments: ["select", "TABLE", "été", "表", "\u{1F600}", "a b", "1"])
    func reservedWords(name: String) throws {
        try withTestDirectory { (directory) throws in
            let queue = try directory.makeQueue()
            try queue.write { (db) throws in
                try db.create(table: name) { t in
                    t.autoIncrementedPrimaryKey("id")
                    t.column(name, .text).notNull().indexed()
                }
                try db.execute(
                    sql:
                        "INSERT INTO \(name.quotedDatabaseIdentifier) (\(name.quotedDatabaseIdentifier)) VALUES ('x')"
                )
            }
            try queue.close()
            guard SQLCipherShell.isAvailable else { return }
            let shell = SQLCipherShell(path: directory.path("a.db"))
            #expect(try shell.run("SELECT * FROM \"\(name)\" WHERE \"\(name)\" = 'x'") == ["1|x"])
            #expect(try shell.run("PRAGMA integrity_check") == ["ok"])
        }
    }
}
