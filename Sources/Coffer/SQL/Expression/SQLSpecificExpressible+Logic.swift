extension SQLSpecificExpressible {
    /// The opposite condition: `NOT expression`, or the opposite operator, such as `NOT IN` for `IN`.
    public static prefix func ! (value: Self) -> SQLExpression { value.sqlExpression.negated }

    /// The `AND` operator.
    public static func && (lhs: Self, rhs: some SQLExpressible) -> SQLExpression {
        .associative(.and, lhs, rhs)
    }

    /// The `AND` operator.
    public static func && (lhs: some SQLExpressible, rhs: Self) -> SQLExpression {
        .associative(.and, lhs, rhs)
    }

    /// The `AND` operator.
    public static func && (lhs: Self, rhs: some SQLSpecificExpressible) -> SQLExpression {
        .associative(.and, lhs, rhs)
    }

    /// The `OR` operator. To concatenate strings, see `joined(operator:)`.
    public static func || (lhs: Self, rhs: some SQLExpressible) -> SQLExpression {
        .associative(.or, lhs, rhs)
    }

    /// The `OR` operator. To concatenate strings, see `joined(operator:)`.
    public static func || (lhs: some SQLExpressible, rhs: Self) -> SQLExpression {
        .associative(.or, lhs, rhs)
    }

    /// The `OR` operator. To concatenate strings, see `joined(operator:)`.
    public static func || (lhs: Self, rhs: some SQLSpecificExpressible) -> SQLExpression {
        .associative(.or, lhs, rhs)
    }

    /// The `IFNULL` function: `rhs` if `lhs` is NULL, or else `lhs`.
    public static func ?? (lhs: Self, rhs: some SQLExpressible) -> SQLExpression {
        .function("IFNULL", [lhs.sqlExpression, rhs.sqlExpression])
    }
}
