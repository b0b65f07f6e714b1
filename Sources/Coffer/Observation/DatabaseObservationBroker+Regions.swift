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

extension Database {
    /// Whether SQLite tells of each row that changes in a table.
    fileprivate func hasEvents(forChangesOf table: String) -> Bool {
        var result: Bool?
        do {
            try forEachSchemaRow("PRAGMA table_list(\(table.quotedDatabaseIdentifier))") { row in
                let isOrdinary = row.string(at: 2) == "table" && row.int64(at: 4) == 0
                result = (result ?? true) && isOrdinary
            }
        } catch {
            return false
        }
        return result ?? false
    }
}
