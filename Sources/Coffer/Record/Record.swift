/// A base class for records that know whether they have changed since they were fetched or saved.
///
/// Subclasses override `databaseTableName`, `init(row:)`, `encode(to:)`, and the callbacks that they need.
/// Structs that conform to ``FetchableRecord`` and ``PersistableRecord`` do the same with less, and are the
/// better choice for new code.
open class Record {
    /// The values that the row in the database has, as far as the record knows.
    private var savedValues: [CaseInsensitiveName: DatabaseValue]?

    /// Creates a record that is in no table yet.
    public init() {}

    /// Creates a record from a row. Subclasses call it with the row that they were given.
    ///
    /// A record from a row that the program has made, and not fetched, is in no table yet: all of its columns
    /// are changes.
    public required init(row: Row) throws {
        guard row.storage.isFetched else { return }
        savedValues = Dictionary(
            row.map { (CaseInsensitiveName($0.0), $0.1) }, uniquingKeysWith: { first, _ in first })
    }

    // MARK: What subclasses override

    /// The name of the table. Subclasses have to override it.
    open class var databaseTableName: String { fatalError("\(self) must override databaseTableName.") }

    /// What SQLite does with records that violate a constraint.
    open class var persistenceConflictPolicy: PersistenceConflictPolicy { PersistenceConflictPolicy() }

    /// What requests select unless they say otherwise: all columns by default.
    open class var databaseSelection: [any SQLSelectable] { [AllColumns()] }

    /// Sets the values of the columns. The base class sets none.
    open func encode(to container: inout PersistenceContainer) throws {}

    /// Called before the record is inserted.
    open func willInsert(_ db: Database) throws {}

    /// Called around the insertion: `insert` does it.
    open func aroundInsert(_ db: Database, insert: () throws -> InsertionSuccess) throws { _ = try insert() }

    /// Called after the insertion: the moment to keep an ID that the database has chosen.
    open func didInsert(_ inserted: InsertionSuccess) {}

    /// Called before the record is updated.
    open func willUpdate(_ db: Database, columns: Set<String>) throws {}

    /// Called around the update: `update` does it.
    open func aroundUpdate(_ db: Database, columns: Set<String>, update: () throws -> PersistenceSuccess)
        throws
    { _ = try update() }

    /// Called after the update.
    open func didUpdate(_ updated: PersistenceSuccess) {}

    /// Called before the record is inserted or updated.
    open func willSave(_ db: Database) throws {}

    /// Called around the insertion or update: `save` does it.
    open func aroundSave(_ db: Database, save: () throws -> PersistenceSuccess) throws { _ = try save() }

    /// Called after the insertion or update.
    open func didSave(_ saved: PersistenceSuccess) {}

    /// Called before the record is deleted.
    open func willDelete(_ db: Database) throws {}

    /// Called around the deletion: `delete` does it.
    open func aroundDelete(_ db: Database, delete: () throws -> Bool) throws { _ = try delete() }

    /// Called after the deletion.
    open func didDelete(deleted: Bool) {}
}

extension Record: FetchableRecord, PersistableRecord {}

// MARK: - Changes

extension Record {
    /// Whether a column differs from what the record was fetched or saved with. A record that is in no table
    /// yet has changes.
    public final var hasDatabaseChanges: Bool { (try? databaseChanges.isEmpty) != true }

    /// The columns that differ from what the record was fetched or saved with, and the values that they had
    /// then; nil is unknown.
    public final var databaseChanges: [String: DatabaseValue?] {
        get throws {
            var changes: [String: DatabaseValue?] = [:]
            for (column, value) in try PersistenceContainer(self) {
                let old = savedValues?[CaseInsensitiveName(column)]
                if old != value { changes.updateValue(old, forKey: column) }
            }
            return changes
        }
    }

    /// Updates the columns that have changed, and returns whether there are any.
    @discardableResult
    public final func updateChanges(_ db: Database) throws -> Bool {
        let columns = Set(try databaseChanges.keys)
        guard !columns.isEmpty else { return false }
        try update(db, columns: columns)
        return true
    }

    /// Remembers the values that were written, all of them or those of some columns.
    final func didWrite(
        _ container: PersistenceContainer, columns: Set<String>? = nil,
        rowID: (column: String, value: Int64)? = nil
    ) {
        let written = columns.map { Set($0.map(CaseInsensitiveName.init)) }
        var values = savedValues ?? [:]
        for (column, value) in container {
            let name = CaseInsensitiveName(column)
            if written?.contains(name) ?? true { values[name] = value }
        }
        if let rowID { values[CaseInsensitiveName(rowID.column)] = rowID.value.databaseValue }
        savedValues = values
    }

    /// Forgets the values, as there is no row any more.
    final func wasDeleted() { savedValues = nil }
}
