/// A part of the database: any union of tables, some of their columns, and some of their rows; or the whole
/// database.
///
/// A region shows whether a change can affect the result of a request. Names are compared without regard to
/// the case of ASCII letters. Tables of the same name in several attached databases are not distinguished.
public struct DatabaseRegion: Equatable, Sendable {
    /// The region's part of each table, never empty; nil for the whole database.
    private var tables: [CaseInsensitiveName: TableRegion]?

    private init(tables: [CaseInsensitiveName: TableRegion]?) {
        self.tables = tables
    }

    /// The empty region.
    public init() {
        self.init(tables: [:])
    }

    /// The whole database, including tables that do not exist yet.
    public static let fullDatabase = DatabaseRegion(tables: nil)

    /// A Boolean value that indicates whether the region is empty, so that no change is in it.
    public var isEmpty: Bool { tables?.isEmpty ?? false }

    /// A Boolean value that indicates whether the region is the whole database, so that every change is in
    /// it.
    public var isFullDatabase: Bool { tables == nil }
}

extension DatabaseRegion {
    /// Creates a region of a whole table.
    init(table: String) {
        self.init(table: table, region: TableRegion(columns: nil, rowIDs: nil))
    }

    /// Creates a region of some columns of all rows of a table.
    init(table: String, columns: Set<String>) {
        self.init(
            table: table,
            region: TableRegion(columns: Set(columns.map(CaseInsensitiveName.init)), rowIDs: nil))
    }

    /// Creates a region of all columns of some rows of a table.
    init(table: String, rowIds: Set<Int64>) {
        self.init(table: table, region: TableRegion(columns: nil, rowIDs: rowIds))
    }

    private init(table: String, region: TableRegion) {
        self.init(tables: region.isEmpty ? [:] : [CaseInsensitiveName(table): region])
    }

    /// The names of the tables, or nil for the full database.
    var tableNames: [String]? { tables?.keys.map(\.spelling) }

    /// Calls a function with each table of the region and its columns. Nil means all columns.
    ///
    /// The full database has no tables.
    func forEachTable(_ body: (CaseInsensitiveName, Set<CaseInsensitiveName>?) -> Void) {
        for (name, region) in tables ?? [:] { body(name, region.columns) }
    }

    /// Returns true if the region contains only some rows of a table.
    func dependsOnRows(ofTable table: String) -> Bool { tables?[CaseInsensitiveName(table)]?.rowIDs != nil }

    /// Returns the columns of a table that are in the region; nil for all columns.
    func columnNames(ofTable table: String) -> Set<String>? {
        guard let tables else { return nil }
        guard let region = tables[CaseInsensitiveName(table)] else { return [] }
        return region.columns.map { Set($0.map(\.spelling)) }
    }
}

// MARK: - Algebra

extension DatabaseRegion {
    /// Returns the union of both regions.
    ///
    /// The columns and the rows of a table are united independently: the union of column `a` of row 1 and
    /// column `b` of row 2 contains both columns of both rows. So a union may be too large, but never too
    /// small.
    public func union(_ other: DatabaseRegion) -> DatabaseRegion {
        var result = self
        result.formUnion(other)
        return result
    }

    /// Adds another region, like ``union(_:)``.
    public mutating func formUnion(_ other: DatabaseRegion) {
        guard let otherTables = other.tables else {
            tables = nil
            return
        }
        tables?.merge(otherTables) { $0.union($1) }
    }

    /// Returns the intersection of both regions.
    func intersection(_ other: DatabaseRegion) -> DatabaseRegion {
        guard let tables else { return other }
        guard let otherTables = other.tables else { return self }
        var result: [CaseInsensitiveName: TableRegion] = [:]
        for (name, region) in tables {
            guard let otherRegion = otherTables[name] else { continue }
            let common = region.intersection(otherRegion)
            if !common.isEmpty {
                result[name] = common
            }
        }
        return DatabaseRegion(tables: result)
    }

