/// A value computed from the associated rows of each row, such as their number or the sum of a column.
///
///     // SELECT "owner".*, COUNT(DISTINCT "item"."id") AS "itemCount" FROM "owner"
///     // LEFT JOIN "item" ON "item"."ownerId" = "owner"."id" GROUP BY "owner"."id"
///     Owner.annotated(with: Owner.items.count)
///
///     // ... HAVING COUNT(DISTINCT "item"."id") >= 10
///     Owner.having(Owner.items.count >= 10)
///
/// Properties and functions of ``AssociationToMany`` create aggregates, operators combine them, and
/// `annotated(with:)` and ``DerivableRequest/having(_:)`` use them. The rows are grouped by their primary
/// key. Two associations of one request with different filters need different keys: see
/// ``Association/forKey(_:)-(String)``.
///
/// Counts are correct regardless of other joins. Sums are not: with two associations in one request, they
/// count each row as often as the other association has rows.
public struct AssociationAggregate<RowDecoder>: Sendable {
    /// The associations to join, with the aliases that the expression refers to.
    let associations: [_SQLAssociation]

    let expression: @Sendable (Database) throws -> SQLExpression

    /// The negated condition, if it has a form of its own.
    let negation: (@Sendable (Database) throws -> SQLExpression)?

    /// The name of the column, if it has one.
    let key: String?

    init(
        _ associations: [_SQLAssociation], key: String? = nil,
        negation: (@Sendable (Database) throws -> SQLExpression)? = nil,
        _ expression: @escaping @Sendable (Database) throws -> SQLExpression
    ) {
        self.associations = associations
        self.expression = expression
        self.negation = negation
        self.key = key
    }

    /// Returns the aggregate as a column with another name.
    public func forKey(_ key: String) -> AssociationAggregate<RowDecoder> {
        AssociationAggregate(associations, key: key, negation: negation, expression)
    }

    /// Returns the aggregate as a column with the name of a coding key.
    public func forKey(_ key: some CodingKey) -> AssociationAggregate<RowDecoder> { forKey(key.stringValue) }

    /// The selected expression, with the name of the column if it has one.
    var selection: @Sendable (Database) throws -> [any SQLSelectable] {
        { [expression, key] db in
            let expression = try expression(db)
            return [key.map { expression.forKey($0) } ?? expression.sqlSelection]
        }
    }
}

// MARK: - Use

extension DerivableRequest {
    /// Appends aggregates of associated rows to the columns.
    ///
    ///     // The record has the additional column "itemCount".
    ///     Owner.all().annotated(with: Owner.items.count)
    public func annotated(with aggregates: AssociationAggregate<RowDecoder>...) -> Self {
        annotated(with: aggregates)
    }

    /// Appends aggregates of associated rows to the columns.
    public func annotated(with aggregates: [AssociationAggregate<RowDecoder>]) -> Self {
        aggregates.reduce(self) { $0.grouped(for: $1).annotatedWhenConnected(with: $1.selection) }
    }

    /// Keeps the rows whose associated rows meet a condition.
    ///
    ///     // The owners without an item
    ///     Owner.all().having(Owner.items.isEmpty)
    public func having(_ predicate: AssociationAggregate<RowDecoder>) -> Self {
        let expression = predicate.expression
        return grouped(for: predicate).havingWhenConnected { db in try expression(db) }
    }

    private func grouped(for aggregate: AssociationAggregate<RowDecoder>) -> Self {
        aggregate.associations.reduce(self) { $0._joining(optional: $1) }.groupByPrimaryKey()
    }
}

// MARK: - Making

/// A zero in the SQL text rather than an argument. The SQL text is the column name of an aggregate without a
/// name.
private var literalZero: SQLExpression { SQLExpression(impl: .boolean(false)) }

extension AssociationToMany {
    /// The number of associated rows: `COUNT(DISTINCT primaryKey)`. The column has a name like `itemCount`.
    public var count: AssociationAggregate<OriginRowDecoder> {
        counting(key: _sqlAssociation.destination.key.singular + "Count") { $0 }
    }

    /// A condition that is true if there is no associated row: `COUNT(DISTINCT primaryKey) = 0`. The column
    /// has a name like `hasNoItem`.
    public var isEmpty: AssociationAggregate<OriginRowDecoder> {
        let key = "hasNo" + _sqlAssociation.destination.key.singular.capitalizingFirstLetter
        return counting(key: key, negation: { $0 > literalZero }) { $0 == literalZero }
    }

    private func counting(
        key: String, negation: (@Sendable (SQLExpression) -> SQLExpression)? = nil,
        _ expression: @escaping @Sendable (SQLExpression) -> SQLExpression
    ) -> AssociationAggregate<OriginRowDecoder> {
        let alias = TableAlias<Void>()
        let tableName = databaseTableName
        let association = _sqlAssociation.with { $0.source.aliases.append(alias) }
        var negated: (@Sendable (Database) throws -> SQLExpression)?
        if let negation {
            negated = { db in negation(try rowCount(of: tableName, alias, db)) }
        }
        return AssociationAggregate([association], key: key, negation: negated) { db in
            expression(try rowCount(of: tableName, alias, db))
        }
    }

