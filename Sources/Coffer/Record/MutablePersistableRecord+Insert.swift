// MARK: - Inserting

extension MutablePersistableRecord {
    /// Inserts the record, and calls its callbacks.
    ///
    ///     var seal = Item(ownerId: 7, name: "seal")
    ///     try seal.insert(db)  // seal.id is a number now
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - conflictResolution: what SQLite does if a constraint is violated; nil asks
    ///     ``persistenceConflictPolicy``.
    /// - Throws: a ``DatabaseError``, and what the callbacks throw.
    @inlinable
    public mutating func insert(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil
    ) throws {
        try saveWithCallbacks(db) { record in
            try record.insertWithCallbacks(db) { try $0.insertRow(db, onConflict: conflictResolution) }
        }
    }

    /// Inserts the record, and returns it as it is after the insertion: see ``insert(_:onConflict:)``.
    ///
    ///     let seal = try Item(ownerId: 7, name: "seal").inserted(db)
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - conflictResolution: what SQLite does if a constraint is violated; nil asks
    ///     ``MutablePersistableRecord/persistenceConflictPolicy``.
    /// - Throws: what ``insert(_:onConflict:)`` throws. The original has not changed then.
    public func inserted(_ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil)
        throws -> Self
    {
        var record = self
        try record.insert(db, onConflict: conflictResolution)
        return record
    }

    /// Inserts the record, and returns the inserted row as a new record: with default values and generated
    /// columns.
    ///
    ///     let share = try Share(itemId: 2, guestId: 3).insertAndFetch(db)
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - conflictResolution: what SQLite does if a constraint is violated; nil asks
    ///     ``MutablePersistableRecord/persistenceConflictPolicy``.
    /// - Throws: also ``RecordError/recordNotFound(databaseTableName:key:)`` if the insertion was ignored
    ///   because of a conflict.
    public func insertAndFetch(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil
    ) throws -> Self where Self: FetchableRecord {
        var record = self
        return try record.insertAndFetch(db, onConflict: conflictResolution, as: Self.self)
    }

    /// Inserts the record, and returns the inserted row as a record of another type: see
    /// ``insertAndFetch(_:onConflict:)``.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - conflictResolution: what SQLite does if a constraint is violated; nil asks
    ///     ``persistenceConflictPolicy``.
    ///   - returnedType: what the row becomes, with the columns that this type selects.
    /// - Throws: also ``RecordError/recordNotFound(databaseTableName:key:)`` if the insertion was ignored
    ///   because of a conflict.
    public mutating func insertAndFetch<T: FetchableRecord & TableRecord>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        as returnedType: T.Type
    ) throws -> T {
        try insertAndFetch(db, onConflict: conflictResolution, selection: T.databaseSelection) { [self] in
            try firstRecord(db, $0, as: returnedType)
        }
    }

    /// Inserts the record, and returns what `fetch` makes of the selected columns of the inserted row.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - conflictResolution: what SQLite does if a constraint is violated; nil asks
    ///     ``MutablePersistableRecord/persistenceConflictPolicy``.
    ///   - selection: what the statement returns. Precondition: it is not empty.
    ///   - fetch: executes the statement with one of the fetching methods. An insertion that was ignored
    ///     returns no row.
    /// - Throws: what ``insert(_:onConflict:)`` and `fetch` throw.
    public mutating func insertAndFetch<T>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        selection: [any SQLSelectable],
        fetch: (Statement) throws -> T
    ) throws -> T {
        try withResult { result in
            try saveWithCallbacks(db) { record in
                try record.insertWithCallbacks(db) {
                    try $0.insertRow(db, onConflict: conflictResolution, returning: selection) {
                        result = try fetch($0)
                    }
                }
            }
        }
    }

    /// Inserts the record, and returns what `fetch` makes of the selected columns: see
    /// `insertAndFetch(_:onConflict:selection:fetch:)`.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - conflictResolution: what SQLite does if a constraint is violated; nil asks
    ///     ``MutablePersistableRecord/persistenceConflictPolicy``.
    ///   - fetch: executes the statement with one of the fetching methods.
    ///   - selection: what the statement returns, and at least one.
    public mutating func insertAndFetch<T>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        fetch: (Statement) throws -> T,
        select selection: (DatabaseComponents) throws -> [any SQLSelectable]
    ) throws -> T {
        try insertAndFetch(
            db, onConflict: conflictResolution, selection: selection(Self.databaseComponents), fetch: fetch)
    }
}

extension PersistableRecord {
    /// Inserts the record: see ``MutablePersistableRecord/insert(_:onConflict:)``.
    ///
    ///     try Owner(id: 9, name: "Mary").insert(db)
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - conflictResolution: what SQLite does if a constraint is violated; nil asks
    ///     ``MutablePersistableRecord/persistenceConflictPolicy``.
    /// - Throws: a ``DatabaseError``, such as `SQLITE_CONSTRAINT` for a key that is taken, and what the
    ///   callbacks throw.
    @inlinable
    public func insert(_ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil)
        throws
    {
        try saveWithCallbacks(db) {
            try insertWithCallbacks(db) { try insertRow(db, onConflict: conflictResolution) }
        }
    }

    /// Inserts the record, and returns the inserted row as a record of another type.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - conflictResolution: what SQLite does if a constraint is violated; nil asks
    ///     ``MutablePersistableRecord/persistenceConflictPolicy``.
    ///   - returnedType: what the row becomes, with the columns that this type selects.
    public func insertAndFetch<T: FetchableRecord & TableRecord>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        as returnedType: T.Type
    ) throws -> T {
        try insertAndFetch(db, onConflict: conflictResolution, selection: T.databaseSelection) {
            try firstRecord(db, $0, as: returnedType)
        }
    }

    /// Inserts the record, and returns what `fetch` makes of the selected columns of the inserted row.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - conflictResolution: what SQLite does if a constraint is violated; nil asks
    ///     ``MutablePersistableRecord/persistenceConflictPolicy``.
    ///   - selection: what the statement returns, and at least one.
    ///   - fetch: executes the statement with one of the fetching methods.
    public func insertAndFetch<T>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        selection: [any SQLSelectable],
        fetch: (Statement) throws -> T
    ) throws -> T {
        try withResult { result in
            try saveWithCallbacks(db) {
                try insertWithCallbacks(db) {
                    try insertRow(db, onConflict: conflictResolution, returning: selection) {
                        result = try fetch($0)
                    }
                }
            }
        }
    }

    /// Inserts the record, and returns what `fetch` makes of the selected columns of the inserted row.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - conflictResolution: what SQLite does if a constraint is violated; nil asks
    ///     ``MutablePersistableRecord/persistenceConflictPolicy``.
    ///   - fetch: executes the statement with one of the fetching methods.
    ///   - selection: what the statement returns, and at least one.
    public func insertAndFetch<T>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        fetch: (Statement) throws -> T,
        select selection: (DatabaseComponents) throws -> [any SQLSelectable]
    ) throws -> T {
        try insertAndFetch(
            db, onConflict: conflictResolution, selection: selection(Self.databaseComponents), fetch: fetch)
    }
}
