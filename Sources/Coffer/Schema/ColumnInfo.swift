/// A column of a table or view, as `PRAGMA table_xinfo` describes it:
/// <https://www.sqlite.org/pragma.html#pragma_table_xinfo>.
public struct ColumnInfo: Sendable {
    /// The name of the column.
    public let name: String

    /// The type in the declaration of the column, such as `"TEXT"`; empty if it has none.
    public let type: String

    /// A Boolean value that indicates whether the column has a `NOT NULL` constraint.
    public let isNotNull: Bool

    /// The SQL of the default value, such as `"'unknown'"` with its quotes or `"CURRENT_TIMESTAMP"`; nil if
    /// there is none.
    public let defaultValueSQL: String?

    /// The 1-based position of the column in the primary key, or 0 if the column is not part of it.
    public let primaryKeyIndex: Int

    /// True if the column is generated and therefore cannot be written: <https://www.sqlite.org/gencol.html>.
    let isGenerated: Bool
}

extension ColumnInfo: FetchableRecord {
    /// Creates a description from a row of `PRAGMA table_info` or `PRAGMA table_xinfo`.
    ///
    /// - Precondition: the row has the columns of one of these pragmas.
    public init(row: Row) {
        name = row["name"]
        type = row["type"]
        isNotNull = row["notnull"]
        defaultValueSQL = row["dflt_value"]
        primaryKeyIndex = row["pk"]
        // Only `table_xinfo` has the column `hidden`: 2 and 3 are virtual and stored generated columns.
        let visibility: Int? = row["hidden"]
        isGenerated = visibility == 2 || visibility == 3
    }
}
