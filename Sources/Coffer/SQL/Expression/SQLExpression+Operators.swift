extension SQLExpression {
    /// A prefix operator.
    enum UnaryOperator: Sendable {
        case minus, bitwiseNot

        var sql: String {
            switch self {
            case .minus: "-"
            case .bitwiseNot: "~"
            }
        }
    }

    /// An operator between two operands that are never regrouped.
    enum BinaryOperator: Sendable {
        case equal, notEqual, isSame, isNotSame
        case less, lessOrEqual, greater, greaterOrEqual
        case subtract, divide, leftShift, rightShift
        case match, jsonRepresentation, jsonValue

        var sql: String {
            switch self {
            case .equal: "="
            case .notEqual: "<>"
            case .isSame: "IS"
            case .isNotSame: "IS NOT"
            case .less: "<"
            case .lessOrEqual: "<="
            case .greater: ">"
            case .greaterOrEqual: ">="
            case .subtract: "-"
            case .divide: "/"
            case .leftShift: "<<"
            case .rightShift: ">>"
            case .match: "MATCH"
            case .jsonRepresentation: "->"
            case .jsonValue: "->>"
            }
        }

        /// The operator that gives the opposite result, also when an operand is NULL.
        ///
        /// `<` has none, because `NOT (a < b)` expresses the intention more clearly than `a >= b`.
        var negated: BinaryOperator? {
            switch self {
            case .equal: .notEqual
            case .notEqual: .equal
            case .isSame: .isNotSame
            case .isNotSame: .isSame
            default: nil
            }
        }
    }

    /// An operator that joins any number of operands: see `joined(operator:)`.
    public struct AssociativeBinaryOperator: Hashable, Sendable {
        let sql: String

        /// The result for an empty list of operands.
        let neutralValue: DatabaseValue

        /// True if grouping the operands cannot change the result, not even by rounding or overflow.
        let isStrictlyAssociative: Bool

        /// The `+` operator; 0 without operands.
        public static let add = Self(sql: "+", neutralValue: 0.databaseValue, isStrictlyAssociative: false)

        /// The `*` operator; 1 without operands.
        public static let multiply = Self(
            sql: "*", neutralValue: 1.databaseValue, isStrictlyAssociative: false)

        /// The `AND` operator; true without operands.
        public static let and = Self(
            sql: "AND", neutralValue: true.databaseValue, isStrictlyAssociative: true)

        /// The `OR` operator; false without operands.
        public static let or = Self(sql: "OR", neutralValue: false.databaseValue, isStrictlyAssociative: true)

        /// The `||` operator, which concatenates strings; the empty string without operands.
        public static let concat = Self(
            sql: "||", neutralValue: "".databaseValue, isStrictlyAssociative: true)

        /// The `&` operator; -1, which has all bits set, without operands.
        public static let bitwiseAnd = Self(
            sql: "&", neutralValue: (-1).databaseValue, isStrictlyAssociative: true)

        /// The `|` operator; 0 without operands.
        public static let bitwiseOr = Self(
            sql: "|", neutralValue: 0.databaseValue, isStrictlyAssociative: true)
    }
}

// MARK: - Construction

extension SQLExpression {
    static func unary(_ op: UnaryOperator, _ operand: some SQLExpressible) -> SQLExpression {
        SQLExpression(impl: .unary(op, operand.sqlExpression))
    }

    static func binary(_ op: BinaryOperator, _ lhs: some SQLExpressible, _ rhs: some SQLExpressible)
        -> SQLExpression
    {
        let (lhs, rhs) = (lhs.sqlExpression, rhs.sqlExpression)
        // SQLite looks for a collation on both sides. It is written on the right, to match the expressions in
        // existing indexes.
        if op.isComparison, case .collated(let operand, let collation) = lhs.impl, !rhs.impl.isCollated {
            return SQLExpression(impl: .binary(op, operand, SQLExpression(impl: .collated(rhs, collation))))
        }
        return SQLExpression(impl: .binary(op, lhs, rhs))
    }

