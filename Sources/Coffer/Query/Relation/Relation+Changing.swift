internal import SQLCipherBridge

extension Relation {
    /// A statement that deletes the rows of the query, with its arguments.
    func makeDeleteStatement(_ db: Database, returning selection: [SQLSelection] = []) throws -> Statement {
        var writer = SQLWriter(db)
        try writeDelete(to: &writer, returning: selection, limitIsSupported: limitedChangesAreSupported)
        return try db.checkOut(writer)
    }

    /// A statement that updates the rows of the query, with its arguments; nil if nothing is assigned.
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
            // ABORT is what SQLite does by itself.
            if let conflictResolution, conflictResolution != .abort {
                writer.append("OR \(conflictResolution.rawValue) ")
            }
            try target.source.write(to: &writer, aliasKeyword: " AS ")
            writer.append(" SET ")
            try writer.append(assignments, separator: ", ") { try $0.write(to: &$1) }
            try writeChangedRows(to: &writer, returning: selection, limitIsSupported: limitIsSupported)
        }
    }

    /// What the statement itself has to name: the table, its aliases, and the common table expressions. With
    /// joins, the query that returns the keys of the rows has them.
    ///
    /// - Throws: a ``DatabaseError`` of code `SQLITE_MISUSE` if rows are grouped by what does not distinguish
    ///   them: which one of a group would it be?
    private func target(_ db: Database) throws -> Relation {
        let isJoined = try !children.isEmpty && joinedQuery() != nil
        if !groups.isEmpty {
            let columns = try groups.resolve(db).compactMap { group -> String? in
                if case .column(let name) = group.impl { name } else { nil }
            }
            guard try db.table(source.tableName, hasUniqueKey: columns) else {
                throw DatabaseError(
                    resultCode: .SQLITE_MISUSE,
                    message: "Can't delete query with GROUP BY clause, nor update it: the rows of "
                        + "\(source.tableName.quotedDatabaseIdentifier) are not grouped by a unique key.")
            }
        }
        return isJoined ? Relation(table: source.tableName, selection: []) : self
    }

    /// Writes which rows are changed, and what the statement returns of them.
    private func writeChangedRows(
        to writer: inout SQLWriter, returning selection: [SQLSelection], limitIsSupported: Bool
    ) throws {
        // Groups, and limits where SQLite was compiled without them, need a query of their own, which returns
        // the keys of the rows.
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

/// Whether `UPDATE` and `DELETE` may have a `LIMIT`, which SQLite has to be compiled for.
private let limitedChangesAreSupported = Engine.hasCompileOption("ENABLE_UPDATE_DELETE_LIMIT")