    /// Returns the region with its part of one table restricted to the rows with the given IDs.
    func tableIntersection(_ table: String, rowIds: Set<Int64>) -> DatabaseRegion {
        guard var tables else { return DatabaseRegion(table: table, rowIds: rowIds) }
        let name = CaseInsensitiveName(table)
        guard let region = tables[name] else { return self }
        let restricted = region.intersection(TableRegion(columns: nil, rowIDs: rowIds))
        tables[name] = restricted.isEmpty ? nil : restricted
        return DatabaseRegion(tables: tables)
    }

    /// Returns the region without some tables.
    func ignoring(_ names: [String]) -> DatabaseRegion {
        guard let tables, !names.isEmpty else { return self }
        let ignored = Set(names.map { CaseInsensitiveName($0) })
        return DatabaseRegion(tables: tables.filter { !ignored.contains($0.key) })
    }
}

extension String {
    /// True if SQLite reserves this table name for itself.
    var isSQLiteInternalTableName: Bool {
        utf8.count >= 7 && utf8.prefix(7).elementsEqual("sqlite_".utf8, by: { $0 | 0x20 == $1 | 0x20 })
    }
}

// MARK: - Changes

extension DatabaseRegion {
    /// Returns a Boolean value that indicates whether changes of this kind can modify the region.
    ///
    /// This is called before a statement runs, when its rows are unknown. So it returns true even if the
    /// region has only some rows of the table.
    public func isModified(byEventsOfKind eventKind: DatabaseEventKind) -> Bool {
        guard let tables else { return true }
        guard let region = tables[CaseInsensitiveName(eventKind.tableName)] else { return false }
        guard case .update(_, let columnNames) = eventKind, let columns = region.columns else { return true }
        return columnNames.contains { columns.contains(CaseInsensitiveName($0)) }
    }

    /// Returns a Boolean value that indicates whether this change modifies the region.
    ///
    /// Columns are not checked: the kind of the change must have passed ``isModified(byEventsOfKind:)``
    /// before.
    public func isModified(by event: DatabaseEvent) -> Bool {
        guard let tables else { return true }
        guard let region = tables[CaseInsensitiveName(event.tableName)] else { return false }
        return region.rowIDs?.contains(event.rowID) ?? true
    }
}

extension DatabaseRegion: CustomStringConvertible {
    /// The tables in order, each with its columns and, if restricted, its row IDs:
    /// `"player(id,name)[1,2],team(*)"`.
    public var description: String {
        guard let tables else { return "full database" }
        guard !tables.isEmpty else { return "empty" }
        return tables.sorted { $0.key < $1.key }.map { $0.key.spelling + $0.value.description }.joined(
            separator: ",")
    }
}

// MARK: - Parts of tables

/// Some columns of some rows of a table.
private struct TableRegion: Equatable, Sendable {
    /// The columns; nil for all columns.
    var columns: Set<CaseInsensitiveName>?

    /// The row IDs; nil for all rows.
    var rowIDs: Set<Int64>?

    var isEmpty: Bool { columns?.isEmpty == true || rowIDs?.isEmpty == true }

    func union(_ other: TableRegion) -> TableRegion {
        TableRegion(
            columns: columns.flatMap { columns in other.columns.map(columns.union) },
            rowIDs: rowIDs.flatMap { rowIDs in other.rowIDs.map(rowIDs.union) })
    }

    func intersection(_ other: TableRegion) -> TableRegion {
        TableRegion(columns: Self.common(columns, other.columns), rowIDs: Self.common(rowIDs, other.rowIDs))
    }

    private static func common<T>(_ lhs: Set<T>?, _ rhs: Set<T>?) -> Set<T>? {
        guard let lhs else { return rhs }
        return rhs.map(lhs.intersection) ?? lhs
    }

    var description: String {
        var result = "(" + (columns.map { $0.sorted().map(\.spelling).joined(separator: ",") } ?? "*") + ")"
        if let rowIDs {
            result += "[" + rowIDs.sorted().map { "\($0)" }.joined(separator: ",") + "]"
        }
        return result
    }
}
