internal import SQLCipherBridge

// The observations of regions and values: what they hear beyond what every observer hears, and when they are told.

extension DatabaseObservationBroker {
    /// Tells those whose regions the transaction has changed that it has ended.
    func tellWatchers(rolledBack: Bool = false, in database: Database) {
        guard !watch.isEmpty else { return }
        for listener in watch.transactionDidEnd(rolledBack: rolledBack) {
            listener.regionDidChange(database)
        }
    }

    /// Finds the changes of the statement that has ended for which there was no event: those of tables without row IDs, and of virtual tables.
    ///
    /// SQLite counts them all the same.
    func noteUntoldChanges(in database: Database) {
        guard audiences.contains(where: { !$0.watchers.isEmpty }), !database.isClosed,
            connection.totalChangesCount - changesCountBefore > eventCount
        else { return }
        for audience in audiences where !audience.watchers.isEmpty && !database.hasEvents(forChangesOf: audience.kind.tableName) {
            tableDidChange(audience)
        }
    }
}

extension Statement {
    /// Whether an event tells of each row that the statement changes in such a way.
    ///
    /// There is none for the rows that `REPLACE` deletes, and an update of the row ID itself tells the new one only.
    func tellsAllRows(ofChanges kind: DatabaseEventKind) -> Bool {
        do {
            switch kind {
            case .delete: return true
            case .insert: return try !mayReplaceRows()
            case .update(let table, let columns): return try !mayReplaceRows() && !database.haveRowID(columns, of: table)
            }
        } catch {
            return false
        }
    }

    private func mayReplaceRows() throws -> Bool {
        try mentionsReplace || database.schemaMentionsReplace()
    }
}