    /// Returns the mean of the values that are not NULL: `AVG(expression)`. The column has a name like
    /// `averageItemSize`.
    ///
    /// Only a plain column gives the aggregate a name. Name other expressions with
    /// ``AssociationAggregate/forKey(_:)-(String)``.
    public func average(_ expression: some SQLSpecificExpressible) -> AssociationAggregate<OriginRowDecoder> {
        aggregate("AVG", expression) { "average" + $0.capitalizingFirstLetter + $1 }
    }

    /// Returns the maximum of the values, or NULL: `MAX(expression)`. The column has a name like
    /// `maxItemSize`.
    public func max(_ expression: some SQLSpecificExpressible) -> AssociationAggregate<OriginRowDecoder> {
        aggregate("MAX", expression) { "max" + $0.capitalizingFirstLetter + $1 }
    }

    /// Returns the minimum of the values that are not NULL, or NULL: `MIN(expression)`. The column has a name
    /// like `minItemSize`.
    public func min(_ expression: some SQLSpecificExpressible) -> AssociationAggregate<OriginRowDecoder> {
        aggregate("MIN", expression) { "min" + $0.capitalizingFirstLetter + $1 }
    }

    /// Returns the sum of the values, or NULL if there are none: `SUM(expression)`. The column has a name
    /// like `itemSizeSum`.
    public func sum(_ expression: some SQLSpecificExpressible) -> AssociationAggregate<OriginRowDecoder> {
        aggregate("SUM", expression) { $0 + $1 + "Sum" }
    }

    /// Returns the sum of the values as a floating-point number, or 0 if there are none: `TOTAL(expression)`.
    /// The column has a name like `itemSizeSum`.
    public func total(_ expression: some SQLSpecificExpressible) -> AssociationAggregate<OriginRowDecoder> {
        aggregate("TOTAL", expression) { $0 + $1 + "Sum" }
    }

    private func aggregate(
        _ function: String, _ expression: some SQLSpecificExpressible,
        key: (_ association: String, _ column: String) -> String
    ) -> AssociationAggregate<OriginRowDecoder> {
        let alias = TableAlias<Void>()
        let expression = expression.sqlExpression
        var name: String?
        if case .column(let column) = expression.impl {
            name = key(_sqlAssociation.destination.key.singular, column.capitalizingFirstLetter)
        }
        let aggregate = SQLExpression.aggregate(function, alias[expression] as SQLExpression)
        return AssociationAggregate([_sqlAssociation.with { $0.source.aliases.append(alias) }], key: name) {
            _ in aggregate
        }
    }
}

extension AssociationToMany where RowDecoder: TableRecord {
    /// Returns the mean of the values that are not NULL: see `average(_:)`.
    ///
    ///     Owner.annotated(with: Owner.items.average { $0.worth })
    public func average(
        _ expression: (DatabaseComponents) throws -> some SQLSpecificExpressible
    ) rethrows -> AssociationAggregate<OriginRowDecoder> {
        try average(expression(RowDecoder.databaseComponents))
    }

    /// Returns the maximum of the values, or NULL: see `max(_:)`.
    public func max(
        _ expression: (DatabaseComponents) throws -> some SQLSpecificExpressible
    ) rethrows -> AssociationAggregate<OriginRowDecoder> {
        try max(expression(RowDecoder.databaseComponents))
    }

    /// Returns the minimum of the values that are not NULL, or NULL: see `min(_:)`.
    public func min(
        _ expression: (DatabaseComponents) throws -> some SQLSpecificExpressible
    ) rethrows -> AssociationAggregate<OriginRowDecoder> {
        try min(expression(RowDecoder.databaseComponents))
    }

    /// Returns the sum of the values, or NULL if there are none: see `sum(_:)`.
    public func sum(
        _ expression: (DatabaseComponents) throws -> some SQLSpecificExpressible
    ) rethrows -> AssociationAggregate<OriginRowDecoder> {
        try sum(expression(RowDecoder.databaseComponents))
    }

    /// Returns the sum of the values as a floating-point number: see `total(_:)`.
    public func total(
        _ expression: (DatabaseComponents) throws -> some SQLSpecificExpressible
    ) rethrows -> AssociationAggregate<OriginRowDecoder> {
        try total(expression(RowDecoder.databaseComponents))
    }
}

/// Returns the number of rows of a joined table, regardless of how often they are repeated.
private func rowCount(of tableName: String, _ alias: TableAliasBase, _ db: Database) throws -> SQLExpression {
    let columns = try db.columnsOfRowKey(of: tableName)
    guard columns.count == 1 else {
        throw DatabaseError.misuse(
            "The rows of \(tableName.quotedDatabaseIdentifier) cannot be counted: the table has no row "
                + "ID, and its primary key has several columns.")
    }
    let column: SQLExpression = alias[columns[0]]
    return .aggregate("COUNT", column, isDistinct: true)
}

extension String {
    fileprivate var capitalizingFirstLetter: String { prefix(1).uppercased() + dropFirst() }
}
