/// A connection's cache of its schema.
///
/// Each statement of the connection that changes the schema clears the cache. ``SchemaWatch`` detects the
/// other changes (by other connections, and rollbacks). It runs once per transaction: a transaction reads one
/// snapshot of the database, so no other connection can change the schema that it sees.
struct KnownSchema {
    /// True if the watch has already run in the current transaction.
    private(set) var isVerified = false

    /// True if the watch is positioned on its row, so that the schema cannot change outside a transaction
    /// either.
    private(set) var isHeld = false

    /// The statement that detects schema changes; nil before its first use.
    private(set) var watch: SchemaWatch?

    /// The names of the objects of each schema.
    private(set) var objects: [DatabaseSchemaID: SchemaObjects] = [:]

    /// The tables and views that were looked up, by the name used for the look-up.
    private(set) var tables: [TableKey: TableStructure] = [:]

    /// True if the keyword `REPLACE` occurs in a definition of the schema; nil if this is not known yet.
    private(set) var mentionsReplace: Bool?

    /// The cached plans of record types.
    var recordPlans = RecordPlans()

    struct TableKey: Hashable {
        let table: CaseInsensitiveName
        let schema: CaseInsensitiveName?

        init(_ table: String, in schema: String?) {
            self.table = CaseInsensitiveName(table)
            self.schema = schema.map(CaseInsensitiveName.init)
        }
    }

    /// Stores the statement that detects changes.
    mutating func insert(_ watch: SchemaWatch) { self.watch = watch }
    mutating func didHold() { isHeld = true }
    mutating func didRelease(isVerified: Bool) { (isHeld, self.isVerified) = (false, isVerified) }

    /// Records that the watch has found no change.
    mutating func didVerify() { isVerified = true }

    /// Makes the next access to the cache run the watch again.
    mutating func doubt() { isVerified = false }

    mutating func insert(mentionsReplace: Bool) { self.mentionsReplace = mentionsReplace }
    mutating func insert(_ objects: SchemaObjects, for schemaID: DatabaseSchemaID) {
        self.objects[schemaID] = objects
    }
    mutating func insert(_ table: TableStructure, for key: TableKey) { tables[key] = table }

    /// Clears the cache, but keeps the watch.
    mutating func forgetSchema() {
        isVerified = false
        mentionsReplace = nil
        objects.removeAll(keepingCapacity: true)
        tables.removeAll(keepingCapacity: true)
        recordPlans = RecordPlans()
    }
}

/// The kinds of schema objects that can be looked up, with their names in the column `type` of
/// `sqlite_master`.
enum SchemaObjectKind: String {
    case table, view, trigger
}

/// The names of the tables, views, and triggers of one schema.
struct SchemaObjects {
    private var names: [SchemaObjectKind: Set<CaseInsensitiveName>] = [:]
    private var virtualTables: Set<CaseInsensitiveName> = []

    mutating func insert(_ name: String, kind: SchemaObjectKind, isVirtual: Bool) {
        names[kind, default: []].insert(CaseInsensitiveName(name))
        if isVirtual { virtualTables.insert(CaseInsensitiveName(name)) }
    }

    /// Returns the name as the schema spells it, or nil if there is no such object.
    func canonicalName(_ name: String, kind: SchemaObjectKind) -> String? {
        guard let names = names[kind], let index = names.firstIndex(of: CaseInsensitiveName(name)) else {
            return nil
        }
        return names[index].spelling
    }

    func isVirtualTable(_ name: String) -> Bool { virtualTables.contains(CaseInsensitiveName(name)) }
}

/// The cached structure of one table or view.
final class TableStructure {
    enum Kind {
        case table, virtualTable, view
    }

    let id: DatabaseObjectID
    let kind: Kind
    var columns: [ColumnInfo]?
    var primaryKey: PrimaryKeyInfo?
    var indexes: [IndexInfo]?
    var foreignKeys: [ForeignKeyInfo]?

    init(_ id: DatabaseObjectID, kind: Kind) {
        self.id = id
        self.kind = kind
    }
}