    static func associative(
        _ op: AssociativeBinaryOperator, _ lhs: some SQLExpressible, _ rhs: some SQLExpressible
    ) -> SQLExpression {
        associative(op, [lhs.sqlExpression, rhs.sqlExpression])
    }

    static func associative(_ op: AssociativeBinaryOperator, _ operands: [SQLExpression]) -> SQLExpression {
        let operands = op.isStrictlyAssociative ? operands.flatMap { $0.operands(of: op) } : operands
        guard let first = operands.first else { return .databaseValue(op.neutralValue) }
        return operands.count == 1 ? first : SQLExpression(impl: .associative(op, operands))
    }

    /// Returns the operands if the expression has this operator, or else the expression itself.
    private func operands(of op: AssociativeBinaryOperator) -> [SQLExpression] {
        if case .associative(op, let operands) = impl { operands } else { [self] }
    }

    /// Creates the `=` operator, or `IS NULL` if one side is the value NULL.
    static func equal(_ lhs: SQLExpression, _ rhs: SQLExpression) -> SQLExpression {
        comparison(.equal, withNull: .isSame, lhs, rhs)
    }

    /// Creates the `<>` operator, or `IS NOT NULL` if one side is the value NULL.
    static func notEqual(_ lhs: SQLExpression, _ rhs: SQLExpression) -> SQLExpression {
        comparison(.notEqual, withNull: .isNotSame, lhs, rhs)
    }

    /// Creates the `IS` or `IS NOT` operator, with the value NULL on the right-hand side.
    static func identity(_ op: BinaryOperator, _ lhs: SQLExpression, _ rhs: SQLExpression) -> SQLExpression {
        comparison(op, withNull: op, lhs, rhs)
    }

    private static func comparison(
        _ op: BinaryOperator, withNull nullOperator: BinaryOperator, _ lhs: SQLExpression,
        _ rhs: SQLExpression
    ) -> SQLExpression {
        if rhs.impl.isNull { return binary(nullOperator, lhs, rhs) }
        if lhs.impl.isNull { return binary(nullOperator, rhs, lhs) }
        return binary(op, lhs, rhs)
    }

    /// The opposite condition.
    var negated: SQLExpression {
        switch impl {
        case .binary(let op, let lhs, let rhs):
            guard let negatedOperator = op.negated else { break }
            return .binary(negatedOperator, lhs, rhs)
        case .boolean(let value):
            return SQLExpression(impl: .boolean(!value))
        case .like(let operand, let pattern, let escape, let isNegated):
            return SQLExpression(
                impl: .like(operand, pattern: pattern, escape: escape, isNegated: !isNegated))
        case .between(let operand, let lower, let upper, let isNegated):
            return SQLExpression(impl: .between(operand, lower, upper, isNegated: !isNegated))
        case .isIn(let operand, let members, let isNegated):
            return SQLExpression(impl: .isIn(operand, members, isNegated: !isNegated))
        case .exists(let subquery, let isNegated):
            return SQLExpression(impl: .exists(subquery, isNegated: !isNegated))
        case .rowExists(let alias, let isNegated):
            return SQLExpression(impl: .rowExists(alias, isNegated: !isNegated))
        case .qualified(let expression, let alias):
            return SQLExpression(impl: .qualified(expression.negated, alias))
        default:
            break
        }
        return SQLExpression(impl: .not(self))
    }
}

// MARK: - Joining

extension Sequence where Element: SQLSpecificExpressible {
    /// Returns the expressions joined by an operator; the operator's neutral value if there are none.
    ///
    ///     // "weight" * "amount" * ?
    ///     [Column("weight"), Column("amount"), 0.001.databaseValue].joined(operator: .multiply)
    public func joined(operator: SQLExpression.AssociativeBinaryOperator) -> SQLExpression {
        .associative(`operator`, map(\.sqlExpression))
    }
}

extension Sequence<any SQLSpecificExpressible> {
    /// Returns the expressions joined by an operator; the operator's neutral value if there are none.
    public func joined(operator: SQLExpression.AssociativeBinaryOperator) -> SQLExpression {
        .associative(`operator`, map(\.sqlExpression))
    }
}
