// MARK: - Saving

extension MutablePersistableRecord {
    /// Updates the row with the primary key of the record, or inserts the record if there is no such row or
    /// no key.
    ///
    /// The callbacks are those of the update, and then those of the insertion if there is one.
    ///
    ///     var seal = Item(ownerId: 7, name: "seal")
    ///     try seal.save(db)  // inserts
    ///     seal.amount = 2
    ///     try seal.save(db)  // updates
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - conflictResolution: what SQLite does if a constraint is violated; nil asks
    ///     ``MutablePersistableRecord/persistenceConflictPolicy``.
    /// - Throws: a ``DatabaseError``, and what the callbacks throw.
    public mutating func save(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil
    ) throws {
        try updateOrInsert(
            db, update: { try $0.updateRow(db, onConflict: conflictResolution, columns: nil) },
            insert: { try $0.insertRow(db, onConflict: conflictResolution) })
    }

    /// Saves the record, and returns it as it is after that: see ``save(_:onConflict:)``.
    ///
    ///     let seal = try Item(ownerId: 7, name: "seal").saved(db)
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - conflictResolution: what SQLite does if a constraint is violated; nil asks
    ///     ``MutablePersistableRecord/persistenceConflictPolicy``.
    /// - Throws: what ``save(_:onConflict:)`` throws. The original has not changed then.
    public func saved(_ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil)
        throws -> Self
    {
        var record = self
        try record.save(db, onConflict: conflictResolution)
        return record
    }

    /// Saves the record, and returns the saved row as a new record: see ``save(_:onConflict:)``.
    ///
    ///     let owner = try Owner(id: 9, name: "Mary").saveAndFetch(db)
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - conflictResolution: what SQLite does if a constraint is violated; nil asks
    ///     ``MutablePersistableRecord/persistenceConflictPolicy``.
    /// - Throws: what ``save(_:onConflict:)`` and ``FetchableRecord/init(row:)`` throw.
    public func saveAndFetch(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil
    ) throws -> Self where Self: FetchableRecord {
        var record = self
        return try record.saveAndFetch(db, onConflict: conflictResolution, as: Self.self)
    }

    /// Saves the record, and returns the saved row as a record of another type: see ``save(_:onConflict:)``.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - conflictResolution: what SQLite does if a constraint is violated; nil asks
    ///     ``persistenceConflictPolicy``.
    ///   - returnedType: what the row becomes, with the columns that this type selects.
    /// - Throws: what ``save(_:onConflict:)`` and the initializer of the type throw.
    public mutating func saveAndFetch<T: FetchableRecord & TableRecord>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        as returnedType: T.Type
    ) throws -> T {
        try saveAndFetch(db, onConflict: conflictResolution, selection: T.databaseSelection) { [self] in
            try firstRecord(db, $0, as: returnedType)
        }
    }

    /// Saves the record, and returns what `fetch` makes of the selected columns of the saved row.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - conflictResolution: what SQLite does if a constraint is violated; nil asks
    ///     ``MutablePersistableRecord/persistenceConflictPolicy``.
    ///   - selection: what the statements return. Precondition: it is not empty.
    ///   - fetch: executes a statement with one of the fetching methods. It is called for the update, and
    ///     again if there is an insertion.
    /// - Throws: what ``save(_:onConflict:)`` and `fetch` throw.
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

    /// Updates the row of the record; nil if there is none.
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
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - conflictResolution: what SQLite does if a constraint is violated; nil asks
    ///     ``MutablePersistableRecord/persistenceConflictPolicy``.
    /// - Throws: a ``DatabaseError``, and what the callbacks throw.
    public func save(_ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil) throws
    {
        var record = self
        try record.updateOrInsert(
            db, update: { try $0.updateRow(db, onConflict: conflictResolution, columns: nil) },
            insert: { try $0.insertRow(db, onConflict: conflictResolution) })
    }

    /// Saves the record, and returns the saved row as a record of another type.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - conflictResolution: what SQLite does if a constraint is violated; nil asks
    ///     ``MutablePersistableRecord/persistenceConflictPolicy``.
    ///   - returnedType: what the row becomes, with the columns that this type selects.
    public func saveAndFetch<T: FetchableRecord & TableRecord>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        as returnedType: T.Type
    ) throws -> T {
        try saveAndFetch(db, onConflict: conflictResolution, selection: T.databaseSelection) {
            try firstRecord(db, $0, as: returnedType)
        }
    }

    /// Saves the record, and returns what `fetch` makes of the selected columns of the saved row.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - conflictResolution: what SQLite does if a constraint is violated; nil asks
    ///     ``MutablePersistableRecord/persistenceConflictPolicy``.
    ///   - selection: what the statement returns, and at least one.
    ///   - fetch: executes the statement with one of the fetching methods.
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
    /// Deletes the row with the primary key of the record, calls the callbacks, and returns whether there was
    /// such a row.
    ///
    ///     let wasThere = try item.delete(db)
    ///
    /// - Throws: a ``DatabaseError``, and what the callbacks throw.
    @discardableResult
    public func delete(_ db: Database) throws -> Bool {
        try deleteWithCallbacks(db) { try deleteRow(db) }
    }

    /// Whether there is a row with the primary key of the record.
    ///
    ///     let isThere = try item.exists(db)
    ///
    /// - Throws: a ``DatabaseError``, for example if the table is not there. A record without a key has no
    ///   row.
    public func exists(_ db: Database) throws -> Bool {
        let plan = try db.recordPlan(for: Swift.type(of: self))
        let container = try plan.container(for: self)
        guard let key = plan.positionsOfCompleteKey(in: container) else { return false }
        return try plan.exists(db, container, key: key)
    }
}
