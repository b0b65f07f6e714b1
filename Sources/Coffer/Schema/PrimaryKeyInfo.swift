/// The primary key of a table.
///
/// Every table has one: the key of a table without a declared primary key is the row ID, a hidden column. See
/// <https://www.sqlite.org/rowidtable.html>.
public struct PrimaryKeyInfo: Sendable {
    enum Kind: Sendable {
        /// No declared key: the row ID, by a name that no column hides.
        case hiddenRowID(name: String)

        /// `INTEGER PRIMARY KEY`, an alias of the row ID.
        case rowID(ColumnInfo)

        /// Any other key, in a table with or without row IDs.
        case regular([ColumnInfo], tableHasRowID: Bool)
    }

    let kind: Kind

    /// The columns of the key, in its order; `["rowid"]` if the table declares no key.
    public var columns: [String] {
        switch kind {
        case .hiddenRowID(let name): [name]
        case .rowID(let column): [column.name]
        case .regular(let columns, tableHasRowID: _): columns.map(\.name)
        }
    }

    /// The descriptions of the key's columns, in its order, or nil if the table declares no key.
    public var columnInfos: [ColumnInfo]? {
        switch kind {
        case .hiddenRowID: nil
        case .rowID(let column): [column]
        case .regular(let columns, tableHasRowID: _): columns
        }
    }

    /// The name of the column that is an alias of the row ID, or nil if the row ID is hidden or not the key.
    public var rowIDColumn: String? {
        guard case .rowID(let column) = kind else { return nil }
        return column.name
    }

    /// A Boolean value that indicates whether the key is the row ID, hidden or not.
    public var isRowID: Bool {
        switch kind {
        case .hiddenRowID, .rowID: true
        case .regular: false
        }
    }

    /// A Boolean value that indicates whether the table has row IDs: false if it was created `WITHOUT ROWID`.
    public var tableHasRowID: Bool {
        guard case .regular(_, let tableHasRowID) = kind else { return true }
        return tableHasRowID
    }
}
