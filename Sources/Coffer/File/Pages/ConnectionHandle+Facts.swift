internal import SQLCipherBridge

// Facts that a database states about itself.
extension ConnectionHandle {
    /// Returns the integer result of a pragma.
    func integer(pragma: String) throws -> Int64 {
        try firstText(trusted: "PRAGMA main.\(pragma)").flatMap(Int64.init) ?? 0
    }

    func textEncoding() throws -> TextEncoding {
        guard
            let encoding = try firstText(trusted: "PRAGMA main.encoding").flatMap(
                TextEncoding.init(rawValue:))
        else {
            throw EngineError(code: EngineCode.error, message: "The encoding of the database is unknown")
        }
        return encoding
    }

    /// Returns the tables that have a b-tree, including SQLite's own (`sqlite_sequence`, `sqlite_stat1`) and
    /// the shadow tables of virtual tables.
    func storedTableNames() throws(EngineError) -> [String] {
        try identifiers(
            trusted:
                "SELECT name FROM main.sqlite_master WHERE type = 'table' AND coalesce(rootpage, 1) > 0 "
                + "ORDER BY rowid"
        )
    }
}
