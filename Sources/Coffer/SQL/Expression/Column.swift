/// A column of a table: a name that is quoted wherever it is written.
///
/// Enumerations of strings, in particular coding keys, become columns just by conforming:
///
///     enum Columns: String, ColumnExpression {
///         case id, ownerId, name, weight
///     }
public protocol ColumnExpression: SQLSpecificExpressible {
    /// The name of the column, without quotes.
    var name: String { get }
}

extension ColumnExpression {
    public var sqlExpression: SQLExpression { SQLExpression(impl: .column(name)) }

    /// The bare name, which refers to a selected expression instead of a column of the table. It is never
    /// qualified by a table.
    ///
    ///     // SELECT "name", "worth" * "amount" AS "value" FROM "item" ORDER BY "value" DESC
    ///     Item.select { [$0.name, ($0.worth * $0.amount).forKey("value")] }.order(Column("value").detached.desc)
    public var detached: SQLExpression { SQLExpression(impl: .detachedColumn(name)) }
}

extension ColumnExpression where Self: RawRepresentable, RawValue == String {
    public var name: String { rawValue }
}

extension ColumnExpression where Self: CodingKey {
    public var name: String { stringValue }
}

extension ColumnExpression where Self: CodingKey & RawRepresentable, RawValue == String {
    public var name: String { stringValue }
}

/// A column with a given name.
public struct Column: ColumnExpression, Sendable {
    /// The name of the column, without quotes.
    public var name: String

    /// Creates a column from its name, which may contain any characters.
    public init(_ name: String) {
        self.name = name
    }

    /// Creates a column from a coding key.
    public init(_ codingKey: some CodingKey) {
        self.name = codingKey.stringValue
    }

    /// The hidden `rowid` column that every table has, unless it was created with `WITHOUT ROWID`.
    public static let rowID = Column("rowid")
}

extension ColumnExpression where Self == Column {
    /// The hidden `rowid` column: see ``Column/rowID``.
    public static var rowID: Column { Column.rowID }
}
