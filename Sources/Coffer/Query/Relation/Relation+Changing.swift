internal import SQLCipherBridge

extension Relation {
    /// Returns a statement, with its arguments set, that deletes the rows of the query.
    func makeDeleteStatement(_ db: Database, returning selection: [SQLSelection] = []) throws -> Statement {
        var writer = SQLWriter(db)
        try writeDelete(to: &writer, returning: selection, limitIsSupported: limitedChangesAreSupported)
        return try db.checkOut(writer)
    }

    /// Returns a statement, with its arguments set, that updates the rows of the query; nil if nothing is
    /// assigned.
    func makeUpdateStatement(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution?,
        _ assignments: [ColumnAssignment],
        returning selection: [SQLSelection] = []
    ) throws -> Statement? {
        let assignments = assignments.filter { $0.value != nil }
        guard !assignments.isEmpty else { return nil }
        var writer = SQLWriter(db)
        try writeUpdate(
            to: &writer, onConflict: conflictResolution, assignments, returning: selection,
            limitIsSupported: limitedChangesAreSupported)
        return try db.checkOut(writer)
    }

    func writeDelete(to writer: inout SQLWriter, returning selection: [SQLSelection], limitIsSupported: Bool)
        throws
    {
        let target = try target(writer.db)
        try writer.inScope({ try $0.enter(target.source) }) { writer in
            try target.writeCommonTables(to: &writer)
            writer.append("DELETE FROM ")
            try target.source.write(to: &writer, aliasKeyword: " AS ")
            try writeChangedRows(to: &writer, returning: selection, limitIsSupported: limitIsSupported)
        }
    }

    func writeUpdate(
        to writer: inout SQLWriter, onConflict conflictResolution: Database.ConflictResolution?,
        _ assignments: [ColumnAssignment], returning selection: [SQLSelection], limitIsSupported: Bool
    ) throws {
        let target = try target(writer.db)
        try writer.inScope({ try $0.enter(target.source) }) { writer in
            try target.writeCommonTables(to: &writer)
            writer.append("UPDATE ")
            // ABORT is SQLite's default.
            if let conflictResolution, conflictResolution != .abort {
                writer.append("OR \(conflictResolution.rawValue) ")
            }
            try target.source.write(to: &writer, aliasKeyword: " AS ")
            writer.append(" SET ")
            try writer.append(assignments, separator: ", ") { try $0.write(to: &$1) }
            try writeChangedRows(to: &writer, returning: selection, limitIsSupported: limitIsSupported)
        }
    }

    /// Returns the relation that the statement itself names: its table, aliases and common table expressions.
    /// If tables are joined, the subquery that returns the row keys names them instead.
    ///
    /// - Throws: a ``DatabaseError`` with `SQLITE_MISUSE` if rows are grouped by columns that are not a
    ///   unique key, because a group would not identify a row.
    private func target(_ db: Database) throws -> Relation {
        let isJoined = try !children.isEmpty && joinedQuery() != nil
        if !groups.isEmpty {
            let columns = try groups.resolve(db).compactMap { group -> String? in
                if case .column(let name) = group.impl { name } else { nil }
            }
            guard try db.table(source.tableName, hasUniqueKey: columns) else {
                throw DatabaseError.misuse(
                    "A request with GROUP BY cannot be deleted or updated: the rows of "
                        + "\(source.tableName.quotedDatabaseIdentifier) are not grouped by a unique "
                        + "key.")
            }
        }
        return isJoined ? Relation(table: source.tableName, selection: []) : self
    }

    /// Writes the clauses that select the changed rows, and the `RETURNING` clause.
    private func writeChangedRows(
        to writer: inout SQLWriter, returning selection: [SQLSelection], limitIsSupported: Bool
    ) throws {
        // Joins and groups need a subquery that returns the keys of the rows. So does a limit if SQLite was
        // compiled without support for it.
        let isJoined = hasJoins
        let needsQuery = isJoined || hasGroups || (limit != nil && !limitIsSupported)
        if needsQuery {
            try writeKeyCondition(to: &writer, isJoined: isJoined)
        } else {
            try writer.append(conditions: filters.resolve(writer.db), after: " WHERE ")
        }
        if !selection.isEmpty {
            writer.append(" RETURNING ")
            try writer.inScope({ $0.columnQualifier = nil }) { writer in
                try writer.append(selection, separator: ", ") { try $0.write(to: &$1) }
            }
        }
        if !needsQuery, limit != nil {
            try writeOrderAndLimit(to: &writer)
        }
    }

    private func writeKeyCondition(to writer: inout SQLWriter, isJoined: Bool) throws {
        let keyColumns = try writer.db.columnsOfRowKey(of: source.tableName)
        var query = self
        if isJoined { query.removeResultsOfChildren() } else { query.commonTables = [] }
        query.isDistinct = false
        query.selection = .values(keyColumns.map { Column($0).sqlSelection })
        writer.append(keyColumns.count > 1 ? " WHERE (" : " WHERE ")
        writer.append(keyColumns, separator: ", ") { $1.append(column: $0) }
        writer.append(keyColumns.count > 1 ? ") IN (" : " IN (")
        try query.write(to: &writer)
        writer.append(")")
    }
}

/// True if `UPDATE` and `DELETE` accept a `LIMIT`, which SQLite must be compiled for.
private let limitedChangesAreSupported = Engine.hasCompileOption("ENABLE_UPDATE_DELETE_LIMIT")
