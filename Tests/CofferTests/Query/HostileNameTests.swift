import Coffer
import CofferTestSupport
import Testing

/// Names that could end identifiers, statements or comments, and names that have a meaning in SQL.
private let hostileNames =
    hostileTexts.filter { !$0.isEmpty } + [
        "select", "table", "group", "order by", "rowid x", "player\"", "\"player", "\"\"", "\"", "a\"b\"c",
        "[a]", "`a`", "'a'", "a.b",
        "Ünïcödé",
        "e\u{301}", "😀", "\u{202E}", "--", "/*", "*/", ";", "1", "*", "count(*)", "?", "%", "_", "\t",
        "main.sqlite_master",
    ]

@Suite("Requests with hostile names")
struct HostileNameTests {
    /// Calls `body` with a table of that name that contains one row.
    private func withTable(_ name: String, _ column: String, _ body: (Database) throws -> Void) throws {
        try makeCanaryQueue().write { db throws in
            let (table, column) = ("hostile " + name, column)
            try db.execute(
                sql:
                    "CREATE TABLE \(table.quotedDatabaseIdentifier) (\(column.quotedDatabaseIdentifier), other)"
            )
            try db.execute(
                sql:
                    "CREATE UNIQUE INDEX hostile ON \(table.quotedDatabaseIdentifier) (\(column.quotedDatabaseIdentifier))"
            )
            try db.execute(sql: "INSERT INTO \(table.quotedDatabaseIdentifier) VALUES (1, 2)")
            try body(db)
            #expect(try isCanaryAlive(db), "\(name)")
        }
    }

    @Test("never become SQL", arguments: hostileNames)
    func neverSQL(name: String) throws {
        let (column, key) = (Column(name), name)
        try withTable(name, name) { db throws in
            let table = Table("hostile " + name)
            let row: Row = [name: 1, "other": 2]
            #expect(try table.fetchAll(db) == [row])
            #expect(try table.filter(column == 1).order(column.desc).fetchAll(db) == [row])
            #expect(
                try table.select(column.forKey(key)).group(column).having(max(column) == 1).fetchAll(db) == [
                    [name: 1]
                ])
            #expect(try table.filter(key: 1).fetchAll(db) == [row])
            #expect(try table.filter(key: [name: 1]).fetchAll(db) == [row])
            #expect(try table.orderByPrimaryKey().selectPrimaryKey(as: Int.self).fetchAll(db) == [1])
            #expect(try table.select(.allColumns(excluding: [name])).fetchAll(db) == [["other": 2]])
            let alias = TableAlias(name: name)
            #expect(try table.aliased(alias).filter(alias[column] == 1 && alias.exists).fetchAll(db) == [row])
            #expect(try table.select(column).distinct().fetchCount(db) == 1)
            let cte = CommonTableExpression(named: name, columns: [name], sql: "SELECT 1")
            #expect(try cte.all().with(cte).filter(column == 1).fetchAll(db) == [[name: 1]])
            #expect(try table.with(cte).filter(cte.contains(column)).fetchAll(db) == [row])
            #expect(
                try table.select((column + 1).forKey(name)).order(column.detached).fetchAll(db) == [[name: 2]]
            )
            #expect(try Row.fetchAll(db, SQLRequest<Row>("SELECT \(column) FROM \(table)")) == [[name: 1]])
            #expect(try table.updateAll(db, column.set(to: 5), Column("other").set(to: column)) == 1)
            #expect(try table.fetchAll(db) == [[name: 5, "other": 1]])
            #expect(try table.filter(column == 5).databaseRegion(db).description.hasPrefix("hostile " + name))
            #expect(try table.filter(column == 5).deleteAll(db) == 1)
        }
    }

    @Test("are refused where they have a NUL character")
    func zeros() throws {
        try makeCanaryQueue().write { db throws in
            for request in [
                Table("canary\u{0}\" WHERE 0").all(), Table("canary").filter(Column("na\u{0}me") == 1),
                Table("canary").select(Column("name").forKey("a\u{0}b")),
                Table("canary").aliased(TableAlias(name: "a\u{0}")),
            ] {
                #expect(throws: DatabaseError.self) { try request.fetchAll(db) }
                #expect(throws: DatabaseError.self) { try request.fetchOne(db) }
                #expect(throws: DatabaseError.self) { try request.isEmpty(db) }
            }
            #expect(throws: DatabaseError.self) { try Table("canary\u{0}").deleteAll(db) }
            #expect(throws: DatabaseError.self) {
                try Table("canary").updateAll(db, Column("name\u{0}").set(to: 1))
            }
            #expect(try isCanaryAlive(db))
        }
    }

    @Test("of functions and types never become SQL either")
    func functions() throws {
        try makeCanaryQueue().write { db throws in
            for name in hostileNames {
                let function = DatabaseFunction(name, argumentCount: 1) { $0[0] }
                db.add(function: function)
                #expect(
                    try Table("canary").select(function(Column("id")), as: Int.self).fetchAll(db) == [1],
                    "\(name)")
                // SQLite accepts any word as a type, and searches it for parts such as INT.
                #expect(
                    try Table("canary").select(cast(Column("id"), as: .init(name))).fetchCount(db) == 1,
                    "\(name)")
            }
            #expect(try isCanaryAlive(db))
        }
    }
}
