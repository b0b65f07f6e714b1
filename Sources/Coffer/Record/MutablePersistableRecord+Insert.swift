// MARK: - Inserting

extension MutablePersistableRecord {
    /// Inserts the record and calls its callbacks.
    ///
    ///     var seal = Item(ownerId: 7, name: "seal")
    ///     try seal.insert(db)  // seal.id is set
    ///
    /// - Parameter conflictResolution: how SQLite resolves the violation of a constraint; nil uses
    ///   ``persistenceConflictPolicy``.
    /// - Throws: a ``DatabaseError``, and any error that a callback throws.
    @inlinable
    public mutating func insert(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil
    ) throws {
        try saveWithCallbacks(db) { record in
            try record.insertWithCallbacks(db) { try $0.insertRow(db, onConflict: conflictResolution) }
        }
    }

    /// Inserts a copy of the record and returns it after the insertion: see ``insert(_:onConflict:)``.
    ///
    ///     let seal = try Item(ownerId: 7, name: "seal").inserted(db)
    ///
    /// - Parameter conflictResolution: how SQLite resolves the violation of a constraint; nil uses
    ///   ``MutablePersistableRecord/persistenceConflictPolicy``.
    /// - Throws: any error that ``insert(_:onConflict:)`` throws. The original record does not change.
    public func inserted(_ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil)
        throws -> Self
    {
        var record = self
        try record.insert(db, onConflict: conflictResolution)
        return record
    }

    /// Inserts the record and returns the inserted row as a new record, with default values and generated
    /// columns.
    ///
    ///     let share = try Share(itemId: 2, guestId: 3).insertAndFetch(db)
    ///
    /// - Parameter conflictResolution: how SQLite resolves the violation of a constraint; nil uses
    ///   ``MutablePersistableRecord/persistenceConflictPolicy``.
    /// - Throws: also ``RecordError/recordNotFound(databaseTableName:key:)`` if the insertion was ignored
    ///   because of a conflict.
    public func insertAndFetch(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil
    ) throws -> Self where Self: FetchableRecord {
        var record = self
        return try record.insertAndFetch(db, onConflict: conflictResolution, as: Self.self)
    }

    /// Inserts the record and returns the inserted row as a record of another type: see
    /// ``insertAndFetch(_:onConflict:)``.
    ///
    /// - Parameters:
    ///   - conflictResolution: how SQLite resolves the violation of a constraint; nil uses
    ///     ``persistenceConflictPolicy``.
    ///   - returnedType: the type that the row is decoded to, which also selects its columns.
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

    /// Inserts the record and returns the result of `fetch`, which reads the selected columns of the inserted
    /// row.
    ///
    /// - Parameters:
    ///   - conflictResolution: how SQLite resolves the violation of a constraint; nil uses
    ///     ``MutablePersistableRecord/persistenceConflictPolicy``.
    ///   - selection: the columns that the statement returns. Precondition: not empty.
    ///   - fetch: a closure that runs the statement with a fetching method and returns the result. An ignored
    ///     insertion returns no row.
    /// - Throws: any error that ``insert(_:onConflict:)`` or `fetch` throws.
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

    /// Inserts the record and returns the result of `fetch`, which reads the selected columns: see
    /// `insertAndFetch(_:onConflict:selection:fetch:)`.
    ///
    /// - Parameters:
    ///   - conflictResolution: how SQLite resolves the violation of a constraint; nil uses
    ///     ``MutablePersistableRecord/persistenceConflictPolicy``.
    ///   - fetch: a closure that runs the statement with a fetching method and returns the result.
    ///   - selection: the columns that the statement returns. Precondition: not empty.
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
    /// - Parameter conflictResolution: how SQLite resolves the violation of a constraint; nil uses
    ///   ``MutablePersistableRecord/persistenceConflictPolicy``.
    /// - Throws: a ``DatabaseError``, for example with `SQLITE_CONSTRAINT` if the key already exists, and any
    ///   error that a callback throws.
    @inlinable
    public func insert(_ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil)
        throws
    {
        try saveWithCallbacks(db) {
            try insertWithCallbacks(db) { try insertRow(db, onConflict: conflictResolution) }
        }
    }

    /// Inserts the record and returns the inserted row as a record of another type: see
    /// ``MutablePersistableRecord/insertAndFetch(_:onConflict:as:)``.
    public func insertAndFetch<T: FetchableRecord & TableRecord>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        as returnedType: T.Type
    ) throws -> T {
        try insertAndFetch(db, onConflict: conflictResolution, selection: T.databaseSelection) {
            try firstRecord(db, $0, as: returnedType)
        }
    }

    /// Inserts the record and returns the result of `fetch`, which reads the selected columns of the inserted
    /// row: see ``MutablePersistableRecord/insertAndFetch(_:onConflict:selection:fetch:)``.
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

    /// Inserts the record and returns the result of `fetch`, which reads the selected columns of the inserted
    /// row: see ``MutablePersistableRecord/insertAndFetch(_:onConflict:fetch:select:)``.
    public func insertAndFetch<T>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        fetch: (Statement) throws -> T,
        select selection: (DatabaseComponents) throws -> [any SQLSelectable]
    ) throws -> T {
        try insertAndFetch(
            db, onConflict: conflictResolution, selection: selection(Self.databaseComponents), fetch: fetch)
    }
}
