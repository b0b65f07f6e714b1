// MARK: - Numbers

extension SQLSpecificExpressible {
    /// The `-` operator before its operand.
    public static prefix func - (value: Self) -> SQLExpression { .unary(.minus, value) }

    /// The `+` operator, which adds numbers. To concatenate strings, see `joined(operator:)`.
    public static func + (lhs: Self, rhs: some SQLExpressible) -> SQLExpression {
        .associative(.add, lhs, rhs)
    }

    /// The `+` operator, which adds numbers. To concatenate strings, see `joined(operator:)`.
    public static func + (lhs: some SQLExpressible, rhs: Self) -> SQLExpression {
        .associative(.add, lhs, rhs)
    }

    /// The `+` operator, which adds numbers. To concatenate strings, see `joined(operator:)`.
    public static func + (lhs: Self, rhs: some SQLSpecificExpressible) -> SQLExpression {
        .associative(.add, lhs, rhs)
    }

    /// The `-` operator.
    public static func - (lhs: Self, rhs: some SQLExpressible) -> SQLExpression {
        .binary(.subtract, lhs, rhs)
    }

    /// The `-` operator.
    public static func - (lhs: some SQLExpressible, rhs: Self) -> SQLExpression {
        .binary(.subtract, lhs, rhs)
    }

    /// The `-` operator.
    public static func - (lhs: Self, rhs: some SQLSpecificExpressible) -> SQLExpression {
        .binary(.subtract, lhs, rhs)
    }

    /// The `*` operator.
    public static func * (lhs: Self, rhs: some SQLExpressible) -> SQLExpression {
        .associative(.multiply, lhs, rhs)
    }

    /// The `*` operator.
    public static func * (lhs: some SQLExpressible, rhs: Self) -> SQLExpression {
        .associative(.multiply, lhs, rhs)
    }

    /// The `*` operator.
    public static func * (lhs: Self, rhs: some SQLSpecificExpressible) -> SQLExpression {
        .associative(.multiply, lhs, rhs)
    }

    /// The `/` operator, which rounds towards zero if both operands are integers.
    public static func / (lhs: Self, rhs: some SQLExpressible) -> SQLExpression { .binary(.divide, lhs, rhs) }

    /// The `/` operator, which rounds towards zero if both operands are integers.
    public static func / (lhs: some SQLExpressible, rhs: Self) -> SQLExpression { .binary(.divide, lhs, rhs) }

    /// The `/` operator, which rounds towards zero if both operands are integers.
    public static func / (lhs: Self, rhs: some SQLSpecificExpressible) -> SQLExpression {
        .binary(.divide, lhs, rhs)
    }
}

// MARK: - Bits

extension SQLSpecificExpressible {
    /// The `~` operator.
    public static prefix func ~ (value: Self) -> SQLExpression { .unary(.bitwiseNot, value) }

    /// The `&` operator.
    public static func & (lhs: Self, rhs: some SQLExpressible) -> SQLExpression {
        .associative(.bitwiseAnd, lhs, rhs)
    }

    /// The `&` operator.
    public static func & (lhs: some SQLExpressible, rhs: Self) -> SQLExpression {
        .associative(.bitwiseAnd, lhs, rhs)
    }

    /// The `&` operator.
    public static func & (lhs: Self, rhs: some SQLSpecificExpressible) -> SQLExpression {
        .associative(.bitwiseAnd, lhs, rhs)
    }

    /// The `|` operator.
    public static func | (lhs: Self, rhs: some SQLExpressible) -> SQLExpression {
        .associative(.bitwiseOr, lhs, rhs)
    }

    /// The `|` operator.
    public static func | (lhs: some SQLExpressible, rhs: Self) -> SQLExpression {
        .associative(.bitwiseOr, lhs, rhs)
    }

    /// The `|` operator.
    public static func | (lhs: Self, rhs: some SQLSpecificExpressible) -> SQLExpression {
        .associative(.bitwiseOr, lhs, rhs)
    }

    /// The `<<` operator.
    public static func << (lhs: Self, rhs: some SQLExpressible) -> SQLExpression {
        .binary(.leftShift, lhs, rhs)
    }

    /// The `<<` operator.
    public static func << (lhs: some SQLExpressible, rhs: Self) -> SQLExpression {
        .binary(.leftShift, lhs, rhs)
    }

    /// The `<<` operator.
    public static func << (lhs: Self, rhs: some SQLSpecificExpressible) -> SQLExpression {
        .binary(.leftShift, lhs, rhs)
    }

    /// The `>>` operator.
    public static func >> (lhs: Self, rhs: some SQLExpressible) -> SQLExpression {
        .binary(.rightShift, lhs, rhs)
    }

    /// The `>>` operator.
    public static func >> (lhs: some SQLExpressible, rhs: Self) -> SQLExpression {
        .binary(.rightShift, lhs, rhs)
    }

    /// The `>>` operator.
    public static func >> (lhs: Self, rhs: some SQLSpecificExpressible) -> SQLExpression {
        .binary(.rightShift, lhs, rhs)
    }
}
