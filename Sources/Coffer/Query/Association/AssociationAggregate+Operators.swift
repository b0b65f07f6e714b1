// Operators on aggregates apply to their expressions. The result has no name, except that `??` and `cast`
// keep the name.

extension AssociationAggregate {
    /// Returns an aggregate of the same associations with another expression.
    func map(_ transform: @escaping @Sendable (SQLExpression) -> SQLExpression, key: String? = nil) -> Self {
        AssociationAggregate(associations, key: key) { [expression] db in try transform(expression(db)) }
    }

    private static func combine(
        _ lhs: Self, _ rhs: Self,
        _ combine: @escaping @Sendable (SQLExpression, SQLExpression) -> SQLExpression
    ) -> Self {
        AssociationAggregate(lhs.associations + rhs.associations) { db in
            try combine(lhs.expression(db), rhs.expression(db))
        }
    }

    private static func combine(
        _ lhs: Self, _ rhs: (any SQLExpressible)?,
        _ combine: @escaping @Sendable (SQLExpression, SQLExpression) -> SQLExpression
    ) -> Self {
        let rhs = rhs?.sqlExpression ?? .databaseValue(.null)
        return lhs.map { combine($0, rhs) }
    }

    private static func combine(
        _ lhs: (any SQLExpressible)?, _ rhs: Self,
        _ combine: @escaping @Sendable (SQLExpression, SQLExpression) -> SQLExpression
    ) -> Self {
        Self.combine(rhs, lhs) { combine($1, $0) }
    }
}

// MARK: - Logic

extension AssociationAggregate {
    /// The opposite condition.
    public static prefix func ! (aggregate: Self) -> Self {
        guard let negation = aggregate.negation else { return aggregate.map { !$0 } }
        return AssociationAggregate(aggregate.associations, negation: aggregate.expression, negation)
    }

    /// The `AND` operator.
    public static func && (lhs: Self, rhs: Self) -> Self { combine(lhs, rhs) { $0 && $1 } }

    /// The `AND` operator.
    public static func && (lhs: Self, rhs: some SQLExpressible) -> Self { combine(lhs, rhs) { $0 && $1 } }

    /// The `AND` operator.
    public static func && (lhs: some SQLExpressible, rhs: Self) -> Self { combine(lhs, rhs) { $0 && $1 } }

    /// The `OR` operator.
    public static func || (lhs: Self, rhs: Self) -> Self { combine(lhs, rhs) { $0 || $1 } }

    /// The `OR` operator.
    public static func || (lhs: Self, rhs: some SQLExpressible) -> Self { combine(lhs, rhs) { $0 || $1 } }

    /// The `OR` operator.
    public static func || (lhs: some SQLExpressible, rhs: Self) -> Self { combine(lhs, rhs) { $0 || $1 } }
}

// MARK: - Comparison

extension AssociationAggregate {
    /// The `=` operator, or `IS NULL` for nil.
    public static func == (lhs: Self, rhs: Self) -> Self { combine(lhs, rhs) { $0 == $1 } }

    /// The `=` operator, or `IS NULL` for nil.
    public static func == (lhs: Self, rhs: (any SQLExpressible)?) -> Self { combine(lhs, rhs) { $0 == $1 } }

    /// The `=` operator, or `IS NULL` for nil.
    public static func == (lhs: (any SQLExpressible)?, rhs: Self) -> Self { combine(lhs, rhs) { $0 == $1 } }

    /// The `<>` operator, or `IS NOT NULL` for nil.
    public static func != (lhs: Self, rhs: Self) -> Self { combine(lhs, rhs) { $0 != $1 } }

    /// The `<>` operator, or `IS NOT NULL` for nil.
    public static func != (lhs: Self, rhs: (any SQLExpressible)?) -> Self { combine(lhs, rhs) { $0 != $1 } }

    /// The `<>` operator, or `IS NOT NULL` for nil.
    public static func != (lhs: (any SQLExpressible)?, rhs: Self) -> Self { combine(lhs, rhs) { $0 != $1 } }

    /// Tests whether a condition is true or false. `== false` negates the condition.
    public static func == (lhs: Self, rhs: Bool) -> Self { lhs.equals(rhs) }

    /// Tests whether a condition is true or false.
    public static func == (lhs: Bool, rhs: Self) -> Self { rhs.equals(lhs) }

    /// Tests whether a condition is not true, or not false.
    public static func != (lhs: Self, rhs: Bool) -> Self { lhs.differs(from: rhs) }

    /// Tests whether a condition is not true, or not false.
    public static func != (lhs: Bool, rhs: Self) -> Self { rhs.differs(from: lhs) }

    private func equals(_ value: Bool) -> Self {
        guard negation != nil else { return map { $0 == value } }
        return value ? !(!self) : !self
    }

    private func differs(from value: Bool) -> Self {
        guard negation != nil else { return map { $0 != value } }
        return value ? !self : !(!self)
    }

    /// The `IS` operator, for which NULL is equal only to NULL.
    public static func === (lhs: Self, rhs: Self) -> Self { combine(lhs, rhs) { $0 === $1 } }

    /// The `IS` operator, for which NULL is equal only to NULL.
    public static func === (lhs: Self, rhs: (any SQLExpressible)?) -> Self { combine(lhs, rhs) { $0 === $1 } }

    /// The `IS` operator, for which NULL is equal only to NULL.
    public static func === (lhs: (any SQLExpressible)?, rhs: Self) -> Self { combine(lhs, rhs) { $0 === $1 } }

    /// The `IS NOT` operator, for which NULL differs from everything except NULL.
    public static func !== (lhs: Self, rhs: Self) -> Self { combine(lhs, rhs) { $0 !== $1 } }

