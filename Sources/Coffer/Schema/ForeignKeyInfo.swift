/// A foreign key of a table, as `PRAGMA foreign_key_list` describes it:
/// <https://www.sqlite.org/pragma.html#pragma_foreign_key_list>.
public struct ForeignKeyInfo: Sendable {
    /// The number of the foreign key within its table: see ``ForeignKeyViolation/foreignKeyId``.
    public var id: Int

    /// The name of the table that the foreign key refers to. SQLite does not require that this table exists.
    public let destinationTable: String

    /// The columns of the foreign key, each with the column that it refers to.
    public let mapping: [(origin: String, destination: String)]

    /// The columns of the foreign key.
    public var originColumns: [String] { mapping.map(\.origin) }

    /// The columns that the foreign key refers to.
    public var destinationColumns: [String] { mapping.map(\.destination) }
}
