/// A base class for records that track their changes since they were fetched or saved.
///
/// Subclasses override `databaseTableName`, `init(row:)`, `encode(to:)`, and the callbacks that they need.
/// Structs that conform to ``FetchableRecord`` and ``PersistableRecord`` do the same with less code, and are
/// the better choice for new code.
open class Record {
    /// The values of the database row, as far as the record knows them.
    private var savedValues: [CaseInsensitiveName: DatabaseValue]?

    /// Creates a record that is not in a table yet.
    public init() {}

    /// Creates a record from a row. Subclasses pass on the row that they receive.
    ///
    /// A record from a row that the program has created, rather than fetched, is not in a table yet: all of
    /// its columns are changes.
    public required init(row: Row) throws {
        guard row.storage.isFetched else { return }
        savedValues = Dictionary(
            row.map { (CaseInsensitiveName($0.0), $0.1) }, uniquingKeysWith: { first, _ in first })
    }

    // MARK: Members to override

    /// The name of the table. Subclasses must override it.
    open class var databaseTableName: String { fatalError("\(self) must override databaseTableName.") }

    /// The conflict resolutions for records that violate a constraint.
    open class var persistenceConflictPolicy: PersistenceConflictPolicy { PersistenceConflictPolicy() }

    /// The columns that requests select if they do not specify any: all columns by default.
    open class var databaseSelection: [any SQLSelectable] { [AllColumns()] }

    /// Sets the values of the columns. The base class sets none.
    open func encode(to container: inout PersistenceContainer) throws {}

    /// Called before the record is inserted.
    open func willInsert(_ db: Database) throws {}

    /// Called around the insertion, which the `insert` closure performs.
    open func aroundInsert(_ db: Database, insert: () throws -> InsertionSuccess) throws { _ = try insert() }

    /// Called after the insertion. Store an ID that the database has generated here.
    open func didInsert(_ inserted: InsertionSuccess) {}

    /// Called before the record is updated.
    open func willUpdate(_ db: Database, columns: Set<String>) throws {}

    /// Called around the update, which the `update` closure performs.
    open func aroundUpdate(_ db: Database, columns: Set<String>, update: () throws -> PersistenceSuccess)
        throws
    { _ = try update() }

    /// Called after the update.
    open func didUpdate(_ updated: PersistenceSuccess) {}

    /// Called before the record is inserted or updated.
    open func willSave(_ db: Database) throws {}

    /// Called around the insertion or update, which the `save` closure performs.
    open func aroundSave(_ db: Database, save: () throws -> PersistenceSuccess) throws { _ = try save() }

    /// Called after the insertion or update.
    open func didSave(_ saved: PersistenceSuccess) {}

    /// Called before the record is deleted.
    open func willDelete(_ db: Database) throws {}

    /// Called around the deletion, which the `delete` closure performs.
    open func aroundDelete(_ db: Database, delete: () throws -> Bool) throws { _ = try delete() }

    /// Called after the deletion.
    open func didDelete(deleted: Bool) {}
}

extension Record: FetchableRecord, PersistableRecord {}

// MARK: - Changes

extension Record {
    /// True if a column differs from its value when the record was fetched or saved. A record that is not in
    /// a table yet has changes.
    public final var hasDatabaseChanges: Bool { (try? databaseChanges.isEmpty) != true }

    /// The columns that differ from their values when the record was fetched or saved, with those earlier
    /// values; nil means unknown.
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

    /// Updates the changed columns and returns true if there are any.
    @discardableResult
    public final func updateChanges(_ db: Database) throws -> Bool {
        let columns = Set(try databaseChanges.keys)
        guard !columns.isEmpty else { return false }
        try update(db, columns: columns)
        return true
    }

    /// Records the written values, of all columns or of some.
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

    /// Forgets the values, because the row no longer exists.
    final func wasDeleted() { savedValues = nil }
}
