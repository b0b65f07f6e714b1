// MARK: - Updating

extension MutablePersistableRecord {
    /// Updates the row with the primary key of the record and calls the callbacks.
    ///
    ///     item.amount += 1
    ///     try item.update(db)
    ///
    /// - Parameter conflictResolution: how SQLite resolves the violation of a constraint; nil uses
    ///   ``persistenceConflictPolicy``.
    /// - Throws: ``RecordError/recordNotFound(databaseTableName:key:)`` if no row has the key or the key is
    ///   NULL, a ``DatabaseError``, and any error that a callback throws.
    public func update(_ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil)
        throws
    {
        try updateWithAllCallbacks(db, columns: nil) {
            try $0.updateRow(db, onConflict: conflictResolution, columns: $1)
        }
    }

    /// Updates some columns. Their names are compared case-insensitively: see `update(_:onConflict:)`.
    ///
    /// Names of columns that the record does not have are ignored.
    ///
    /// - Parameters:
    ///   - conflictResolution: how SQLite resolves the violation of a constraint; nil uses
    ///     ``MutablePersistableRecord/persistenceConflictPolicy``.
    ///   - columns: the columns to write. The other columns of the row do not change.
    /// - Throws: the same errors as `update(_:onConflict:)`.
    public func update(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        columns: some Collection<String>
    ) throws {
        try updateWithAllCallbacks(db, columns: Set(columns)) {
            try $0.updateRow(db, onConflict: conflictResolution, columns: $1)
        }
    }

    /// Updates some columns: see `update(_:onConflict:columns:)`.
    ///
    /// - Parameters:
    ///   - conflictResolution: how SQLite resolves the violation of a constraint; nil uses
    ///     ``MutablePersistableRecord/persistenceConflictPolicy``.
    ///   - columns: the columns to write. The other columns of the row do not change.
    /// - Throws: the same errors as `update(_:onConflict:)`.
    public func update<Columns: Collection>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil, columns: Columns
    ) throws where Columns.Element: ColumnExpression {
        try update(db, onConflict: conflictResolution, columns: columns.map(\.name))
    }

    /// Updates some columns: see `update(_:onConflict:columns:)`.
    ///
    /// - Parameters:
    ///   - conflictResolution: how SQLite resolves the violation of a constraint; nil uses
    ///     ``MutablePersistableRecord/persistenceConflictPolicy``.
    ///   - columns: the columns to write. The other columns of the row do not change.
    /// - Throws: the same errors as `update(_:onConflict:)`.
    public func update(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        columns: some Collection<any ColumnExpression>
    ) throws {
        try update(db, onConflict: conflictResolution, columns: columns.map(\.name))
    }

    /// Updates the columns that differ from the columns of another record, and returns true if there are any.
    ///
    ///     var mended = item
    ///     mended.name = item.name.capitalized
    ///     if try mended.updateChanges(db, from: item) { print("renamed") }
    ///
    /// If there are none, the database is not accessed and no callback is called.
    ///
    /// - Parameters:
    ///   - conflictResolution: how SQLite resolves the violation of a constraint; nil uses
    ///     ``MutablePersistableRecord/persistenceConflictPolicy``.
    ///   - record: the record with the previous values.
    /// - Throws: the same errors as `update(_:onConflict:)`.
    @discardableResult
    public func updateChanges<Record: MutablePersistableRecord>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil, from record: Record
    ) throws -> Bool {
        try updateChanges(db, onConflict: conflictResolution, Set(databaseChanges(from: record).keys))
    }

    /// Changes the record, updates the changed columns, and returns true if there are any.
    ///
    ///     try item.updateChanges(db) { item in
    ///         item.amount -= 1
    ///         if item.amount == 0 { item.details = "none left" }
    ///     }
    ///
    /// - Parameters:
    ///   - conflictResolution: how SQLite resolves the violation of a constraint; nil uses
    ///     ``MutablePersistableRecord/persistenceConflictPolicy``.
    ///   - modify: a closure that changes the record.
    /// - Throws: the same errors as `update(_:onConflict:)`, and any error that `modify` throws. The record
    ///   keeps its changes in both cases.
    @discardableResult
    public mutating func updateChanges(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        modify: (inout Self) throws -> Void
    ) throws -> Bool {
        // Computed before the call, which would otherwise use a copy of the record from before the change.
        let changes = Set(try databaseChanges(modify: modify).keys)
        return try updateChanges(db, onConflict: conflictResolution, changes)
    }

    private func updateChanges(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution?, _ changes: Set<String>
    ) throws -> Bool {
        guard !changes.isEmpty else { return false }
        try update(db, onConflict: conflictResolution, columns: changes)
        return true
    }
}

