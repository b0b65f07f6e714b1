/// The primary key of a table.
///
/// Every table has one: that of a table that declares none is the row ID, a hidden column.
/// See <https://www.sqlite.org/rowidtable.html>.
public struct PrimaryKeyInfo: Sendable {
    enum Kind: Sendable {
        /// No key is declared: the row ID, by a name that no column of the table takes away.
        case hiddenRowID(name: String)

        /// `INTEGER PRIMARY KEY`: another name of the row ID.
        case rowID(ColumnInfo)

        /// Any other key, in a table with row IDs or without.
        case regular([ColumnInfo], tableHasRowID: Bool)
    }

    let kind: Kind

    /// The columns of the key, in its order; `["rowid"]` where the table declares no key.
    public var columns: [String] {
        switch kind {
        case .hiddenRowID(let name): [name]
        case .rowID(let column): [column.name]
        case .regular(let columns, tableHasRowID: _): columns.map(\.name)
        }
    }

    /// The descriptions of the columns of the key, in its order, or nil where the table declares no key.
    public var columnInfos: [ColumnInfo]? {
        switch kind {
        case .hiddenRowID: nil
        case .rowID(let column): [column]
        case .regular(let columns, tableHasRowID: _): columns
        }
    }

    /// The name of the column that is an alias of the row ID, or nil where there is none: the row ID is
    /// hidden, or not the key.
    public var rowIDColumn: String? {
        guard case .rowID(let column) = kind else { return nil }
        return column.name
    }

    /// Whether the key is the row ID, hidden or not.
    public var isRowID: Bool {
        switch kind {
        case .hiddenRowID, .rowID: true
        case .regular: false
        }
    }

    /// Whether the rows have IDs: false for tables that were created `WITHOUT ROWID`.
    public var tableHasRowID: Bool {
        guard case .regular(_, let tableHasRowID) = kind else { return true }
        return tableHasRowID
    }
}
