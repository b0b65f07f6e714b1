import Foundation

extension Comparison {
    static func statements(_ area: Area) {
        area.call("execute") { db in
            try db.execute(sql: "UPDATE item SET size = 1"); return db.changesCount
        }
        area.call("execute.arguments") { db in
            try db.execute(sql: "INSERT INTO tag VALUES (?, ?)", arguments: ["delta", nil])
            return try Row.fetchAll(db, sql: "SELECT * FROM tag WHERE name >= ?", arguments: ["c"])
        }
        area.call("execute.named") { db in
            try db.execute(
                sql: "INSERT INTO tag VALUES (:name, :weight)", arguments: ["name": "delta", "weight": 4])
            return try Row.fetchOne(
                db, sql: "SELECT * FROM tag WHERE name = $n OR weight = @w",
                arguments: ["n": "delta", "w": 100])
        }
        area.call("execute.several") { db in
            try db.execute(
                sql: "INSERT INTO tag VALUES (?, ?); INSERT INTO tag VALUES (?, ?); -- end",
                arguments: ["x", 1, "y", 2])
            return (db.lastInsertedRowID, db.totalChangesCount > 0)
        }
        area.call("execute.missing") { db in
            try db.execute(sql: "INSERT INTO tag VALUES (?, ?)", arguments: [1])
        }
        area.call("execute.tooMany") { db in
            try db.execute(sql: "INSERT INTO tag VALUES (?, ?)", arguments: [1, 2, 3])
        }
        area.call("execute.tooMany.several") { db in
            try db.execute(
                sql: "INSERT INTO tag VALUES (?, 1); INSERT INTO tag VALUES (?, 2)", arguments: [1, 2, 3])
        }
        area.call("execute.missing.named") { db in
            try db.execute(sql: "INSERT INTO tag VALUES (:a, :b)", arguments: ["a": 1])
        }
        area.call("execute.empty") { db in try db.execute(sql: " ; -- nothing\n") }
        area.call("execute.syntax") { db in try db.execute(sql: "INSRT INTO tag") }
        area.call("execute.second.fails") { db in
            try db.execute(sql: "DELETE FROM tag; SELECT * FROM nowhere")
        }
        area.call("make.two") { db in try db.makeStatement(sql: "SELECT 1; SELECT 2") }
        area.call("make.two.padded") { db in try db.makeStatement(sql: "SELECT 1; SELECT 2;\n") }
        area.call("make.empty") { db in try db.makeStatement(sql: "") }
        area.call("make.twoErrors") { db in try db.makeStatement(sql: "SELECT 1; nonsense") }
        area.call("statement") { db in
            let statement = try db.makeStatement(
                sql: "SELECT id, title AS t FROM item WHERE id > ? AND id < :limit")
            return [
                statement.sql, "\(statement.columnCount)", "\(statement.columnNames)",
                "\(statement.index(ofColumn: "T") as Any)",
                "\(statement.isReadonly)", "\(statement.databaseRegion)", "\(statement)",
            ]
        }
        area.call("statement.arguments") { db in
            let statement = try db.makeStatement(sql: "SELECT ? AS a, ? AS b")
            try statement.setArguments([1, "x"])
            let first = try Row.fetchOne(statement)
            statement.setUncheckedArguments([2, "y"])
            return [
                first, try Row.fetchOne(statement), try Row.fetchOne(statement, arguments: [nil, Data([1])]),
            ]
        }
        area.call("statement.validate") { db in
            let statement = try db.makeStatement(sql: "SELECT :a, :b")
            try statement.validateArguments(["a": 1])
        }
        area.call("statement.execute") { db in
            let statement = try db.makeStatement(sql: "INSERT INTO tag VALUES (?, ?)")
            for (name, weight) in [("p", 1), ("q", 2)] { try statement.execute(arguments: [name, weight]) }
            return try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM tag")
        }
        area.call("statement.cached") { db in
            let first = try db.cachedStatement(sql: "SELECT 1"),
                second = try db.cachedStatement(sql: "SELECT 1")
            return first === second
        }
        area.call("statement.literal") { db in
            let statement = try db.makeStatement(literal: "SELECT \(1) AS a, \("x") AS b")
            return (statement.sql, try Row.fetchOne(statement))
        }
        area.call("statement.literal.later") { db in
            try db.makeStatement(literal: "INSERT INTO tag VALUES (?, ?)").execute(arguments: ["z", 26])
            return try Int.fetchOne(db, sql: "SELECT weight FROM tag WHERE name = 'z'")
        }
        area.call("allStatements") { db in
            let statements = try db.allStatements(sql: "SELECT ? AS a; SELECT ? AS b", arguments: [1, 2])
            var rows: [String] = []
            while let statement = try statements.next() {
                rows.append("\(statement.sql): \(try Row.fetchOne(statement) as Any)")
            }
            return rows
        }
        area.call("allStatements.literal") { db in
            let statements = try db.allStatements(
                literal: "INSERT INTO tag VALUES (\("k"), \(1)); SELECT name FROM tag WHERE name = \("k")")
            var count = 0
            while let statement = try statements.next() { try statement.execute(); count += 1 }
            return count
        }
        area.call("readonly") { db in
            try [
                "SELECT 1", "DELETE FROM tag", "PRAGMA user_version", "PRAGMA user_version = 3", "BEGIN",
                "EXPLAIN DELETE FROM tag",
            ]
            .map { "\($0): \(try db.makeStatement(sql: $0).isReadonly)" }
        }
        area.call("region") { db in
            try [
                "SELECT title FROM item", "SELECT COUNT(*) FROM item", "SELECT * FROM pinned", "SELECT 1",
                "SELECT item.id FROM item, vault WHERE vault.id = vaultId", "SELECT * FROM item WHERE id = 1",
            ].map { "\($0): \(try db.makeStatement(sql: $0).databaseRegion)" }
        }

        // Arguments
        area.value("arguments.add") {
            [
                "\([1, 2] as StatementArguments + ["a": 3])", "\(StatementArguments([1, nil, "x"]))",
                "\(StatementArguments(["a": 1]))",
            ]
        }
        area.value("arguments.overwrite") { () -> [String] in
            var arguments: StatementArguments = ["a": 1]
            let old = arguments.append(contentsOf: ["a": 2])
            return ["\(arguments)", "\(old)", "\(arguments &+ ["a": 3])", "\(arguments.isEmpty)"]
        }
        area.value("arguments.any") {
            [
                "\(StatementArguments([1, "a", nil] as [Any?]) as Any)",
                "\(StatementArguments([Text.self] as [Any]) as Any)",
            ]
        }
        area.value("arguments.equal") {
            [[1] as StatementArguments == [1], ["a": 1] as StatementArguments == ["a": 2]]
        }

        // Literals
        func literal(_ name: String, _ sql: SQL) {
            area.call("sql." + name) { db in
                let (text, arguments) = try sql.build(db)
                return ["\(text)", "\(arguments)"]
            }
        }
        let titles = ["a", "b"]
        literal("value", "SELECT \(1), \("x"), \(nil as Int?)")
        literal("array", "SELECT * FROM item WHERE title IN \(titles)")
        literal("array.empty", "SELECT * FROM item WHERE title IN \([] as [String])")
        literal("column", "SELECT \(Column("title")) FROM item")
        literal("table", "SELECT * FROM \(Item.self)")
        literal("columns", "SELECT \(columnsOf: Item.self) FROM item")
        literal("columns.alias", "SELECT \(columnsOf: Owner.self, tableAlias: "o") FROM owner o")
        literal("expression", "SELECT \(Column("size") + 1) AS n FROM item")
        literal("expression.product", "SELECT \(Column("size") + 1) * 2 FROM item")
        literal("expression.end", "SELECT * FROM item WHERE \(Column("size") > 3)")
        literal("expression.start", "\(Column("size") + 1) AS n")
        let largest: SQLRequest<Int> = "SELECT MAX(size) FROM item"
        literal("request.compare", "\(largest > 3)")
        literal("ordering", "SELECT * FROM item ORDER BY \(Column("size").desc)")
        literal("collation", "SELECT * FROM item ORDER BY title COLLATE \(.nocase)")
        literal(
            "request",
            "SELECT * FROM item WHERE id IN (\(Item.select(Column("id")).filter(Column("size") > 3)))")
        literal("subrequest", "SELECT EXISTS \(Item.filter(Column("size") > 3))")
        literal("sql", "SELECT * FROM item \(sql: "WHERE size > ?", arguments: [5])")
        literal("nested", "SELECT \("\(1) + 2" as SQL)")
        literal("alias", "SELECT \(AllColumns()) FROM \(Item.self) AS \(sql: "i")")
        literal("joined", [SQL("a = \(1)"), SQL("b = \("x")")].joined(separator: " AND "))
        literal("joined.operator", SQL([Column("a") == 1, Column("b") == "x"].joined(operator: .and)))
        literal("codingKey", "SELECT \(Owner.CodingKeysForTest.name) FROM owner")
        literal("identifier", "SELECT \(identifier: "odd \"name")")
        area.call("sql.typed") { db in
            let request: SQLRequest<Item> = "SELECT * FROM item WHERE size > \(15) ORDER BY id"
            return try request.fetchAll(db).map(\.title) + ["\(try request.fetchCount(db))"]
        }
        area.call("sql.typed.values") { db in
            let request: SQLRequest<String> = "SELECT title FROM item WHERE id = \(1)"
            return try request.fetchOne(db)
        }
        area.call("sql.execute") { db in
            try db.execute(
                literal:
                    "UPDATE item SET title = \("new") WHERE id = \(1); DELETE FROM tag WHERE name = \("beta")"
            )
            return (
                try String.fetchOne(db, sql: "SELECT title FROM item"),
                try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM tag")
            )
        }
        area.call("sql.cte") { db in
            try Int.fetchAll(
                db,
                SQLRequest<Int>(
                    """
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(4)) \
                    SELECT i FROM n
                    """))
        }
    }
}

extension Owner {
    enum CodingKeysForTest: String, CodingKey { case name }
}
