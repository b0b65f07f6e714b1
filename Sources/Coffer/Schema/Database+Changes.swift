internal import SQLCipherBridge

// Properties of the schema that decide which changes SQLite reports to the update hook.

extension Database {
    /// Returns true if SQLite reports each changed row of a table: it is an ordinary table with row IDs.
    func hasEvents(forChangesOf table: String) -> Bool {
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

    /// Returns true if the keyword `REPLACE` occurs in the definition of any constraint or trigger.
    func schemaMentionsReplace() throws -> Bool {
        try readSchema {
            if let mentionsReplace = knownSchema.mentionsReplace { return mentionsReplace }
            var schemas: [String] = []
            try forEachSchemaRow("PRAGMA database_list") { schemas.append($0.string(at: 1)) }
            var result = false
            for schema in schemas {
                let table = schema.quotedDatabaseIdentifier + ".sqlite_master"
                // With PRAGMA case_sensitive_like, LIKE would miss words in lower case.
                try forEachSchemaRow(
                    "SELECT sql FROM \(table) WHERE instr(upper(sql), 'REPLACE')"
                ) { row in
                    if !result { result = SQLScanner.mentionsReplace(row.string(at: 0)) }
                }
            }
            knownSchema.insert(mentionsReplace: result)
            return result
        }
    }

    /// Returns true if the row ID of a table is among these columns.
    func haveRowID(_ columns: Set<String>, of table: String) throws -> Bool {
        let names = Set(columns.map(CaseInsensitiveName.init))
        if names.contains(CaseInsensitiveName("rowid")) { return true }
        guard let alias = try primaryKey(table).rowIDColumn else { return false }
        return names.contains(CaseInsensitiveName(alias))
    }
}
