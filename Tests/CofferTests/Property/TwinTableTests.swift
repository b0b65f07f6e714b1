import Coffer
import CofferTestSupport
import Testing

/// With `COFFER_NIGHTLY=1`, tests many more schemas.
@Suite("Random schemas and requests")
struct TwinTableTests {
    private static let schemas = Nightly.pick(2000, byDay: 60)

    /// Calls `body` with a database that contains a random table and its handwritten twin.
    static func forEachSchema(
        _ purpose: String, withRows: Bool = true,
        _ body: (Database, RandomTable, inout SeededRandom) throws -> Void
    ) throws {
        let seed = SeededRandom(purpose).seed
        for number in 0..<UInt64(schemas) {
            // Each schema has its own generator, so that it can be repeated alone.
            var random = SeededRandom(seed: seed &+ number, purpose)
            let table = RandomTable(&random)
            try DatabaseQueue().inDatabase { db in
                try table.create(db)
                try table.createTwin(db)
                if withRows {
                    try table.insertRows(db, into: table.name)
                    try table.insertRows(db, into: RandomTable.twin)
                }
                try body(db, table, &random)
            }
        }
    }

    /// Returns the rows of a table with their storage classes, sorted, for comparison.
    static func contents(_ db: Database, _ table: String) throws -> [String] {
        try Row.fetchAll(db, sql: "SELECT * FROM \(RandomTable.quote(table))").map {
            storage(of: $0).joined(separator: ",")
        }.sorted()
    }

    /// Returns the values of a row with their storage classes: the integer 1 differs from the number 1.0.
    static func storage(of row: Row) -> [String] { row.databaseValues.map { "\($0.storage)" } }

