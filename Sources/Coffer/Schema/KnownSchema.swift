/// What a connection has found out about its schema, and whether it still holds.
///
/// It is forgotten with each statement of the connection that changes the schema. What statements do not show
/// (changes by other connections, rollbacks) is seen by ``SchemaWatch``, which is asked once in each
/// transaction: as a transaction keeps the state of the database that it began to read, nothing else can
/// change the schema until it ends.
struct KnownSchema {
    /// Whether the watch was asked in the current transaction.
    private(set) var isVerified = false

    /// Whether the watch stands on its row, and so holds the schema still outside of transactions as well.
    private(set) var isHeld = false

    /// What shows that the schema has changed, once it was needed.
    private(set) var watch: SchemaWatch?

    /// The names of the objects of each schema.
    private(set) var objects: [DatabaseSchemaID: SchemaObjects] = [:]

    /// The tables and views that were asked for, by the name that they were asked for with.
    private(set) var tables: [TableKey: TableStructure] = [:]

    /// Whether the word `REPLACE` is anywhere in the definitions of the schema, once it was asked.
    private(set) var mentionsReplace: Bool?

    /// What was prepared for record types.
    var recordPlans = RecordPlans()

    struct TableKey: Hashable {
        let table: CaseInsensitiveName
        let schema: CaseInsensitiveName?

        init(_ table: String, in schema: String?) {
            self.table = CaseInsensitiveName(table)
            self.schema = schema.map(CaseInsensitiveName.init)
        }
    }

    /// Notes what shows changes, and that it does.
    mutating func insert(_ watch: SchemaWatch) { self.watch = watch }
    mutating func didHold() { isHeld = true }
    mutating func didRelease(isVerified: Bool) { (isHeld, self.isVerified) = (false, isVerified) }

    /// Notes that the watch has found no change.
    mutating func didVerify() { isVerified = true }

    /// Has the watch asked again before what is known is used.
    mutating func doubt() { isVerified = false }

    mutating func insert(mentionsReplace: Bool) { self.mentionsReplace = mentionsReplace }
    mutating func insert(_ objects: SchemaObjects, for schemaID: DatabaseSchemaID) {
        self.objects[schemaID] = objects
    }
    mutating func insert(_ table: TableStructure, for key: TableKey) { tables[key] = table }

    /// Forgets the schema, and keeps the watch.
    mutating func forgetSchema() {
        isVerified = false
        mentionsReplace = nil
        objects.removeAll(keepingCapacity: true)
        tables.removeAll(keepingCapacity: true)
        recordPlans = RecordPlans()
    }
}

/// The kinds of objects of a schema that can be looked for, as the column `type` of `sqlite_master` names
/// them.
enum SchemaObjectKind: String {
    case table, view, trigger
}

/// The names of the tables, views and triggers of one schema.
struct SchemaObjects {
    private var names: [SchemaObjectKind: Set<CaseInsensitiveName>] = [:]
    private var virtualTables: Set<CaseInsensitiveName> = []

    mutating func insert(_ name: String, kind: SchemaObjectKind, isVirtual: Bool) {
        names[kind, default: []].insert(CaseInsensitiveName(name))
        if isVirtual { virtualTables.insert(CaseInsensitiveName(name)) }
    }

    /// The name as the schema spells it, or nil if there is no such object.
    func canonicalName(_ name: String, kind: SchemaObjectKind) -> String? {
        guard let names = names[kind], let index = names.firstIndex(of: CaseInsensitiveName(name)) else {
            return nil
        }
        return names[index].spelling
    }

    func isVirtualTable(_ name: String) -> Bool { virtualTables.contains(CaseInsensitiveName(name)) }
}

/// What was found out about one table or view.
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
