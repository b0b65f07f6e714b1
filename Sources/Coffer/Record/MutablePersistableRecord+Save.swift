// MARK: - Saving

extension MutablePersistableRecord {
    /// Updates the row with the primary key of the record, or inserts the record if there is no such row or
    /// no key.
    ///
    /// The callbacks of the update are called, followed by the callbacks of the insertion if there is one.
    ///
    ///     var seal = Item(ownerId: 7, name: "seal")
    ///     try seal.save(db)  // inserts
    ///     seal.amount = 2
    ///     try seal.save(db)  // updates
    ///
    /// - Parameter conflictResolution: how SQLite resolves the violation of a constraint; nil uses
    ///   ``MutablePersistableRecord/persistenceConflictPolicy``.
    /// - Throws: a ``DatabaseError``, and any error that a callback throws.
    public mutating func save(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil
    ) throws {
        try updateOrInsert(
            db, update: { try $0.updateRow(db, onConflict: conflictResolution, columns: nil) },
            insert: { try $0.insertRow(db, onConflict: conflictResolution) })
    }

    /// Saves a copy of the record and returns it: see ``save(_:onConflict:)``.
    ///
    ///     let seal = try Item(ownerId: 7, name: "seal").saved(db)
    ///
    /// - Parameter conflictResolution: how SQLite resolves the violation of a constraint; nil uses
    ///   ``MutablePersistableRecord/persistenceConflictPolicy``.
    /// - Throws: any error that ``save(_:onConflict:)`` throws. The original record does not change.
    public func saved(_ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil)
        throws -> Self
    {
        var record = self
        try record.save(db, onConflict: conflictResolution)
        return record
    }

    /// Saves the record and returns the saved row as a new record: see ``save(_:onConflict:)``.
    ///
    ///     let owner = try Owner(id: 9, name: "Mary").saveAndFetch(db)
    ///
    /// - Parameter conflictResolution: how SQLite resolves the violation of a constraint; nil uses
    ///   ``MutablePersistableRecord/persistenceConflictPolicy``.
    /// - Throws: any error that ``save(_:onConflict:)`` or ``FetchableRecord/init(row:)`` throws.
    public func saveAndFetch(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil
    ) throws -> Self where Self: FetchableRecord {
        var record = self
        return try record.saveAndFetch(db, onConflict: conflictResolution, as: Self.self)
    }

    /// Saves the record and returns the saved row as a record of another type: see ``save(_:onConflict:)``.
    ///
    /// - Parameters:
    ///   - conflictResolution: how SQLite resolves the violation of a constraint; nil uses
    ///     ``persistenceConflictPolicy``.
    ///   - returnedType: the type that the row is decoded to, which also selects its columns.
    /// - Throws: any error that ``save(_:onConflict:)`` or the initializer of the type throws.
    public mutating func saveAndFetch<T: FetchableRecord & TableRecord>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        as returnedType: T.Type
    ) throws -> T {
        try saveAndFetch(db, onConflict: conflictResolution, selection: T.databaseSelection) { [self] in
            try firstRecord(db, $0, as: returnedType)
        }
    }

    /// Saves the record and returns the result of `fetch`, which reads the selected columns of the saved row.
    ///
    /// - Parameters:
    ///   - conflictResolution: how SQLite resolves the violation of a constraint; nil uses
    ///     ``MutablePersistableRecord/persistenceConflictPolicy``.
    ///   - selection: the columns that the statements return. Precondition: not empty.
    ///   - fetch: a closure that runs a statement with a fetching method and returns the result. It is called
    ///     for the update, and again if there is an insertion.
    /// - Throws: any error that ``save(_:onConflict:)`` or `fetch` throws.
    public mutating func saveAndFetch<T>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        selection: [any SQLSelectable],
        fetch: (Statement) throws -> T
    ) throws -> T {
        try updateOrInsert(db, onConflict: conflictResolution, returning: selection, fetch: fetch)
    }

    fileprivate mutating func updateOrInsert<T>(
        _ db: Database, onConflict policy: Database.ConflictResolution?,
        returning selection: [any SQLSelectable],
        fetch: (Statement) throws -> T
    ) throws -> T {
        try withResult { result in
            try updateOrInsert(
                db,
                update: {
                    try $0.updateRow(db, onConflict: policy, columns: nil, returning: selection) {
                        result = try fetch($0)
                    }
                },
                insert: {
                    try $0.insertRow(db, onConflict: policy, returning: selection) { result = try fetch($0) }
                })
        }
    }

    fileprivate mutating func updateOrInsert(
        _ db: Database, update: (Self) throws -> PersistenceSuccess, insert: (Self) throws -> InsertionSuccess
    ) throws {
        try saveWithCallbacks(db) { record in
            try record.updateIfPresent(db, update) ?? record.insertWithCallbacks(db, insert)
        }
    }

    /// Updates the row of the record. Returns nil if there is no such row.
    private func updateIfPresent(_ db: Database, _ update: (Self) throws -> PersistenceSuccess) throws
        -> PersistenceSuccess?
    {
        let plan = try db.recordPlan(for: Swift.type(of: self))
        let container = try plan.container(for: self)
        guard plan.positionsOfCompleteKey(in: container) != nil else { return nil }
        do {
            return try updateWithCallbacks(db, columns: namesOfTableColumns(db)) { try update(self) }
        } catch RecordError.recordNotFound(let tableName, let key)
            where tableName == plan.tableName && key == plan.key(of: container)
        {
            return nil
        }
    }
}

