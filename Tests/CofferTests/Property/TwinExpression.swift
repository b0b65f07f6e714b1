import Coffer
import CofferTestSupport

/// An expression of the library and its handwritten SQL twin, with every operand in parentheses and every
/// value as an argument.
struct TwinExpression {
    let expression: SQLExpression
    let sql: String
    let arguments: [DatabaseValue]

    private init(_ expression: SQLExpression, _ sql: String, _ arguments: [DatabaseValue]) {
        self.expression = expression
        self.sql = sql
        self.arguments = arguments
    }

    /// Returns a column, or a value that is not NULL. The meaning of NULL for operators is tested separately.
    private static func leaf(_ columns: [String], _ random: inout SeededRandom) -> TwinExpression {
        if let name = columns.randomElement(using: &random), Int.random(in: 0..<3, using: &random) > 0 {
            return TwinExpression(Column(name).sqlExpression, RandomTable.quote(name), [])
        }
        var value = RandomTable.value(&random)
        while value.isNull { value = RandomTable.value(&random) }
        return TwinExpression(value.sqlExpression, "?", [value])
    }

    private static func column(_ columns: [String], _ random: inout SeededRandom) -> TwinExpression {
        let name = columns.randomElement(using: &random) ?? ""
        return TwinExpression(Column(name).sqlExpression, RandomTable.quote(name), [])
    }

    static func value(_ columns: [String], depth: Int, _ random: inout SeededRandom) -> TwinExpression {
        guard depth > 0 else { return leaf(columns, &random) }
        let a = value(columns, depth: depth - 1, &random)
        let b = value(columns, depth: depth - 1, &random)
        func binary(_ op: String, _ expression: SQLExpression) -> TwinExpression {
            TwinExpression(expression, "(\(a.sql)) \(op) (\(b.sql))", a.arguments + b.arguments)
        }
        switch Int.random(in: 0..<14, using: &random) {
        case 0: return binary("+", a.expression + b.expression)
        case 1: return binary("-", a.expression - b.expression)
        case 2: return binary("*", a.expression * b.expression)
        case 3: return binary("/", a.expression / b.expression)
        case 4: return binary("&", a.expression & b.expression)
        case 5: return binary("|", a.expression | b.expression)
        case 6: return binary("||", [a.expression, b.expression].joined(operator: .concat))
        case 7: return TwinExpression(-a.expression, "-(\(a.sql))", a.arguments)
        case 8: return TwinExpression(length(a.expression), "length(\(a.sql))", a.arguments)
        case 9:
            return TwinExpression(
                a.expression ?? b.expression, "ifnull(\(a.sql), \(b.sql))", a.arguments + b.arguments)
        case 10:
            return TwinExpression(
                coalesce([a.expression, b.expression]), "coalesce(\(a.sql), \(b.sql))",
                a.arguments + b.arguments)
        case 11: return TwinExpression(cast(a.expression, as: .text), "cast(\(a.sql) AS TEXT)", a.arguments)
        default: return depth > 1 ? condition(columns, depth: depth - 1, &random) : leaf(columns, &random)
        }
    }

    static func condition(_ columns: [String], depth: Int, _ random: inout SeededRandom) -> TwinExpression {
        if depth > 0, Int.random(in: 0..<2, using: &random) == 0 {
            let a = condition(columns, depth: depth - 1, &random)
            let b = condition(columns, depth: depth - 1, &random)
            switch Int.random(in: 0..<3, using: &random) {
            case 0:
                return TwinExpression(
                    a.expression && b.expression, "(\(a.sql)) AND (\(b.sql))", a.arguments + b.arguments)
            case 1:
                return TwinExpression(
                    a.expression || b.expression, "(\(a.sql)) OR (\(b.sql))", a.arguments + b.arguments)
            default: return TwinExpression(!a.expression, "NOT (\(a.sql))", a.arguments)
            }
        }
        let a = value(columns, depth: depth, &random)
        let b = value(columns, depth: depth, &random)
        let c = leaf(columns, &random)
        func binary(_ op: String, _ expression: SQLExpression) -> TwinExpression {
            TwinExpression(expression, "(\(a.sql)) \(op) (\(b.sql))", a.arguments + b.arguments)
        }
        switch Int.random(in: 0..<15, using: &random) {
        case 0: return binary("=", a.expression == b.expression)
        case 1: return binary("<>", a.expression != b.expression)
        case 2: return binary("<", a.expression < b.expression)
        case 3: return binary("<=", a.expression <= b.expression)
        case 4: return binary(">", a.expression > b.expression)
        case 5: return binary(">=", a.expression >= b.expression)
        case 6: return binary("IS", a.expression === b.expression)
        case 7: return binary("IS NOT", a.expression !== b.expression)
        case 8: return TwinExpression(a.expression == DatabaseValue.null, "(\(a.sql)) IS NULL", a.arguments)
        case 9:
            return TwinExpression(a.expression != DatabaseValue.null, "(\(a.sql)) IS NOT NULL", a.arguments)
        case 10:
            return TwinExpression(
                [b.expression, c.expression].contains(a.expression), "(\(a.sql)) IN ((\(b.sql)), (\(c.sql)))",
                a.arguments + b.arguments + c.arguments)
        case 11:
            return TwinExpression(
                a.expression.like("%a%"), "(\(a.sql)) LIKE ?", a.arguments + ["%a%".databaseValue])
        case 12:
            let column = column(columns, &random)
            let values = ["a", "ab"].map(\.databaseValue)
            return TwinExpression(
                ("a"..."ab").contains(Column(column.name(of: columns)).sqlExpression),
                "(\(column.sql)) BETWEEN ? AND ?", values)
        case 13:
            // For a condition, the collation would be the one of its operands.
            return TwinExpression(
                [a.expression, "".sqlExpression].joined(operator: .concat).collating(.nocase) == b.expression,
                "((((\(a.sql)) || '')) COLLATE NOCASE) = (\(b.sql))", a.arguments + b.arguments)
        default: return TwinExpression(a.expression, a.sql, a.arguments)
        }
    }

    private func name(of columns: [String]) -> String { columns.first { RandomTable.quote($0) == sql } ?? "" }
}
