// MARK: - Upserting

extension MutablePersistableRecord {
    /// Inserts the record. If this would violate a uniqueness constraint, updates all columns of the
    /// conflicting row except the primary key.
    ///
    /// The callbacks of an insertion are called, even for an update. See
    /// <https://www.sqlite.org/lang_UPSERT.html>.
    ///
    ///     try item.upsert(db)
    ///
    /// - Throws: a ``DatabaseError``, and any error that a callback throws.
    public mutating func upsert(_ db: Database) throws {
        try upsertWithCallbacks(db) { try $0.upsertRow(db) }
    }

    /// Inserts the record, or updates the row that conflicts with it, and returns the row as a new record.
    ///
    ///     // INSERT INTO "share" ("itemId", "guestId", "expiry") VALUES (?,?,?)
    ///     // ON CONFLICT("itemId", "guestId") DO UPDATE SET "expiry" = MAX("expiry", "excluded"."expiry") RETURNING *
    ///     let share = try newShare.upsertAndFetch(db, onConflict: ["itemId", "guestId"], updating: .noColumnUnlessSpecified) { new in
    ///         [Column("expiry").set(to: max(Column("expiry"), new[Column("expiry")]))]
    ///     }
    ///
    /// - Parameters:
    ///   - conflictTarget: the columns of the primary key or unique index whose violation causes an update.
    ///     If empty, the violation of any of them does.
    ///   - strategy: the columns to overwrite in addition to the columns of the assignments.
    ///   - assignments: a closure that returns the assignments of an update. Its argument refers to the
    ///     values that could not be inserted.
    /// - Throws: a ``DatabaseError``, and any error that a callback throws.
    public mutating func upsertAndFetch(
        _ db: Database, onConflict conflictTarget: [String] = [],
        updating strategy: UpsertUpdateStrategy = .allColumns,
        doUpdate assignments: ((TableAlias<Self>) -> [ColumnAssignment])? = nil
    ) throws -> Self where Self: FetchableRecord {
        try upsertAndFetch(
            db, as: Self.self, onConflict: conflictTarget, updating: strategy, doUpdate: assignments)
    }

    /// Inserts the record, or updates the row that conflicts with it, and returns the row as a record of
    /// another type: see ``upsertAndFetch(_:onConflict:updating:doUpdate:)``.
    ///
    /// - Parameter returnedType: the type that the row is decoded to, which also selects its columns.
    public mutating func upsertAndFetch<T: FetchableRecord & TableRecord>(
        _ db: Database, as returnedType: T.Type, onConflict conflictTarget: [String] = [],
        updating strategy: UpsertUpdateStrategy = .allColumns,
        doUpdate assignments: ((TableAlias<Self>) -> [ColumnAssignment])? = nil
    ) throws -> T {
        try upsertReturning(
            db, as: returnedType, onConflict: conflictTarget, updating: strategy,
            assignments: assignments?(TableAlias(name: "excluded")) ?? [])
    }

    fileprivate mutating func upsertReturning<T: FetchableRecord & TableRecord>(
        _ db: Database, as type: T.Type, onConflict conflictTarget: [String],
        updating strategy: UpsertUpdateStrategy,
        assignments: [ColumnAssignment]
    ) throws -> T {
        try withResult { result in
            try upsertWithCallbacks(db) {
                let (success, record) = try $0.upsertRow(
                    db, as: type, onConflict: conflictTarget, updating: strategy, assignments: assignments)
                result = record
                return success
            }
        }
    }

    fileprivate mutating func upsertWithCallbacks(_ db: Database, _ upsert: (Self) throws -> InsertionSuccess)
        throws
    {
        try saveWithCallbacks(db) { try $0.insertWithCallbacks(db, upsert) }
    }
}

extension PersistableRecord {
    /// Inserts the record, or updates the row that conflicts with it: see
    /// ``MutablePersistableRecord/upsert(_:)``.
    ///
    ///     try Owner(id: 7, name: "Ada Lovelace").upsert(db)  // owner 7 exists already
    public func upsert(_ db: Database) throws {
        var record = self
        try record.upsertWithCallbacks(db) { try $0.upsertRow(db) }
    }

    /// Inserts the record, or updates the row that conflicts with it, and returns the row as a new record:
    /// see ``MutablePersistableRecord/upsertAndFetch(_:onConflict:updating:doUpdate:)``.
    public func upsertAndFetch(
        _ db: Database, onConflict conflictTarget: [String] = [],
        updating strategy: UpsertUpdateStrategy = .allColumns,
        doUpdate assignments: ((TableAlias<Self>) -> [ColumnAssignment])? = nil
    ) throws -> Self where Self: FetchableRecord {
        try upsertAndFetch(
            db, as: Self.self, onConflict: conflictTarget, updating: strategy, doUpdate: assignments)
    }

    /// Inserts the record, or updates the row that conflicts with it, and returns the row as a record of
    /// another type: see ``MutablePersistableRecord/upsertAndFetch(_:as:onConflict:updating:doUpdate:)``.
    public func upsertAndFetch<T: FetchableRecord & TableRecord>(
        _ db: Database, as returnedType: T.Type, onConflict conflictTarget: [String] = [],
        updating strategy: UpsertUpdateStrategy = .allColumns,
        doUpdate assignments: ((TableAlias<Self>) -> [ColumnAssignment])? = nil
    ) throws -> T {
        var record = self
        return try record.upsertReturning(
            db, as: returnedType, onConflict: conflictTarget, updating: strategy,
            assignments: assignments?(TableAlias(name: "excluded")) ?? [])
    }
}