    /// The `IS NOT` operator, for which NULL differs from everything except NULL.
    public static func !== (lhs: Self, rhs: (any SQLExpressible)?) -> Self { combine(lhs, rhs) { $0 !== $1 } }

    /// The `IS NOT` operator, for which NULL differs from everything except NULL.
    public static func !== (lhs: (any SQLExpressible)?, rhs: Self) -> Self { combine(lhs, rhs) { $0 !== $1 } }

    /// The `<` operator.
    public static func < (lhs: Self, rhs: Self) -> Self { combine(lhs, rhs) { $0 < $1 } }

    /// The `<` operator.
    public static func < (lhs: Self, rhs: some SQLExpressible) -> Self { combine(lhs, rhs) { $0 < $1 } }

    /// The `<` operator.
    public static func < (lhs: some SQLExpressible, rhs: Self) -> Self { combine(lhs, rhs) { $0 < $1 } }

    /// The `<=` operator.
    public static func <= (lhs: Self, rhs: Self) -> Self { combine(lhs, rhs) { $0 <= $1 } }

    /// The `<=` operator.
    public static func <= (lhs: Self, rhs: some SQLExpressible) -> Self { combine(lhs, rhs) { $0 <= $1 } }

    /// The `<=` operator.
    public static func <= (lhs: some SQLExpressible, rhs: Self) -> Self { combine(lhs, rhs) { $0 <= $1 } }

    /// The `>` operator.
    public static func > (lhs: Self, rhs: Self) -> Self { combine(lhs, rhs) { $0 > $1 } }

    /// The `>` operator.
    public static func > (lhs: Self, rhs: some SQLExpressible) -> Self { combine(lhs, rhs) { $0 > $1 } }

    /// The `>` operator.
    public static func > (lhs: some SQLExpressible, rhs: Self) -> Self { combine(lhs, rhs) { $0 > $1 } }

    /// The `>=` operator.
    public static func >= (lhs: Self, rhs: Self) -> Self { combine(lhs, rhs) { $0 >= $1 } }

    /// The `>=` operator.
    public static func >= (lhs: Self, rhs: some SQLExpressible) -> Self { combine(lhs, rhs) { $0 >= $1 } }

    /// The `>=` operator.
    public static func >= (lhs: some SQLExpressible, rhs: Self) -> Self { combine(lhs, rhs) { $0 >= $1 } }
}

// MARK: - Arithmetic

extension AssociationAggregate {
    /// The `+` operator.
    public static func + (lhs: Self, rhs: Self) -> Self { combine(lhs, rhs) { $0 + $1 } }

    /// The `+` operator.
    public static func + (lhs: Self, rhs: some SQLExpressible) -> Self { combine(lhs, rhs) { $0 + $1 } }

    /// The `+` operator.
    public static func + (lhs: some SQLExpressible, rhs: Self) -> Self { combine(lhs, rhs) { $0 + $1 } }

    /// The `-` operator.
    public static func - (lhs: Self, rhs: Self) -> Self { combine(lhs, rhs) { $0 - $1 } }

    /// The `-` operator.
    public static func - (lhs: Self, rhs: some SQLExpressible) -> Self { combine(lhs, rhs) { $0 - $1 } }

    /// The `-` operator.
    public static func - (lhs: some SQLExpressible, rhs: Self) -> Self { combine(lhs, rhs) { $0 - $1 } }

    /// The `*` operator.
    public static func * (lhs: Self, rhs: Self) -> Self { combine(lhs, rhs) { $0 * $1 } }

    /// The `*` operator.
    public static func * (lhs: Self, rhs: some SQLExpressible) -> Self { combine(lhs, rhs) { $0 * $1 } }

    /// The `*` operator.
    public static func * (lhs: some SQLExpressible, rhs: Self) -> Self { combine(lhs, rhs) { $0 * $1 } }

    /// The `/` operator.
    public static func / (lhs: Self, rhs: Self) -> Self { combine(lhs, rhs) { $0 / $1 } }

    /// The `/` operator.
    public static func / (lhs: Self, rhs: some SQLExpressible) -> Self { combine(lhs, rhs) { $0 / $1 } }

    /// The `/` operator.
    public static func / (lhs: some SQLExpressible, rhs: Self) -> Self { combine(lhs, rhs) { $0 / $1 } }

    /// The arithmetic negation.
    public static prefix func - (aggregate: Self) -> Self { aggregate.map { -$0 } }

    /// The `IFNULL` function: `rhs` if the aggregate is NULL. The result keeps the name of the aggregate.
    ///
    ///     Owner.annotated(with: Owner.items.max { $0.worth } ?? 0)
    public static func ?? (lhs: Self, rhs: some SQLExpressible) -> Self {
        let rhs = rhs.sqlExpression
        return lhs.map({ $0 ?? rhs }, key: lhs.key)
    }
}

// MARK: - Functions

/// The `ABS` function of an aggregate.
public func abs<RowDecoder>(_ aggregate: AssociationAggregate<RowDecoder>) -> AssociationAggregate<RowDecoder>
{
    aggregate.map { .function("ABS", [$0]) }
}

/// The `LENGTH` function of an aggregate.
public func length<RowDecoder>(_ aggregate: AssociationAggregate<RowDecoder>) -> AssociationAggregate<
    RowDecoder
> {
    aggregate.map { .function("LENGTH", [$0]) }
}

/// Returns the aggregate converted to a storage class. The result keeps the name of the aggregate.
public func cast<RowDecoder>(
    _ aggregate: AssociationAggregate<RowDecoder>, as storageClass: Database.StorageClass
) -> AssociationAggregate<RowDecoder> {
    aggregate.map({ SQLExpression(impl: .cast($0, storageClass)) }, key: aggregate.key)
}
