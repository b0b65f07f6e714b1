import Coffer
import CofferTestSupport

/// A random request and its SQL equivalent, which is generated independently of Coffer's SQL.
struct RandomRequest {
    private(set) var request: QueryInterfaceRequest<Row>

    /// The part after `SELECT`.
    private var selection = "*"
    private var conditions: [String] = []
    private var group = ""
    private var order = ""
    private var limit = ""
    private let table: String
    private(set) var isOrdered = false
    private var isDistinct = false

    /// The query.
    var sql: String {
        "SELECT \(isDistinct ? "DISTINCT " : "")\(selection) FROM \(table) AS o\(condition)\(group)\(order)\(limit)"
    }

    /// The condition on the rows, with its keyword.
    var condition: String {
        conditions.isEmpty ? "" : " WHERE " + conditions.map { "(\($0))" }.joined(separator: " AND ")
    }

    /// - Parameter isByID: true to add a condition on the ID to the other conditions.
    init(isByID: Bool = false, _ random: inout SeededRandom) {
        let isFirst = Bool.random(using: &random)
        table = isFirst ? "t" : "u"
        // Without a name, a nested query of the same table cannot refer to the alias.
        let isNamed = Bool.random(using: &random)
        let alias = TableAlias(name: isNamed ? "outer" : nil)
        request = Table(table).aliased(alias)
        addFilters(
            alias, other: isNamed && Bool.random(using: &random) ? table : isFirst ? "u" : "t", &random)
        if isByID { addIDs(&random) }
        switch Int.random(in: 0..<6, using: &random) {
        case 0: addGroups(&random)
        case 1: addDistinctSelection(&random)
        case 2: addSelection(&random)
        default: addOrder(&random)
        }
    }

    private mutating func addFilters(_ alias: TableAlias<Void>, other: String, _ random: inout SeededRandom) {
        for _ in 0..<Int.random(in: 0..<3, using: &random) {
            let filter =
                Int.random(in: 0..<4, using: &random) == 0
                ? RandomExpression.query(of: other, outer: alias, &random)
                : RandomExpression(depth: 3, &random)
            request = request.filter(
                Bool.random(using: &random) ? filter.expression : alias[filter.expression])
            conditions.append(filter.sql)
        }
        switch Int.random(in: 0..<8, using: &random) {
        case 0: addIDs(&random)
        case 1:
            let (n, t) = (
                Int.random(in: 0...9, using: &random), ["a", "b"].randomElement(using: &random) ?? "a"
            )
            request = request.filter(key: ["t": t, "n": n])
            conditions.append("o.n = \(n) AND o.t = '\(t)'")
        case 2:
            let value = RandomExpression.value(&random)
            request = request.filter(literal: "\(Column("x")) IS \(value.value)")
            conditions.append("o.x IS \(value.sql)")
        default: break
        }
    }

    private mutating func addIDs(_ random: inout SeededRandom) {
        let ids = (0..<Int.random(in: 0..<6, using: &random)).map { _ in
            Int.random(in: 1...20, using: &random)
        }
        request = request.filter(keys: ids)
        conditions.append("o.id IN (\(ids.map(String.init).joined(separator: ", ")))")
    }

    private mutating func addSelection(_ random: inout SeededRandom) {
        let expressions = (0...Int.random(in: 0..<3, using: &random)).map { _ in
            RandomExpression(depth: 2, &random)
        }
        if Bool.random(using: &random) {
            request = request.select(expressions.map(\.expression))
            selection = expressions.map(\.sql).joined(separator: ", ")
        } else {
            request = request.annotated(with: expressions.map(\.expression))
            selection = "*, " + expressions.map(\.sql).joined(separator: ", ")
        }
    }

    private mutating func addDistinctSelection(_ random: inout SeededRandom) {
        let columns = Array(RandomExpression.columns.shuffled(using: &random).prefix(2))
        request = request.select(columns.map { Column($0) }).distinct()
        selection = columns.map { "o." + $0 }.joined(separator: ", ")
        isDistinct = true
    }

    private mutating func addGroups(_ random: inout SeededRandom) {
        let column = RandomExpression.randomColumn(&random)
        let filter = RandomExpression(depth: 1, &random)
        let argument = RandomExpression.randomColumn(&random)
        let aggregates: [(SQLExpression, String)] = [
            (
                max(argument.expression, filter: filter.expression),
                "MAX(\(argument.sql)) FILTER (WHERE \(filter.sql))"
            ),
            (min(argument.expression), "MIN(\(argument.sql))"),
            (count(argument.expression), "COUNT(\(argument.sql))"),
            (count(distinct: argument.expression), "COUNT(DISTINCT \(argument.sql))"),
            (total(argument.expression), "TOTAL(\(argument.sql))"),
            (average(argument.expression), "AVG(\(argument.sql))"),
            (sum(argument.expression), "SUM(\(argument.sql))"),
        ]
        let (aggregate, sql) = aggregates.randomElement(using: &random) ?? aggregates[0]
        request = request.select(column.expression, aggregate).group(column.expression)
        selection = "\(column.sql), \(sql)"
        group = " GROUP BY \(column.sql)"
        if Bool.random(using: &random) {
            request = request.having(aggregate > 1)
            group += " HAVING (\(sql)) > 1"
        }
    }

    private mutating func addOrder(_ random: inout SeededRandom) {
        // SQLite would interpret a number alone as a column number.
        let term = RandomExpression.randomColumn(&random)
        let factor = RandomExpression(depth: 1, &random)
        let isPlain = Bool.random(using: &random)
        let expression = isPlain ? term.expression : term.expression + factor.expression
        let sql = isPlain ? term.sql : "(\(term.sql)) + (\(factor.sql))"
        let isReversed = Bool.random(using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
            request = request.order(expression.asc, Column("id"))
            order = isReversed ? "\(sql) DESC, o.id DESC" : "\(sql), o.id"
        case 1:
            request = request.order(expression.desc, Column("id").desc)
            order = isReversed ? "\(sql), o.id" : "\(sql) DESC, o.id DESC"
        case 2:
            request = request.order(expression.ascNullsLast, Column("id"))
            order =
                isReversed ? "(\(sql)) IS NOT NULL, \(sql) DESC, o.id DESC" : "(\(sql)) IS NULL, \(sql), o.id"
        default:
            request = request.order(expression).withStableOrder()
            order = isReversed ? "\(sql) DESC, o.id DESC" : "\(sql), o.id"
        }
        order = " ORDER BY " + order
        if isReversed { request = request.reversed() }
        isOrdered = true
        guard Bool.random(using: &random) else { return }
        let (count, offset) = (Int.random(in: -1...5, using: &random), Int.random(in: 0...3, using: &random))
        request = request.limit(count, offset: offset)
        limit = " LIMIT \(count) OFFSET \(offset)"
    }
}