    @Test("tables have the same structure and content as with hand-written SQL")
    func tables() throws {
        try Self.forEachSchema("tables") { db, table, _ in
            func describe(_ name: String) throws -> [String] {
                try db.columns(in: name).map {
                    "\($0.name)|\($0.type)|\($0.isNotNull)|\($0.defaultValueSQL ?? "")|\($0.primaryKeyIndex)"
                }
            }
            try #require(try describe(table.name) == describe(RandomTable.twin))
            let key = try db.primaryKey(table.name)
            let twinKey = try db.primaryKey(RandomTable.twin)
            try #require(key.columns == twinKey.columns)
            try #require(key.isRowID == twinKey.isRowID)
            try #require(key.tableHasRowID == twinKey.tableHasRowID)
            try #require(
                try db.table(table.name, hasUniqueKey: table.keyColumns) == !table.keyColumns.isEmpty)
            try #require(try Self.contents(db, table.name) == Self.contents(db, RandomTable.twin))
        }
    }

    @Test("requests return the rows of hand-written SQL")
    func requests() throws {
        try Self.forEachSchema("requests") { db, table, random in
            let names = table.columns.map(\.name)
            let all = names.map { Column($0) }
            let allSQL = names.map(RandomTable.quote).joined(separator: ", ")
            for _ in 0..<8 {
                let condition = TwinExpression.condition(names, depth: 2, &random)
                let selection = TwinExpression.value(names, depth: 2, &random)
                let ordering = TwinExpression.value(names, depth: 1, &random)
                let limit = Int.random(in: 0...12, using: &random)
                let offset = Bool.random(using: &random) ? Int.random(in: 0...4, using: &random) : nil
                let isDescending = Bool.random(using: &random)
                let isDistinct = Bool.random(using: &random)

                // Ties are broken by all columns.
                let orderings: [any SQLOrderingTerm] =
                    [isDescending ? ordering.expression.desc : ordering.expression.asc]
                    + (all as [any SQLOrderingTerm])
                var request = Table(table.name).filter(condition.expression).order(orderings).limit(
                    limit, offset: offset)
                var sql =
                    "SELECT \(isDistinct ? "DISTINCT " : "")\(allSQL), \(selection.sql) AS x FROM \(RandomTable.twin) WHERE \(condition.sql) "
                sql += "ORDER BY \(ordering.sql) \(isDescending ? "DESC" : "ASC"), \(allSQL) LIMIT \(limit)"
                if let offset { sql += " OFFSET \(offset)" }
                request = request.select((all as [any SQLSelectable]) + [selection.expression.forKey("x")])
                if isDistinct { request = request.distinct() }
                let arguments = StatementArguments(
                    selection.arguments + condition.arguments + ordering.arguments)

                let rows = try request.fetchAll(db).map(Self.storage(of:))
                let expected = try Row.fetchAll(db, sql: sql, arguments: arguments).map(Self.storage(of:))
                try #require(rows == expected, "\(sql) \(arguments)")
                try #require(try request.fetchCount(db) == expected.count, "\(sql) \(arguments)")
                try #require(try request.isEmpty(db) == expected.isEmpty)
                let first = try request.fetchOne(db).map(Self.storage(of:))
                try #require(first == expected.first)
            }
        }
    }

    @Test("aggregates and groups agree with hand-written SQL")
    func aggregates() throws {
        try Self.forEachSchema("aggregates") { db, table, random in
            let names = table.columns.map(\.name)
            for _ in 0..<5 {
                let group = TwinExpression.value(names, depth: 1, &random)
                let value = TwinExpression.value(names, depth: 1, &random)
                let condition = TwinExpression.condition(names, depth: 1, &random)
                let request = Table(table.name)
                    .select(
                        group.expression.forKey("g"), count(value.expression),
                        count(distinct: value.expression), min(value.expression),
                        max(value.expression), total(value.expression),
                        average(value.expression, filter: condition.expression)
                    )
                    .group(group.expression)
                    .having(count(value.expression) > 0)
                    .order(SQL("1"), SQL("2"), SQL("6"))
                let sql = """
                    SELECT \(group.sql) AS g, count(\(value.sql)), count(DISTINCT \(value.sql)), \
                    min(\(value.sql)), max(\(value.sql)),
                    total(\(value.sql)), avg(\(value.sql)) FILTER (WHERE \(condition.sql))
                    FROM \(RandomTable.twin) GROUP BY (\(group.sql)) HAVING count(\(value.sql)) > 0 ORDER BY \
                    1, 2, 6
                    """
                var arguments = group.arguments
                for _ in 1...6 { arguments += value.arguments }
                arguments += condition.arguments + group.arguments + value.arguments
                let rows = try request.fetchAll(db).map(Self.storage(of:))
                let expected = try Row.fetchAll(db, sql: sql, arguments: StatementArguments(arguments))
                    .map(Self.storage(of:))
                try #require(rows == expected, "\(sql) \(arguments)")
            }
        }
    }

    @Test("batch changes agree with hand-written SQL")
    func changes() throws {
        try Self.forEachSchema("changes") { db, table, random in
            let names = table.columns.map(\.name)
            let free = table.columns.filter { !table.keyColumns.contains($0.name) && !$0.isNotNull }.map(
                \.name)
            let twin = RandomTable.twin
            for _ in 0..<4 {
                let condition = TwinExpression.condition(names, depth: 1, &random)
                let value = TwinExpression.value(names, depth: 1, &random)
                if let column = free.randomElement(using: &random) {
                    let changed = try Table(table.name).filter(condition.expression)
                        .updateAll(db, Column(column).set(to: value.expression))
                    try db.execute(
                        sql:
                            "UPDATE \(twin) SET \(RandomTable.quote(column)) = \(value.sql) WHERE \(condition.sql)",
                        arguments: StatementArguments(value.arguments + condition.arguments))
                    try #require(changed == db.changesCount)
                    try #require(try Self.contents(db, table.name) == Self.contents(db, twin))
                }
            }
            let condition = TwinExpression.condition(names, depth: 2, &random)
            let deleted = try Table(table.name).filter(condition.expression).deleteAll(db)
            try db.execute(
                sql: "DELETE FROM \(twin) WHERE \(condition.sql)",
                arguments: StatementArguments(condition.arguments))
            try #require(deleted == db.changesCount)
            try #require(try Self.contents(db, table.name) == Self.contents(db, twin))
        }
    }
}
