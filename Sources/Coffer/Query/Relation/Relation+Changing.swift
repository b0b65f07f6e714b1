internal import SQLCipherBridge

extension Relation {
    /// A statement that deletes the rows of the query, with its arguments.
    func makeDeleteStatement(_ db: Database, returning selection: [SQLSelection] = []) throws -> Statement {
        var context = SQLWriter(db)
        try writeDelete(to: &context, returning: selection, limitIsSupported: limitedChangesAreSupported)
        return try db.checkOut(context)
    }

    /// A statement that updates the rows of the query, with its arguments; nil if nothing is assigned.
    func makeUpdateStatement(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution?, _ assignments: [ColumnAssignment],
        returning selection: [SQLSelection] = []
    ) throws -> Statement? {
        let assignments = assignments.filter { $0.value != nil }
        guard !assignments.isEmpty else { return nil }
        var context = SQLWriter(db)
        try writeUpdate(
            to: &context, onConflict: conflictResolution, assignments, returning: selection,
            limitIsSupported: limitedChangesAreSupported)
        return try db.checkOut(context)
    }

    func writeDelete(to context: inout SQLWriter, returning selection: [SQLSelection], limitIsSupported: Bool) throws {
        let target = try target(context.db)
        try context.inScope({ try $0.enter(target.source) }) { context in
            try target.writeCommonTables(to: &context)
            context.append("DELETE FROM ")
            try target.source.write(to: &context, aliasKeyword: " AS ")
            try writeChangedRows(to: &context, returning: selection, limitIsSupported: limitIsSupported)
        }
    }

    func writeUpdate(
        to context: inout SQLWriter, onConflict conflictResolution: Database.ConflictResolution?,
        _ assignments: [ColumnAssignment], returning selection: [SQLSelection], limitIsSupported: Bool
    ) throws {
        let target = try target(context.db)
        try context.inScope({ try $0.enter(target.source) }) { context in
            try target.writeCommonTables(to: &context)
            context.append("UPDATE ")
            // ABORT is what SQLite does by itself.
            if let conflictResolution, conflictResolution != .abort { context.append("OR \(conflictResolution.rawValue) ") }
            try target.source.write(to: &context, aliasKeyword: " AS ")
            context.append(" SET ")
            try context.append(assignments, separator: ", ") { try $0.write(to: &$1) }
            try writeChangedRows(to: &context, returning: selection, limitIsSupported: limitIsSupported)
        }
    }

    /// What the statement itself has to name: the table, its aliases, and the common table expressions. With joins, the query that tells the
    /// keys of the rows has them.
    ///
    /// - Throws: a ``DatabaseError`` of code `SQLITE_MISUSE` if rows are grouped by what does not tell them apart: which one of a group would it be?
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
        to context: inout SQLWriter, returning selection: [SQLSelection], limitIsSupported: Bool
    ) throws {
        // Groups, and limits where SQLite was compiled without them, need a query of their own, which tells the keys of the rows.
        let isJoined = hasJoins
        let needsQuery = isJoined || hasGroups || (limit != nil && !limitIsSupported)
        if needsQuery {
            try writeKeyCondition(to: &context, isJoined: isJoined)
        } else {
            try context.append(conditions: filters.resolve(context.db), after: " WHERE ")
        }
        if !selection.isEmpty {
            context.append(" RETURNING ")
            try context.inScope({ $0.columnQualifier = nil }) { context in
                try context.append(selection, separator: ", ") { try $0.write(to: &$1) }
            }
        }
        if !needsQuery, limit != nil {
            try writeOrderAndLimit(to: &context)
        }
    }

    private func writeKeyCondition(to context: inout SQLWriter, isJoined: Bool) throws {
        let keyColumns = try context.db.columnsOfRowKey(of: source.tableName)
        var query = self
        if isJoined { query.removeResultsOfChildren() } else { query.commonTables = [] }
        query.isDistinct = false
        query.selection = .values(keyColumns.map { Column($0).sqlSelection })
        context.append(keyColumns.count > 1 ? " WHERE (" : " WHERE ")
        context.append(keyColumns, separator: ", ") { $1.append(column: $0) }
        context.append(keyColumns.count > 1 ? ") IN (" : " IN (")
        try query.write(to: &context)
        context.append(")")
    }
}

/// Whether `UPDATE` and `DELETE` may have a `LIMIT`, which SQLite has to be compiled for.
private let limitedChangesAreSupported = Engine.hasCompileOption("ENABLE_UPDATE_DELETE_LIMIT")