// MARK: - Updating and fetching

extension MutablePersistableRecord {
    /// Updates the row of the record and returns the updated row as a new record: see
    /// `update(_:onConflict:)`.
    ///
    ///     let stored = try item.updateAndFetch(db)
    ///
    /// - Parameter conflictResolution: how SQLite resolves the violation of a constraint; nil uses
    ///   ``MutablePersistableRecord/persistenceConflictPolicy``.
    /// - Throws: the same errors as `update(_:onConflict:)`, and any error that
    ///   ``FetchableRecord/init(row:)`` throws.
    public func updateAndFetch(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil
    ) throws -> Self where Self: FetchableRecord {
        try updateAndFetch(db, onConflict: conflictResolution, as: Self.self)
    }

    /// Updates the row of the record and returns the updated row as a record of another type: see
    /// `update(_:onConflict:)`.
    ///
    /// - Parameters:
    ///   - conflictResolution: how SQLite resolves the violation of a constraint; nil uses
    ///     ``persistenceConflictPolicy``.
    ///   - returnedType: the type that the row is decoded to, which also selects its columns.
    /// - Throws: the same errors as `update(_:onConflict:)`, and any error that the initializer of the type
    ///   throws.
    public func updateAndFetch<T: FetchableRecord & TableRecord>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        as returnedType: T.Type
    ) throws -> T {
        try updateAndFetch(db, onConflict: conflictResolution, selection: T.databaseSelection) {
            try firstRecord(db, $0, as: returnedType)
        }
    }

    /// Updates the row of the record and returns the result of `fetch`, which reads the selected columns of
    /// the updated row.
    ///
    /// - Parameters:
    ///   - conflictResolution: how SQLite resolves the violation of a constraint; nil uses
    ///     ``MutablePersistableRecord/persistenceConflictPolicy``.
    ///   - selection: the columns that the statement returns. Precondition: not empty.
    ///   - fetch: a closure that runs the statement with a fetching method and returns the result.
    /// - Throws: the same errors as `update(_:onConflict:)`, and any error that `fetch` throws.
    public func updateAndFetch<T>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        selection: [any SQLSelectable],
        fetch: (Statement) throws -> T
    ) throws -> T {
        try withResult { result in
            try updateWithAllCallbacks(db, columns: nil) {
                try $0.updateRow(db, onConflict: conflictResolution, columns: $1, returning: selection) {
                    result = try fetch($0)
                }
            }
        }
    }

    /// Updates some columns and returns the result of `fetch`, which reads the selected columns of the
    /// updated row.
    ///
    /// - Parameters:
    ///   - conflictResolution: how SQLite resolves the violation of a constraint; nil uses
    ///     ``MutablePersistableRecord/persistenceConflictPolicy``.
    ///   - columns: the columns to write.
    ///   - selection: the columns that the statement returns. Precondition: not empty.
    ///   - fetch: a closure that runs the statement with a fetching method and returns the result.
    /// - Throws: the same errors as `update(_:onConflict:)`, and any error that `fetch` throws.
    public func updateAndFetch<T>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        columns: some Collection<String>,
        selection: [any SQLSelectable], fetch: (Statement) throws -> T
    ) throws -> T {
        try withResult { result in
            try updateWithAllCallbacks(db, columns: Set(columns)) {
                try $0.updateRow(db, onConflict: conflictResolution, columns: $1, returning: selection) {
                    result = try fetch($0)
                }
            }
        }
    }

    /// Updates some columns and returns the result of `fetch`, which reads the selected columns of the
    /// updated row.
    ///
    /// - Parameters:
    ///   - conflictResolution: how SQLite resolves the violation of a constraint; nil uses
    ///     ``MutablePersistableRecord/persistenceConflictPolicy``.
    ///   - columns: the columns to write.
    ///   - selection: the columns that the statement returns. Precondition: not empty.
    ///   - fetch: a closure that runs the statement with a fetching method and returns the result.
    /// - Throws: the same errors as `update(_:onConflict:)`, and any error that `fetch` throws.
    public func updateAndFetch<T, Columns: Collection>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil, columns: Columns,
        selection: [any SQLSelectable], fetch: (Statement) throws -> T
    ) throws -> T where Columns.Element: ColumnExpression {
        try updateAndFetch(
            db, onConflict: conflictResolution, columns: columns.map(\.name), selection: selection,
            fetch: fetch)
    }

    /// Changes the record, updates the changed columns, and returns the updated row; nil if nothing has
    /// changed.
    ///
    ///     let stored = try item.updateChangesAndFetch(db) { $0.amount += 1 }
    ///
    /// - Parameters:
    ///   - conflictResolution: how SQLite resolves the violation of a constraint; nil uses
    ///     ``MutablePersistableRecord/persistenceConflictPolicy``.
    ///   - modify: a closure that changes the record.
    /// - Throws: the same errors as `updateChanges(_:onConflict:modify:)`.
    public mutating func updateChangesAndFetch(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        modify: (inout Self) throws -> Void
    ) throws -> Self? where Self: FetchableRecord {
        try updateChangesAndFetch(db, onConflict: conflictResolution, as: Self.self, modify: modify)
    }

    /// Changes the record, updates the changed columns, and returns the updated row as a record of another
    /// type; nil if nothing has changed.
    ///
    /// - Parameters:
    ///   - conflictResolution: how SQLite resolves the violation of a constraint; nil uses
    ///     ``MutablePersistableRecord/persistenceConflictPolicy``.
    ///   - returnedType: the type that the row is decoded to, which also selects its columns.
    ///   - modify: a closure that changes the record.
    /// - Throws: the same errors as `updateChanges(_:onConflict:modify:)`.
    public mutating func updateChangesAndFetch<T: FetchableRecord & TableRecord>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        as returnedType: T.Type,
        modify: (inout Self) throws -> Void
    ) throws -> T? {
        try updateChangesAndFetch(
            db, onConflict: conflictResolution, selection: T.databaseSelection,
            fetch: { [self] in try firstRecord(db, $0, as: returnedType) }, modify: modify)
    }

    /// Changes the record, updates the changed columns, and returns the result of `fetch`, which reads the
    /// selected columns of the updated row; nil if nothing has changed.
    ///
    /// - Parameters:
    ///   - conflictResolution: how SQLite resolves the violation of a constraint; nil uses
    ///     ``MutablePersistableRecord/persistenceConflictPolicy``.
    ///   - selection: the columns that the statement returns. Precondition: not empty.
    ///   - fetch: a closure that runs the statement with a fetching method and returns the result.
    ///   - modify: a closure that changes the record.
    /// - Throws: the same errors as `updateChanges(_:onConflict:modify:)`, and any error that `fetch` throws.
    public mutating func updateChangesAndFetch<T>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        selection: [any SQLSelectable],
        fetch: (Statement) throws -> T, modify: (inout Self) throws -> Void
    ) throws -> T? {
        let changes = Set(try databaseChanges(modify: modify).keys)
        guard !changes.isEmpty else { return nil }
        return try updateAndFetch(
            db, onConflict: conflictResolution, columns: changes, selection: selection, fetch: fetch)
    }
}

extension MutablePersistableRecord {
    /// Updates the record with the callbacks of a save and of an update.
    ///
    /// - Parameters:
    ///   - columns: the columns to update; nil means all.
    ///   - body: a closure that receives the record and the given columns.
    fileprivate func updateWithAllCallbacks(
        _ db: Database, columns: Set<String>?, _ body: (Self, Set<String>?) throws -> PersistenceSuccess
    ) throws {
        let names = try columns ?? namesOfTableColumns(db)
        try saveWithCallbacks(db) { try updateWithCallbacks(db, columns: names) { try body(self, columns) } }
    }

    /// Returns the column names that the callbacks receive for an update of all columns: the names of the
    /// table's columns, including columns that the record does not have.
    func namesOfTableColumns(_ db: Database) throws -> Set<String> {
        Set(try db.columns(in: Swift.type(of: self).databaseTableName).map(\.name))
    }
}