// MARK: - The statement

extension MutablePersistableRecord {
    fileprivate func upsertRow(_ db: Database) throws -> InsertionSuccess {
        let plan = try db.recordPlan(for: Swift.type(of: self))
        let container = try plan.container(for: self)
        var writer = SQLWriter(db)
        try plan.writeUpsert(container, to: &writer, onConflict: [], updating: .allColumns, assignments: [])
        // An update does not change the last inserted row ID of the connection.
        let rowIDName = try db.hiddenRowIDName(of: plan.tableName)
        if let rowIDName {
            writer.append(" RETURNING ")
            writer.append(identifier: rowIDName)
        }
        let statement = try db.checkOut(writer)
        let rowID: Int64?
        if rowIDName != nil {
            rowID = try Int64.fetchOne(statement)
        } else {
            try statement.execute()
            rowID = nil
        }
        return success(db, plan, container, rowID)
    }

    fileprivate func upsertRow<T: FetchableRecord & TableRecord>(
        _ db: Database, as type: T.Type, onConflict conflictTarget: [String],
        updating strategy: UpsertUpdateStrategy,
        assignments: [ColumnAssignment]
    ) throws -> (success: InsertionSuccess, result: T) {
        let plan = try db.recordPlan(for: Swift.type(of: self))
        let container = try plan.container(for: self)
        var writer = SQLWriter(db)
        try plan.writeUpsert(
            container, to: &writer, onConflict: conflictTarget, updating: strategy, assignments: assignments)
        try writer.inScope({ try $0.enter(SourceTable(tableName: plan.tableName)) }) { writer in
            writer.append(" RETURNING ")
            try writer.append(T.databaseSelection, separator: ", ") { try $0.sqlSelection.write(to: &$1) }
        }
        let rowIDName = try db.hiddenRowIDName(of: plan.tableName)
        if let rowIDName {
            writer.append(", ")
            writer.append(identifier: rowIDName)
        }
        let statement = try db.checkOut(writer)
        let rows = try Row.fetchCursor(statement)
        let returned = try rows.first { row in
            guard rowIDName != nil else { return (record: try T(row: row), rowID: Int64?.none) }
            // The row ID after the selection is for the callbacks.
            let last = row.count - 1
            return (record: try T(row: Row(base: row, adapter: RangeRowAdapter(0..<last))), rowID: row[last])
        }
        guard let returned else { throw plan.recordNotFound(container) }
        return (success(db, plan, container, returned.rowID), returned.record)
    }

    private func success(
        _ db: Database, _ plan: RecordPlan, _ container: PersistenceContainer, _ rowID: Int64?
    ) -> InsertionSuccess {
        var container = container
        // The record may have another row ID than the row that was updated.
        if let rowID, let column = plan.rowIDColumn { container[column] = rowID }
        let success = InsertionSuccess(
            rowID: rowID ?? plan.rowID(of: container, insertedIn: db), rowIDColumn: plan.rowIDColumn,
            persistenceContainer: container)
        if plan.isForRecordClass { wasInserted(success) }
        return success
    }
}

extension RecordPlan {
    fileprivate func writeUpsert(
        _ container: PersistenceContainer, to writer: inout SQLWriter, onConflict conflictTarget: [String],
        updating strategy: UpsertUpdateStrategy, assignments: [ColumnAssignment]
    ) throws {
        let values = container.indices.map(container.databaseValue(at:))
        try writer.inScope({ try $0.enter(SourceTable(tableName: tableName)) }) { writer in
            try writer.append(sql: insertSQL(.abort), arguments: StatementArguments(values: values))
            writer.append(" ON CONFLICT")
            if !conflictTarget.isEmpty {
                writer.append("(")
                writer.append(conflictTarget, separator: ", ") { $1.append(identifier: $0) }
                writer.append(")")
            }
            writer.append(" DO UPDATE SET ")
            let written = assignments.filter { $0.value != nil }
            let overwritten =
                strategy.contains(.noColumnUnlessSpecified)
                ? [] : overwrittenColumns(conflictTarget, assignments)
            try writer.append(written, separator: ", ") { try $0.write(to: &$1) }
            if !written.isEmpty, !overwritten.isEmpty { writer.append(", ") }
            writer.append(overwritten, separator: ", ") { name, writer in
                writer.append(identifier: name)
                writer.append(" = \"excluded\".")
                writer.append(identifier: name)
            }
            // DO NOTHING would return no row, and no row ID.
            if written.isEmpty, overwritten.isEmpty,
                let name = conflictTarget.first ?? keyColumns.first ?? columns.first
            {
                writer.append(identifier: name)
                writer.append(" = ")
                writer.append(identifier: name)
            }
        }
    }

    /// Returns the inserted columns, without the key, the conflict target, and the columns that are assigned
    /// or kept.
    private func overwrittenColumns(_ conflictTarget: [String], _ assignments: [ColumnAssignment]) -> [String]
    {
        let excluded = Set(
            (keyColumns + conflictTarget + assignments.map(\.columnName)).map(CaseInsensitiveName.init))
        return columns.filter { !excluded.contains(CaseInsensitiveName($0)) }
    }
}
