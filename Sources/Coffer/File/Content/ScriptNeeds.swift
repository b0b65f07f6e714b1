internal import SQLCipherBridge

/// Finds the definitions of a script that only a connection with the application's collations and functions
/// can create.
struct ScriptNeeds {
    /// The database that the script was made from.
    let source: ConnectionHandle
    /// The tables that were written, or nil for the whole database.
    var tables: ScriptedTables?

    /// - Returns: the missing collations and functions, each with the first table or index that names it.
    func find() throws -> [String] {
        let connection = try EngineConnection(path: ":memory:", flags: [.readWrite, .create])
        let handle = connection.handle
        try handle.install([], [])
        try handle.acceptDefinitionsOfAnotherDatabase()
        let standIns = StandIns(on: handle)
        defer { standIns.remove() }
        var needs: [String] = []
        // Tables before their indexes.
        let sql = """
            SELECT sql, type || ' ' || name FROM main.sqlite_master \
            WHERE type IN ('table', 'index') AND sql IS NOT NULL AND coalesce(rootpage, 1) > 0 \
            AND substr(name, 1, 7) <> 'sqlite_' AND (\(tables?.condition ?? "1")) ORDER BY type DESC, rowid
            """
        try source.forEachRow(trusted: sql) { row in
            let (definition, name) = (row.string(at: 0), row.string(at: 1))
            // Text that was put into the schema by hand is not executed.
            guard ScriptedDefinition(Array(definition.utf8)).creation != nil else { return }
            try? standIns.adding {
                needs.append("\($0) (\(name))")
            } whileMissing: {
                try handle.forEachRow(trusted: definition) { _ in }
            }
        }
        return needs
    }
}
