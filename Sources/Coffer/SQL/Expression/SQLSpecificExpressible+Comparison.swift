// The operators come in families: with a Swift value on either side, and with two expressions. The last
// overload resolves the ambiguity between the first two.

// MARK: - Equality

extension SQLSpecificExpressible {
    /// The `=` operator, or `IS NULL` for nil.
    ///
    ///     // "guestId" = ?
    ///     Column("guestId") == 3
    ///     // "expiry" IS NULL
    ///     Column("expiry") == nil
    public static func == (lhs: Self, rhs: (any SQLExpressible)?) -> SQLExpression {
        .equal(lhs.sqlExpression, rhs?.sqlExpression ?? .databaseValue(.null))
    }

    /// The `=` operator, or `IS NULL` for nil.
    public static func == (lhs: (any SQLExpressible)?, rhs: Self) -> SQLExpression {
        .equal(lhs?.sqlExpression ?? .databaseValue(.null), rhs.sqlExpression)
    }

    /// The `=` operator, or `IS NULL` if one side is the value NULL.
    public static func == (lhs: Self, rhs: some SQLSpecificExpressible) -> SQLExpression {
        .equal(lhs.sqlExpression, rhs.sqlExpression)
    }

    /// The `=` operator, with 1 for true and 0 for false.
    public static func == (lhs: Self, rhs: Bool) -> SQLExpression {
        .equal(lhs.sqlExpression, rhs.sqlExpression)
    }

    /// The `=` operator, with 1 for true and 0 for false.
    public static func == (lhs: Bool, rhs: Self) -> SQLExpression {
        .equal(rhs.sqlExpression, lhs.sqlExpression)
    }

    /// The `<>` operator, or `IS NOT NULL` for nil.
    public static func != (lhs: Self, rhs: (any SQLExpressible)?) -> SQLExpression {
        .notEqual(lhs.sqlExpression, rhs?.sqlExpression ?? .databaseValue(.null))
    }

    /// The `<>` operator, or `IS NOT NULL` for nil.
    public static func != (lhs: (any SQLExpressible)?, rhs: Self) -> SQLExpression {
        .notEqual(lhs?.sqlExpression ?? .databaseValue(.null), rhs.sqlExpression)
    }

    /// The `<>` operator, or `IS NOT NULL` if one side is the value NULL.
    public static func != (lhs: Self, rhs: some SQLSpecificExpressible) -> SQLExpression {
        .notEqual(lhs.sqlExpression, rhs.sqlExpression)
    }

    /// The `<>` operator, with 1 for true and 0 for false.
    public static func != (lhs: Self, rhs: Bool) -> SQLExpression {
        .notEqual(lhs.sqlExpression, rhs.sqlExpression)
    }

    /// The `<>` operator, with 1 for true and 0 for false.
    public static func != (lhs: Bool, rhs: Self) -> SQLExpression {
        .notEqual(rhs.sqlExpression, lhs.sqlExpression)
    }
}

// MARK: - Identity

extension SQLSpecificExpressible {
    /// The `IS` operator, in which NULL is equal to NULL and to nothing else.
    public static func === (lhs: Self, rhs: (any SQLExpressible)?) -> SQLExpression {
        .identity(.isSame, lhs.sqlExpression, rhs?.sqlExpression ?? .databaseValue(.null))
    }

    /// The `IS` operator.
    public static func === (lhs: (any SQLExpressible)?, rhs: Self) -> SQLExpression {
        .identity(.isSame, lhs?.sqlExpression ?? .databaseValue(.null), rhs.sqlExpression)
    }

    /// The `IS` operator.
    public static func === (lhs: Self, rhs: some SQLSpecificExpressible) -> SQLExpression {
        .identity(.isSame, lhs.sqlExpression, rhs.sqlExpression)
    }

    /// The `IS NOT` operator, in which NULL differs from everything except NULL.
    public static func !== (lhs: Self, rhs: (any SQLExpressible)?) -> SQLExpression {
        .identity(.isNotSame, lhs.sqlExpression, rhs?.sqlExpression ?? .databaseValue(.null))
    }

    /// The `IS NOT` operator.
    public static func !== (lhs: (any SQLExpressible)?, rhs: Self) -> SQLExpression {
        .identity(.isNotSame, lhs?.sqlExpression ?? .databaseValue(.null), rhs.sqlExpression)
    }

    /// The `IS NOT` operator.
    public static func !== (lhs: Self, rhs: some SQLSpecificExpressible) -> SQLExpression {
        .identity(.isNotSame, lhs.sqlExpression, rhs.sqlExpression)
    }
}

// MARK: - Order

extension SQLSpecificExpressible {
    /// The `<` operator.
    public static func < (lhs: Self, rhs: some SQLExpressible) -> SQLExpression { .binary(.less, lhs, rhs) }

    /// The `<` operator.
    public static func < (lhs: some SQLExpressible, rhs: Self) -> SQLExpression { .binary(.less, lhs, rhs) }

    /// The `<` operator.
    public static func < (lhs: Self, rhs: some SQLSpecificExpressible) -> SQLExpression {
        .binary(.less, lhs, rhs)
    }

    /// The `<=` operator.
    public static func <= (lhs: Self, rhs: some SQLExpressible) -> SQLExpression {
        .binary(.lessOrEqual, lhs, rhs)
    }

    /// The `<=` operator.
    public static func <= (lhs: some SQLExpressible, rhs: Self) -> SQLExpression {
        .binary(.lessOrEqual, lhs, rhs)
    }

    /// The `<=` operator.
    public static func <= (lhs: Self, rhs: some SQLSpecificExpressible) -> SQLExpression {
        .binary(.lessOrEqual, lhs, rhs)
    }

    /// The `>` operator.
    public static func > (lhs: Self, rhs: some SQLExpressible) -> SQLExpression {
        .binary(.greater, lhs, rhs)
    }

    /// The `>` operator.
    public static func > (lhs: some SQLExpressible, rhs: Self) -> SQLExpression {
        .binary(.greater, lhs, rhs)
    }

    /// The `>` operator.
    public static func > (lhs: Self, rhs: some SQLSpecificExpressible) -> SQLExpression {
        .binary(.greater, lhs, rhs)
    }

    /// The `>=` operator.
    public static func >= (lhs: Self, rhs: some SQLExpressible) -> SQLExpression {
        .binary(.greaterOrEqual, lhs, rhs)
    }

    /// The `>=` operator.
    public static func >= (lhs: some SQLExpressible, rhs: Self) -> SQLExpression {
        .binary(.greaterOrEqual, lhs, rhs)
    }

    /// The `>=` operator.
    public static func >= (lhs: Self, rhs: some SQLSpecificExpressible) -> SQLExpression {
        .binary(.greaterOrEqual, lhs, rhs)
    }
}
