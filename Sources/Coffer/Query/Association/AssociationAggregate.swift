/// A value that is computed of the associated rows of each row: their number, the sum of a column.
///
///     // SELECT "owner".*, COUNT(DISTINCT "item"."id") AS "itemCount" FROM "owner"
///     // LEFT JOIN "item" ON "item"."ownerId" = "owner"."id" GROUP BY "owner"."id"
///     Owner.annotated(with: Owner.items.count)
///
///     // ... HAVING COUNT(DISTINCT "item"."id") >= 10
///     Owner.having(Owner.items.count >= 10)
///
/// Aggregates are made by properties and functions of ``AssociationToMany``, combined by operators, and used
/// by `annotated(with:)` and ``DerivableRequest/having(_:)``. The rows are grouped by their primary key. Two
/// associations of one request that are not filtered alike need different keys: see
/// ``Association/forKey(_:)-(String)``.
///
/// Counts are right whatever else is joined. Sums are not: with two associations in one request, they count
/// each row as often as the other association has rows.
public struct AssociationAggregate<RowDecoder>: Sendable {
    /// The associations that are joined for it, with the aliases that the expression refers to.
    let associations: [_SQLAssociation]

    let expression: @Sendable (Database) throws -> SQLExpression

    /// The opposite condition, where it has a form of its own.
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

    /// The aggregate, as a column of another name.
    public func forKey(_ key: String) -> AssociationAggregate<RowDecoder> {
        AssociationAggregate(associations, key: key, negation: negation, expression)
    }

    /// The aggregate, as a column with the name of a coding key.
    public func forKey(_ key: some CodingKey) -> AssociationAggregate<RowDecoder> { forKey(key.stringValue) }

    /// What is selected.
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

/// A zero that is a part of the SQL, which names the column of an aggregate without a name, and no argument.
private var literalZero: SQLExpression { SQLExpression(impl: .boolean(false)) }

extension AssociationToMany {
    /// How many associated rows there are: `COUNT(DISTINCT primaryKey)`. The column is called like
    /// `itemCount`.
    public var count: AssociationAggregate<OriginRowDecoder> {
        counting(key: _sqlAssociation.destination.key.singular + "Count") { $0 }
    }

    /// Whether there is no associated row: `COUNT(DISTINCT primaryKey) = 0`. The column is called like
    /// `hasNoItem`.
    public var isEmpty: AssociationAggregate<OriginRowDecoder> {
        let key = "hasNo" + _sqlAssociation.destination.key.singular.capitalizingFirstLetter
        return counting(key: key, negation: { $0 > literalZero }) { $0 == 0 }
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

    /// The mean of the values that are not NULL: `AVG(expression)`. The column is called like
    /// `averageItemSize`.
    ///
    /// Only a plain column gives the aggregate a name; name others with
    /// ``AssociationAggregate/forKey(_:)-(String)``.
    public func average(_ expression: some SQLSpecificExpressible) -> AssociationAggregate<OriginRowDecoder> {
        aggregate("AVG", expression) { "average" + $0.capitalizingFirstLetter + $1 }
    }

    /// The greatest value, or NULL: `MAX(expression)`. The column is called like `maxItemSize`.
    public func max(_ expression: some SQLSpecificExpressible) -> AssociationAggregate<OriginRowDecoder> {
        aggregate("MAX", expression) { "max" + $0.capitalizingFirstLetter + $1 }
    }

    /// The smallest value that is not NULL, or NULL: `MIN(expression)`. The column is called like
    /// `minItemSize`.
    public func min(_ expression: some SQLSpecificExpressible) -> AssociationAggregate<OriginRowDecoder> {
        aggregate("MIN", expression) { "min" + $0.capitalizingFirstLetter + $1 }
    }

    /// The sum of the values, or NULL if there is none: `SUM(expression)`. The column is called like
    /// `itemSizeSum`.
    public func sum(_ expression: some SQLSpecificExpressible) -> AssociationAggregate<OriginRowDecoder> {
        aggregate("SUM", expression) { $0 + $1 + "Sum" }
    }

    /// The sum of the values as a floating-point number, 0 if there is none: `TOTAL(expression)`. The column
    /// is called like `itemSizeSum`.
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
    /// The mean of the values that are not NULL: see `average(_:)`.
    ///
    ///     Owner.annotated(with: Owner.items.average { $0.worth })
    public func average(
        _ expression: (DatabaseComponents) throws -> some SQLSpecificExpressible
    ) rethrows -> AssociationAggregate<OriginRowDecoder> {
        try average(expression(RowDecoder.databaseComponents))
    }

    /// The greatest value, or NULL: see `max(_:)`.
    public func max(
        _ expression: (DatabaseComponents) throws -> some SQLSpecificExpressible
    ) rethrows -> AssociationAggregate<OriginRowDecoder> {
        try max(expression(RowDecoder.databaseComponents))
    }

    /// The smallest value that is not NULL, or NULL: see `min(_:)`.
    public func min(
        _ expression: (DatabaseComponents) throws -> some SQLSpecificExpressible
    ) rethrows -> AssociationAggregate<OriginRowDecoder> {
        try min(expression(RowDecoder.databaseComponents))
    }

    /// The sum of the values, or NULL if there is none: see `sum(_:)`.
    public func sum(
        _ expression: (DatabaseComponents) throws -> some SQLSpecificExpressible
    ) rethrows -> AssociationAggregate<OriginRowDecoder> {
        try sum(expression(RowDecoder.databaseComponents))
    }

    /// The sum of the values as a floating-point number: see `total(_:)`.
    public func total(
        _ expression: (DatabaseComponents) throws -> some SQLSpecificExpressible
    ) rethrows -> AssociationAggregate<OriginRowDecoder> {
        try total(expression(RowDecoder.databaseComponents))
    }
}

/// The number of rows of a table that is joined, however often they are repeated.
private func rowCount(of tableName: String, _ alias: TableAliasBase, _ db: Database) throws -> SQLExpression {
    let columns = try db.columnsOfRowKey(of: tableName)
    guard columns.count == 1 else {
        throw DatabaseError(
            resultCode: .SQLITE_MISUSE,
            message:
                "The rows of \(tableName.quotedDatabaseIdentifier) cannot be counted: they have no row ID, "
                + "and a primary key of several columns.")
    }
    let column: SQLExpression = alias[columns[0]]
    return .aggregate("COUNT", column, isDistinct: true)
}

extension String {
    fileprivate var capitalizingFirstLetter: String { prefix(1).uppercased() + dropFirst() }
}
