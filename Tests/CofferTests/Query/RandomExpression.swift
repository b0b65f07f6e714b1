import Coffer
import CofferTestSupport

/// An expression and its SQL equivalent, which is generated independently of Coffer's SQL, with all
/// parentheses and literal values.
struct RandomExpression {
    var expression: SQLExpression
    var sql: String

    /// The columns of both tables, named after their declared types.
    static let columns = ["id", "n", "r", "t", "x"]

    private init(_ expression: SQLExpression, _ sql: String) {
        self.expression = expression
        self.sql = sql
    }

    static func column(_ name: String, of table: String = "o") -> RandomExpression {
        RandomExpression(Column(name).sqlExpression, "\(table).\(name)")
    }

    static func randomColumn(of table: String = "o", _ random: inout SeededRandom) -> RandomExpression {
        // The element exists, because the list is not empty.
        column(columns.randomElement(using: &random) ?? "id", of: table)
    }

    static func value(_ random: inout SeededRandom) -> (value: DatabaseValue, sql: String) {
        switch Int.random(in: 0..<10, using: &random) {
        case 0: return (.null, "NULL")
        case 1..<6:
            let value = Int.random(in: -3...9, using: &random)
            return (value.databaseValue, "\(value)")
        case 6, 7:
            let value = Double(Int.random(in: -6...6, using: &random)) / 2
            return (value.databaseValue, "\(value)")
        default:
            let text = ["", "a", "B", "b", "1", "O'B", "ab%", "é"].randomElement(using: &random) ?? ""
            return (text.databaseValue, "'" + text.replacing("'", with: "''") + "'")
        }
    }

    /// Creates an expression of the columns of a table.
    ///
    /// - Parameters:
    ///   - depth: the maximum nesting of operators.
    ///   - table: the name of the table in the SQL.
    init(depth: Int, of table: String = "o", _ random: inout SeededRandom) {
        guard depth > 0, Int.random(in: 0..<6, using: &random) > 0 else {
            if Bool.random(using: &random) {
                self = .randomColumn(of: table, &random)
            } else {
                let (value, sql) = RandomExpression.value(&random)
                self.init(value.sqlExpression, sql)
            }
            return
        }
        let a = RandomExpression(depth: depth - 1, of: table, &random)
        let b = RandomExpression(depth: depth - 1, of: table, &random)
        let c = RandomExpression(depth: depth - 1, of: table, &random)
        let binary: (SQLExpression, String) -> RandomExpression = {
            RandomExpression($0, "((\(a.sql)) \($1) (\(b.sql)))")
        }
        let (l, r) = (a.expression, b.expression)
        switch Int.random(in: 0..<34, using: &random) {
        case 0: self = binary(l + r, "+")
        case 1: self = binary(l - r, "-")
        case 2: self = binary(l * r, "*")
        case 3: self = binary(l / r, "/")
        case 4: self = binary(l & r, "&")
        case 5: self = binary(l | r, "|")
        case 6: self = binary(l << r, "<<")
        case 7: self = binary(l >> r, ">>")
        case 8: self = binary(l < r, "<")
        case 9: self = binary(l <= r, "<=")
        case 10: self = binary(l > r, ">")
        case 11: self = binary(l >= r, ">=")
        case 12: self = binary(l && r, "AND")
        case 13: self = binary(l || r, "OR")
        case 14: self = binary(l === r, "IS")
        case 15: self = binary(l !== r, "IS NOT")
        // With a NULL value, Swift's operators test for NULL.
        case 16: self = binary(l == r, a.sql == "NULL" || b.sql == "NULL" ? "IS" : "=")
        case 17: self = binary(l != r, a.sql == "NULL" || b.sql == "NULL" ? "IS NOT" : "<>")
        case 18:
            self.init(
                !(l == r), "(NOT ((\(a.sql)) \(a.sql == "NULL" || b.sql == "NULL" ? "IS" : "=") (\(b.sql))))")
        case 19: self.init(!l, "(NOT (\(a.sql)))")
        case 20: self.init(-l, "(-(\(a.sql)))")
        case 21: self.init(~l, "(~(\(a.sql)))")
        case 22: self.init(l ?? r, "IFNULL(\(a.sql), \(b.sql))")
        case 23: self.init(coalesce([l, r, c.expression]), "COALESCE(\(a.sql), \(b.sql), \(c.sql))")
        case 24:
            self.init(
                [l, r, c.expression].joined(operator: .concat), "((\(a.sql)) || (\(b.sql)) || (\(c.sql)))")
        case 25: self.init([l, r].contains(c.expression), "((\(c.sql)) IN ((\(a.sql)), (\(b.sql))))")
        case 26:
            let lower = Int.random(in: -3...3, using: &random)
            self.init((lower...(lower + 4)).contains(l), "((\(a.sql)) BETWEEN \(lower) AND \(lower + 4))")
        case 27:
            let lower = Int.random(in: -3...3, using: &random)
            self.init(
                !(lower..<(lower + 4)).contains(l),
                "(NOT ((\(a.sql)) >= \(lower) AND (\(a.sql)) < \(lower + 4)))")
        case 28: self.init(cast(l, as: .text), "CAST((\(a.sql)) AS TEXT)")
        case 29: self.init(cast(l, as: .real), "CAST((\(a.sql)) AS REAL)")
        case 30: self.init(length(l), "LENGTH(\(a.sql))")
        case 31: self.init(max(l, r), "MAX(\(a.sql), \(b.sql))")
        case 32:
            // For a condition, the collation would be the one of its operands.
            let text = [l, "".sqlExpression].joined(operator: .concat)
            self.init(text.collating(.nocase) == "B", "(((\(a.sql)) || '') COLLATE NOCASE = 'B')")
        default: self.init(l.like("a%"), "((\(a.sql)) LIKE 'a%')")
        }
    }

    /// Returns a condition with a query of another table that may refer to the outer one.
    static func query(of table: String, outer: some TableAliasBase, _ random: inout SeededRandom)
        -> RandomExpression
    {
        let inner = RandomExpression(depth: 2, of: "i", &random)
        let member = RandomExpression(depth: 1, &random)
        let key = randomColumn(&random)
        let (column, outerColumn) = (
            columns.randomElement(using: &random) ?? "id", columns.randomElement(using: &random) ?? "id"
        )
        let request = Table(table).filter(inner.expression)
        let correlated = request.filter(Column(column) == outer[Column(outerColumn)])
        let sql = "SELECT * FROM \(table) AS i WHERE (\(inner.sql))"
        let correlation = " AND i.\(column) = o.\(outerColumn)"
        return switch Int.random(in: 0..<4, using: &random) {
        case 0: RandomExpression(correlated.exists(), "(EXISTS (\(sql)\(correlation)))")
        case 1: RandomExpression(!correlated.exists(), "(NOT EXISTS (\(sql)\(correlation)))")
        case 2:
            RandomExpression(
                request.select(Column(column)).contains(key.expression),
                "(\(key.sql) IN (SELECT i.\(column) FROM \(table) AS i WHERE (\(inner.sql))))")
        default:
            RandomExpression(
                correlated.select(max(Column("n"))) > member.expression,
                "((SELECT MAX(i.n) FROM \(table) AS i WHERE (\(inner.sql))\(correlation)) > (\(member.sql)))")
        }
    }
}
