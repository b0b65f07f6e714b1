// The operations themselves, without callbacks.

extension MutablePersistableRecord {
    @inlinable
    func insertRow(_ db: Database, onConflict policy: Database.ConflictResolution?) throws -> InsertionSuccess
    {
        let plan = try db.recordPlan(for: Swift.type(of: self))
        var container = plan.emptyContainer()
        try encode(to: &container)
        let success = try plan.insert(
            db, onConflict: policy ?? type(of: self).persistenceConflictPolicy.conflictResolutionForInsert,
            &container)
        if plan.isForRecordClass { wasInserted(success) }
        return success
    }

    /// Passes the values of the inserted row to the base class ``Record``.
    @usableFromInline
    func wasInserted(_ success: InsertionSuccess) {
        (self as? Record)?.didWrite(
            success.persistenceContainer, rowID: success.rowIDColumn.map { ($0, success.rowID) })
    }

    func insertRow(
        _ db: Database, onConflict policy: Database.ConflictResolution?,
        returning selection: [any SQLSelectable],
        fetch: (Statement) throws -> Void
    ) throws -> InsertionSuccess {
        let plan = try db.recordPlan(for: Swift.type(of: self))
        var container = try plan.container(for: self)
        let policy = policy ?? type(of: self).persistenceConflictPolicy.conflictResolutionForInsert
        let statement = try plan.returningStatement(
            db, sql: plan.insertSQL(policy), values: container.indices.map(container.databaseValue(at:)),
            selection: selection)
        try fetch(statement)
        let rowID = plan.rowID(of: container, insertedIn: db)
        plan.setNewRowID(rowID, in: &container)
        let success = InsertionSuccess(
            rowID: rowID, rowIDColumn: plan.rowIDColumn, persistenceContainer: container)
        if plan.isForRecordClass { wasInserted(success) }
        return success
    }

    /// Updates all columns, or some.
    func updateRow(
        _ db: Database, onConflict policy: Database.ConflictResolution?, columns: Set<String>?
    ) throws -> PersistenceSuccess {
        let plan = try db.recordPlan(for: Swift.type(of: self))
        let container = try plan.container(for: self)
        guard let key = plan.positionsOfCompleteKey(in: container) else {
            throw plan.recordNotFound(container)
        }
        let policy = policy ?? type(of: self).persistenceConflictPolicy.conflictResolutionForUpdate
        let changesBefore = db.totalChangesCount
        if let columns {
            try plan.update(db, onConflict: policy, container, setting: plan.positions(of: columns), key: key)
        } else {
            try plan.update(db, onConflict: policy, container)
        }
        guard try db.hasChanged(plan.tableName, since: changesBefore) else {
            throw plan.recordNotFound(container)
        }
        if plan.isForRecordClass { (self as? Record)?.didWrite(container, columns: columns) }
        return PersistenceSuccess(container)
    }

    func updateRow(
        _ db: Database, onConflict policy: Database.ConflictResolution?, columns: Set<String>?,
        returning selection: [any SQLSelectable],
        fetch: (Statement) throws -> Void
    ) throws -> PersistenceSuccess {
        let plan = try db.recordPlan(for: Swift.type(of: self))
        let container = try plan.container(for: self)
        guard let key = plan.positionsOfCompleteKey(in: container) else {
            throw plan.recordNotFound(container)
        }
        let policy = policy ?? type(of: self).persistenceConflictPolicy.conflictResolutionForUpdate
        let positions = plan.positions(of: columns ?? Set(container.columns))
        let statement = try plan.returningStatement(
            db, sql: try plan.updateSQL(db, policy, setting: positions[...]),
            values: (positions + key).map(container.databaseValue(at:)),
            selection: selection)
        let changesBefore = db.totalChangesCount
        try fetch(statement)
        guard try db.hasChanged(plan.tableName, since: changesBefore) else {
            throw plan.recordNotFound(container)
        }
        if plan.isForRecordClass { (self as? Record)?.didWrite(container, columns: columns) }
        return PersistenceSuccess(container)
    }

    func deleteRow(_ db: Database) throws -> Bool {
        let plan = try db.recordPlan(for: Swift.type(of: self))
        let container = try plan.container(for: self)
        guard let key = plan.positionsOfCompleteKey(in: container) else { return false }
        let changesBefore = db.totalChangesCount
        try plan.delete(db, container, key: key)
        if plan.isForRecordClass { (self as? Record)?.wasDeleted() }
        return try db.hasChanged(plan.tableName, since: changesBefore)
    }

    /// Returns the first record that a statement returns for a written row.
    func firstRecord<T: FetchableRecord>(_ db: Database, _ statement: Statement, as type: T.Type) throws -> T
    {
        if let record = try T.fetchOne(statement) { return record }
        // The write was ignored: see `INSERT OR IGNORE`.
        let plan = try db.recordPlan(for: Swift.type(of: self))
        throw plan.recordNotFound(try plan.container(for: self))
    }
}

extension Database {
    /// Returns true if the last statement has changed a row of the table.
    ///
    /// - Parameter count: ``totalChangesCount`` before the statement. Changes of a view appear only there, as
    ///   rows that triggers have changed: <https://www.sqlite.org/c3ref/changes.html>.
    func hasChanged(_ table: String, since count: Int) throws -> Bool {
        try changesCount(in: table, since: count) > 0
    }

    /// Returns the number of rows of the table that the last statement has changed; for a view, the number of
    /// rows that its triggers have changed.
    ///
    /// - Parameter count: ``totalChangesCount`` before the statement.
    func changesCount(in table: String, since count: Int) throws -> Int {
        if changesCount > 0 { return changesCount }
        let total = totalChangesCount - count
        return try total > 0 && viewExists(table) ? total : 0
    }
}

extension RecordPlan {
    /// Returns a statement that writes a row and returns its selected columns.
    func returningStatement(
        _ db: Database, sql: String, values: [DatabaseValue], selection: [any SQLSelectable]
    ) throws -> Statement {
        precondition(!selection.isEmpty, "A statement that returns rows needs columns to return.")
        var writer = SQLWriter(db)
        try writer.inScope({ try $0.enter(SourceTable(tableName: tableName)) }) { writer in
            try writer.append(sql: sql, arguments: StatementArguments(values: values))
            writer.append(" RETURNING ")
            try writer.append(selection, separator: ", ") { try $0.sqlSelection.write(to: &$1) }
        }
        return try db.checkOut(writer)
    }
}
