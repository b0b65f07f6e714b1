/// A record that can be inserted, updated and deleted, and that may change when it is inserted: structs whose
/// ID comes from the database.
///
///     struct Item: Encodable, MutablePersistableRecord {
///         var name: String
///         private(set) var id: Int64?
///
///         mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
///     }
///
///     var letter = Item(name: "A letter of 1911")
///     try letter.insert(db)
///     print(letter.id ?? 0)  // what the database has chosen
///
/// Use ``PersistableRecord`` for classes, and for structs that do not change.
///
/// ### Callbacks
///
/// An insertion and an upsert call `willSave`, `aroundSave`, `willInsert`, `aroundInsert`, `didInsert` and
/// `didSave`, in this order; an update calls `willSave`, `aroundSave`, `willUpdate`, `aroundUpdate`,
/// `didUpdate` and `didSave`; a deletion calls `willDelete`, `aroundDelete` and `didDelete`. They are called
/// in the database access of the operation, whose transaction may still be rolled back. Batch operations and
/// SQL call none of them.
///
/// - Important: a callback `around…` must call the closure that it gets, once, or throw an error. One that
///   does neither is a fatal error.
public protocol MutablePersistableRecord: EncodableRecord, TableRecord {
    /// What SQLite does with records that violate a constraint, where the operation does not say it itself.
    static var persistenceConflictPolicy: PersistenceConflictPolicy { get }

    /// Prepares an insertion: the last moment for the record to change. An error prevents the insertion.
    mutating func willInsert(_ db: Database) throws

    /// Called around the insertion: `insert` does it.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - insert: inserts the record: call it once.
    func aroundInsert(_ db: Database, insert: () throws -> InsertionSuccess) throws

    /// Called after the insertion: the moment to keep an ID that the database has chosen.
    mutating func didInsert(_ inserted: InsertionSuccess)

    /// Prepares an update of some columns. An error prevents the update.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - columns: the columns that are written.
    func willUpdate(_ db: Database, columns: Set<String>) throws

    /// Called around the update: `update` does it.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - columns: the columns that are written.
    ///   - update: updates the row: call it once.
    func aroundUpdate(_ db: Database, columns: Set<String>, update: () throws -> PersistenceSuccess) throws

    /// Called after the update.
    func didUpdate(_ updated: PersistenceSuccess)

    /// Prepares an insertion or an update. An error prevents both.
    func willSave(_ db: Database) throws

    /// Called around the insertion or update: `save` does it, with its own callbacks.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - save: inserts or updates the row: call it once.
    func aroundSave(_ db: Database, save: () throws -> PersistenceSuccess) throws

    /// Called after the insertion or update.
    func didSave(_ saved: PersistenceSuccess)

    /// Prepares a deletion. An error prevents it.
    func willDelete(_ db: Database) throws

    /// Called around the deletion: `delete` does it, and returns whether there was a row.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - delete: deletes the row: call it once.
    func aroundDelete(_ db: Database, delete: () throws -> Bool) throws

    /// Called after the deletion; `deleted` says whether there was a row.
    func didDelete(deleted: Bool)
}

extension MutablePersistableRecord {
    @inlinable public static var persistenceConflictPolicy: PersistenceConflictPolicy {
        PersistenceConflictPolicy()
    }

    @inlinable public mutating func willInsert(_ db: Database) throws {}
    @inlinable public func aroundInsert(_ db: Database, insert: () throws -> InsertionSuccess) throws {
        _ = try insert()
    }
    @inlinable public mutating func didInsert(_ inserted: InsertionSuccess) {}
    @inlinable public func willUpdate(_ db: Database, columns: Set<String>) throws {}
    @inlinable public func aroundUpdate(
        _ db: Database, columns: Set<String>, update: () throws -> PersistenceSuccess
    ) throws {
        _ = try update()
    }
    @inlinable public func didUpdate(_ updated: PersistenceSuccess) {}
    @inlinable public func willSave(_ db: Database) throws {}
    @inlinable public func aroundSave(_ db: Database, save: () throws -> PersistenceSuccess) throws {
        _ = try save()
    }
    @inlinable public func didSave(_ saved: PersistenceSuccess) {}
    @inlinable public func willDelete(_ db: Database) throws {}
    @inlinable public func aroundDelete(_ db: Database, delete: () throws -> Bool) throws { _ = try delete() }
    @inlinable public func didDelete(deleted: Bool) {}
}

/// A record that can be inserted, updated and deleted, and that does not change by it: classes, and structs
/// that know their ID before.
public protocol PersistableRecord: MutablePersistableRecord {
    /// Called before the record is inserted.
    func willInsert(_ db: Database) throws

    /// Called after the insertion.
    func didInsert(_ inserted: InsertionSuccess)
}

extension PersistableRecord {
    @inlinable public func willInsert(_ db: Database) throws {}
    @inlinable public func didInsert(_ inserted: InsertionSuccess) {}
}