extension PersistableRecord {
    /// Saves the record: see ``MutablePersistableRecord/save(_:onConflict:)``.
    ///
    ///     try Owner(id: 9, name: "Mary").save(db)
    ///
    /// - Parameter conflictResolution: how SQLite resolves the violation of a constraint; nil uses
    ///   ``MutablePersistableRecord/persistenceConflictPolicy``.
    /// - Throws: a ``DatabaseError``, and any error that a callback throws.
    public func save(_ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil) throws
    {
        var record = self
        try record.updateOrInsert(
            db, update: { try $0.updateRow(db, onConflict: conflictResolution, columns: nil) },
            insert: { try $0.insertRow(db, onConflict: conflictResolution) })
    }

    /// Saves the record and returns the saved row as a record of another type.
    ///
    /// - Parameters:
    ///   - conflictResolution: how SQLite resolves the violation of a constraint; nil uses
    ///     ``MutablePersistableRecord/persistenceConflictPolicy``.
    ///   - returnedType: the type that the row is decoded to, which also selects its columns.
    public func saveAndFetch<T: FetchableRecord & TableRecord>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        as returnedType: T.Type
    ) throws -> T {
        try saveAndFetch(db, onConflict: conflictResolution, selection: T.databaseSelection) {
            try firstRecord(db, $0, as: returnedType)
        }
    }

    /// Saves the record and returns the result of `fetch`, which reads the selected columns of the saved row.
    ///
    /// - Parameters:
    ///   - conflictResolution: how SQLite resolves the violation of a constraint; nil uses
    ///     ``MutablePersistableRecord/persistenceConflictPolicy``.
    ///   - selection: the columns that the statement returns. Precondition: not empty.
    ///   - fetch: a closure that runs the statement with a fetching method and returns the result.
    public func saveAndFetch<T>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        selection: [any SQLSelectable],
        fetch: (Statement) throws -> T
    ) throws -> T {
        var record = self
        return try record.updateOrInsert(
            db, onConflict: conflictResolution, returning: selection, fetch: fetch)
    }
}

// MARK: - Deleting

extension MutablePersistableRecord {
    /// Deletes the row with the primary key of the record, calls the callbacks, and returns true if the row
    /// existed.
    ///
    ///     let wasThere = try item.delete(db)
    ///
    /// - Throws: a ``DatabaseError``, and any error that a callback throws.
    @discardableResult
    public func delete(_ db: Database) throws -> Bool {
        try deleteWithCallbacks(db) { try deleteRow(db) }
    }

    /// Returns true if there is a row with the primary key of the record.
    ///
    ///     let isThere = try item.exists(db)
    ///
    /// - Throws: a ``DatabaseError``, for example if the table does not exist. A record without a key has no
    ///   row.
    public func exists(_ db: Database) throws -> Bool {
        let plan = try db.recordPlan(for: Swift.type(of: self))
        let container = try plan.container(for: self)
        guard let key = plan.positionsOfCompleteKey(in: container) else { return false }
        return try plan.exists(db, container, key: key)
    }
}
