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

extension Database {
    /// Whether any constraint or trigger, or whatever else, has the word in its definition.
    fileprivate func schemaMentionsReplace() throws -> Bool {
        try readSchema {
            if let mentionsReplace = schemaCache.mentionsReplace { return mentionsReplace }
            var schemas: [String] = []
            try forEachSchemaRow("PRAGMA database_list") { schemas.append($0.string(at: 1)) }
            var result = false
            for schema in schemas {
                let table = schema.quotedDatabaseIdentifier + ".sqlite_master"
                try forEachSchemaRow("SELECT 1 FROM \(table) WHERE sql LIKE '%REPLACE%' LIMIT 1") { _ in result = true }
            }
            schemaCache.mentionsReplace = result
            return result
        }
    }

    /// Whether the row ID of a table is among these columns.
    fileprivate func haveRowID(_ columns: Set<String>, of table: String) throws -> Bool {
        let names = Set(columns.map(CaseInsensitiveName.init))
        if names.contains(CaseInsensitiveName("rowid")) { return true }
        guard let alias = try primaryKey(table).rowIDColumn else { return false }
        return names.contains(CaseInsensitiveName(alias))
    }
}
