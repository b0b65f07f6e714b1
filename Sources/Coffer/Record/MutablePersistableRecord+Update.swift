// MARK: - Updating

extension MutablePersistableRecord {
    /// Updates the row with the primary key of the record, and calls the callbacks.
    ///
    ///     item.amount += 1
    ///     try item.update(db)
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - conflictResolution: what SQLite does if a constraint is violated; nil asks
    ///     ``persistenceConflictPolicy``.
    /// - Throws: ``RecordError/recordNotFound(databaseTableName:key:)`` if no row has the key, or the key is
    ///   NULL; a ``DatabaseError``, and what the callbacks throw.
    public func update(_ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil)
        throws
    {
        try updateWithAllCallbacks(db, columns: nil) {
            try $0.updateRow(db, onConflict: conflictResolution, columns: $1)
        }
    }

    /// Updates some columns, without regard to the case of their names: see `update(_:onConflict:)`.
    ///
    /// Names of columns that the record does not have are ignored.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - conflictResolution: what SQLite does if a constraint is violated; nil asks
    ///     ``MutablePersistableRecord/persistenceConflictPolicy``.
    ///   - columns: the columns that are written; the others stay as they are in the row.
    /// - Throws: as `update(_:onConflict:)`.
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
    ///   - db: the connection of the access.
    ///   - conflictResolution: what SQLite does if a constraint is violated; nil asks
    ///     ``MutablePersistableRecord/persistenceConflictPolicy``.
    ///   - columns: the columns that are written; the others stay as they are in the row.
    /// - Throws: as `update(_:onConflict:)`.
    public func update<Columns: Collection>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil, columns: Columns
    ) throws where Columns.Element: ColumnExpression {
        try update(db, onConflict: conflictResolution, columns: columns.map(\.name))
    }

    /// Updates some columns: see `update(_:onConflict:columns:)`.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - conflictResolution: what SQLite does if a constraint is violated; nil asks
    ///     ``MutablePersistableRecord/persistenceConflictPolicy``.
    ///   - columns: the columns that are written; the others stay as they are in the row.
    /// - Throws: as `update(_:onConflict:)`.
    public func update(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        columns: some Collection<any ColumnExpression>
    ) throws {
        try update(db, onConflict: conflictResolution, columns: columns.map(\.name))
    }

    /// Updates the columns that differ from those of another record, and returns whether there are any.
    ///
    ///     var mended = item
    ///     mended.name = item.name.capitalized
    ///     if try mended.updateChanges(db, from: item) { print("renamed") }
    ///
    /// If there are none, neither the database nor the callbacks are called.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - conflictResolution: what SQLite does if a constraint is violated; nil asks
    ///     ``MutablePersistableRecord/persistenceConflictPolicy``.
    ///   - record: the record with the former values.
    /// - Throws: as `update(_:onConflict:)`.
    @discardableResult
    public func updateChanges<Record: MutablePersistableRecord>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil, from record: Record
    ) throws -> Bool {
        try updateChanges(db, onConflict: conflictResolution, Set(databaseChanges(from: record).keys))
    }

    /// Changes the record, updates the columns that have changed, and returns whether there are any.
    ///
    ///     try item.updateChanges(db) { item in
    ///         item.amount -= 1
    ///         if item.amount == 0 { item.details = "none left" }
    ///     }
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - conflictResolution: what SQLite does if a constraint is violated; nil asks
    ///     ``MutablePersistableRecord/persistenceConflictPolicy``.
    ///   - modify: changes the record.
    /// - Throws: as `update(_:onConflict:)`, and what `modify` throws. The record keeps its changes then.
    @discardableResult
    public mutating func updateChanges(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        modify: (inout Self) throws -> Void
    ) throws -> Bool {
        // Before the call, which would be one of the old value.
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
    /// Updates the row of the record, and returns the updated row as a new record: see
    /// `update(_:onConflict:)`.
    ///
    ///     let stored = try item.updateAndFetch(db)
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - conflictResolution: what SQLite does if a constraint is violated; nil asks
    ///     ``MutablePersistableRecord/persistenceConflictPolicy``.
    /// - Throws: as `update(_:onConflict:)`, and what ``FetchableRecord/init(row:)`` throws.
    public func updateAndFetch(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil
    ) throws -> Self where Self: FetchableRecord {
        try updateAndFetch(db, onConflict: conflictResolution, as: Self.self)
    }

    /// Updates the row of the record, and returns the updated row as a record of another type: see
    /// `update(_:onConflict:)`.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - conflictResolution: what SQLite does if a constraint is violated; nil asks
    ///     ``persistenceConflictPolicy``.
    ///   - returnedType: what the row becomes, with the columns that this type selects.
    /// - Throws: as `update(_:onConflict:)`, and what the initializer of the type throws.
    public func updateAndFetch<T: FetchableRecord & TableRecord>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        as returnedType: T.Type
    ) throws -> T {
        try updateAndFetch(db, onConflict: conflictResolution, selection: T.databaseSelection) {
            try firstRecord(db, $0, as: returnedType)
        }
    }

    /// Updates the row of the record, and returns what `fetch` makes of the selected columns of the updated
    /// row.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - conflictResolution: what SQLite does if a constraint is violated; nil asks
    ///     ``MutablePersistableRecord/persistenceConflictPolicy``.
    ///   - selection: what the statement returns. Precondition: it is not empty.
    ///   - fetch: executes the statement with one of the fetching methods.
    /// - Throws: as `update(_:onConflict:)`, and what `fetch` throws.
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

    /// Updates some columns, and returns what `fetch` makes of the selected columns of the updated row.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - conflictResolution: what SQLite does if a constraint is violated; nil asks
    ///     ``MutablePersistableRecord/persistenceConflictPolicy``.
    ///   - columns: the columns that are written.
    ///   - selection: what the statement returns, and at least one.
    ///   - fetch: executes the statement with one of the fetching methods.
    /// - Throws: as `update(_:onConflict:)`, and what `fetch` throws.
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

    /// Updates some columns, and returns what `fetch` makes of the selected columns of the updated row.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - conflictResolution: what SQLite does if a constraint is violated; nil asks
    ///     ``MutablePersistableRecord/persistenceConflictPolicy``.
    ///   - columns: the columns that are written.
    ///   - selection: what the statement returns, and at least one.
    ///   - fetch: executes the statement with one of the fetching methods.
    /// - Throws: as `update(_:onConflict:)`, and what `fetch` throws.
    public func updateAndFetch<T, Columns: Collection>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil, columns: Columns,
        selection: [any SQLSelectable], fetch: (Statement) throws -> T
    ) throws -> T where Columns.Element: ColumnExpression {
        try updateAndFetch(
            db, onConflict: conflictResolution, columns: columns.map(\.name), selection: selection,
            fetch: fetch)
    }

    /// Changes the record, updates the columns that have changed, and returns the updated row; nil if nothing
    /// has changed.
    ///
    ///     let stored = try item.updateChangesAndFetch(db) { $0.amount += 1 }
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - conflictResolution: what SQLite does if a constraint is violated; nil asks
    ///     ``MutablePersistableRecord/persistenceConflictPolicy``.
    ///   - modify: changes the record.
    /// - Throws: as `updateChanges(_:onConflict:modify:)`.
    public mutating func updateChangesAndFetch(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        modify: (inout Self) throws -> Void
    ) throws -> Self? where Self: FetchableRecord {
        try updateChangesAndFetch(db, onConflict: conflictResolution, as: Self.self, modify: modify)
    }

    /// Changes the record, updates the columns that have changed, and returns the updated row as a record of
    /// another type; nil if nothing has changed.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - conflictResolution: what SQLite does if a constraint is violated; nil asks
    ///     ``MutablePersistableRecord/persistenceConflictPolicy``.
    ///   - returnedType: what the row becomes, with the columns that this type selects.
    ///   - modify: changes the record.
    /// - Throws: as `updateChanges(_:onConflict:modify:)`.
    public mutating func updateChangesAndFetch<T: FetchableRecord & TableRecord>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        as returnedType: T.Type,
        modify: (inout Self) throws -> Void
    ) throws -> T? {
        try updateChangesAndFetch(
            db, onConflict: conflictResolution, selection: T.databaseSelection,
            fetch: { [self] in try firstRecord(db, $0, as: returnedType) }, modify: modify)
    }

    /// Changes the record, updates the columns that have changed, and returns what `fetch` makes of the
    /// selected columns of the updated row; nil if nothing has changed.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - conflictResolution: what SQLite does if a constraint is violated; nil asks
    ///     ``MutablePersistableRecord/persistenceConflictPolicy``.
    ///   - selection: what the statement returns, and at least one.
    ///   - fetch: executes the statement with one of the fetching methods.
    ///   - modify: changes the record.
    /// - Throws: as `updateChanges(_:onConflict:modify:)`, and what `fetch` throws.
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
    /// Updates with the callbacks of a save and of an update.
    ///
    /// - Parameters:
    ///   - columns: the columns that are updated; nil are all.
    ///   - body: gets the record, and the columns that were given.
    fileprivate func updateWithAllCallbacks(
        _ db: Database, columns: Set<String>?, _ body: (Self, Set<String>?) throws -> PersistenceSuccess
    ) throws {
        let names = try columns ?? namesOfTableColumns(db)
        try saveWithCallbacks(db) { try updateWithCallbacks(db, columns: names) { try body(self, columns) } }
    }

    /// What the callbacks of an update of all columns get: the names of the table's columns, also of those
    /// that the record does not have.
    func namesOfTableColumns(_ db: Database) throws -> Set<String> {
        Set(try db.columns(in: Swift.type(of: self).databaseTableName).map(\.name))
    }
}
