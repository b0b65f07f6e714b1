/// A part of the database: tables, some of their columns, some of their rows, in any union; or everything.
///
/// Regions say whether a change may alter what a request fetches. Names are compared without regard to the
/// case of ASCII letters, and tables of the same name in several attached databases are one.
public struct DatabaseRegion: Equatable, Sendable {
    /// The parts of tables that the region consists of, none of which is empty; nil for the whole database.
    private var tables: [CaseInsensitiveName: TableRegion]?

    private init(tables: [CaseInsensitiveName: TableRegion]?) {
        self.tables = tables
    }

    /// The empty region.
    public init() {
        self.init(tables: [:])
    }

    /// Everything in the database, including tables that do not exist yet.
    public static let fullDatabase = DatabaseRegion(tables: nil)

    /// Whether no change is in the region.
    public var isEmpty: Bool { tables?.isEmpty ?? false }

    /// Whether all changes are in the region.
    public var isFullDatabase: Bool { tables == nil }
}

extension DatabaseRegion {
    /// All of a table.
    init(table: String) {
        self.init(table: table, region: TableRegion(columns: nil, rowIDs: nil))
    }

    /// Some columns of all rows of a table.
    init(table: String, columns: Set<String>) {
        self.init(
            table: table,
            region: TableRegion(columns: Set(columns.map(CaseInsensitiveName.init)), rowIDs: nil))
    }

    /// All columns of some rows of a table.
    init(table: String, rowIds: Set<Int64>) {
        self.init(table: table, region: TableRegion(columns: nil, rowIDs: rowIds))
    }

    private init(table: String, region: TableRegion) {
        self.init(tables: region.isEmpty ? [:] : [CaseInsensitiveName(table): region])
    }

    /// The names of the tables, or nil for the full database.
    var tableNames: [String]? { tables?.keys.map(\.spelling) }

    /// Calls a function with each table of the region, and with its columns, which are nil for all of them.
    ///
    /// The full database has no tables.
    func forEachTable(_ body: (CaseInsensitiveName, Set<CaseInsensitiveName>?) -> Void) {
        for (name, region) in tables ?? [:] { body(name, region.columns) }
    }

    /// Whether only some rows of a table are in the region.
    func dependsOnRows(ofTable table: String) -> Bool { tables?[CaseInsensitiveName(table)]?.rowIDs != nil }

    /// The columns of a table that are in the region: nil for all of them.
    func columnNames(ofTable table: String) -> Set<String>? {
        guard let tables else { return nil }
        guard let region = tables[CaseInsensitiveName(table)] else { return [] }
        return region.columns.map { Set($0.map(\.spelling)) }
    }
}

// MARK: - Algebra

extension DatabaseRegion {
    /// What is in the one region, the other, or both.
    ///
    /// Columns and rows are united apart from each other: the union of column `a` of row 1 and column `b` of
    /// row 2 is both columns of both rows. So a union may be too large, never too small.
    public func union(_ other: DatabaseRegion) -> DatabaseRegion {
        var result = self
        result.formUnion(other)
        return result
    }

    /// Adds another region, as ``union(_:)``.
    public mutating func formUnion(_ other: DatabaseRegion) {
        guard let otherTables = other.tables else {
            tables = nil
            return
        }
        tables?.merge(otherTables) { $0.union($1) }
    }

    /// What is in both regions.
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

    /// The same region, with all its parts restricted to rows of the given IDs in one table.
    func tableIntersection(_ table: String, rowIds: Set<Int64>) -> DatabaseRegion {
        guard var tables else { return DatabaseRegion(table: table, rowIds: rowIds) }
        let name = CaseInsensitiveName(table)
        guard let region = tables[name] else { return self }
        let restricted = region.intersection(TableRegion(columns: nil, rowIDs: rowIds))
        tables[name] = restricted.isEmpty ? nil : restricted
        return DatabaseRegion(tables: tables)
    }

    /// The region without some tables.
    func ignoring(_ names: [String]) -> DatabaseRegion {
        guard let tables, !names.isEmpty else { return self }
        let ignored = Set(names.map { CaseInsensitiveName($0) })
        return DatabaseRegion(tables: tables.filter { !ignored.contains($0.key) })
    }
}

extension String {
    /// Whether SQLite reserves the name of this table for itself.
    var isSQLiteInternalTableName: Bool {
        utf8.count >= 7 && utf8.prefix(7).elementsEqual("sqlite_".utf8, by: { $0 | 0x20 == $1 | 0x20 })
    }
}

// MARK: - Changes

extension DatabaseRegion {
    /// Whether changes of this kind may alter the region.
    ///
    /// It is asked before a statement runs, and knows nothing of rows: it answers true for a region of some
    /// rows of the table.
    public func isModified(byEventsOfKind eventKind: DatabaseEventKind) -> Bool {
        guard let tables else { return true }
        guard let region = tables[CaseInsensitiveName(eventKind.tableName)] else { return false }
        guard case .update(_, let columnNames) = eventKind, let columns = region.columns else { return true }
        return columnNames.contains { columns.contains(CaseInsensitiveName($0)) }
    }

    /// Whether this change alters the region.
    ///
    /// It knows nothing of columns: the kind of the change must have passed ``isModified(byEventsOfKind:)``
    /// before.
    public func isModified(by event: DatabaseEvent) -> Bool {
        guard let tables else { return true }
        guard let region = tables[CaseInsensitiveName(event.tableName)] else { return false }
        return region.rowIDs?.contains(event.rowID) ?? true
    }
}

extension DatabaseRegion: CustomStringConvertible {
    /// The tables in order, each with its columns and maybe its row IDs: `"player(id,name)[1,2],team(*)"`.
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
    /// Nil for all columns.
    var columns: Set<CaseInsensitiveName>?

    /// Nil for all rows.
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
