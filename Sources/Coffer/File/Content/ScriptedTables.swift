internal import SQLCipherBridge

/// The error for a table to be written that the database does not have.
package struct NoSuchTable: Error {
    package let name: String
}

/// Some tables of a database, together with everything that belongs to them: their indexes and triggers, and
/// the shadow tables of virtual ones.
struct ScriptedTables {
    /// The names of the tables, as the schema spells them.
    let names: Set<CaseInsensitiveName>

    /// - Parameter given: names of tables. Like SQLite, this ignores their case.
    /// - Throws: ``NoSuchTable``.
    init(_ given: [String], in source: ConnectionHandle) throws {
        let all = try source.identifiers(
            trusted: """
                SELECT name FROM main.sqlite_master WHERE type = 'table' AND substr(name, 1, 7) <> 'sqlite_'
                """)
        let known = Set(all.map(CaseInsensitiveName.init))
        var names: Set<CaseInsensitiveName> = []
        for name in given {
            guard let index = known.firstIndex(of: CaseInsensitiveName(String(identifier: name.utf8))) else {
                throw NoSuchTable(name: name)
            }
            names.insert(known[index])
        }
        func tables(_ type: String) throws -> [String] {
            try source.identifiers(
                trusted: "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = '\(type)'")
        }
        let virtual = try tables("virtual")
        for shadow in try tables("shadow") {
            let owners = virtual.filter {
                shadow.foldingASCIICase().utf8.starts(with: ($0.foldingASCIICase() + "_").utf8)
            }
            // The names of two virtual tables may begin alike.
            if let owner = owners.max(by: { $0.utf8.count < $1.utf8.count }),
                names.contains(CaseInsensitiveName(owner))
            {
                names.insert(CaseInsensitiveName(shadow))
            }
        }
        self.names = names
    }

    /// The names as SQL literals, separated by commas.
    var list: String { names.map(\.spelling.sqlLiteral).sorted().joined(separator: ", ") }

    /// The condition for rows of `sqlite_master` that belong to the tables. The table name of a trigger is
    /// spelled as in its statement.
    var condition: String { "tbl_name COLLATE NOCASE IN (\(list))" }
}
