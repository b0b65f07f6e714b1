internal import SQLCipherBridge

/// Copies a database into an empty one that is laid out or encrypted in another way, by its content: what
/// SQLite's VACUUM does between two files, between two connections.
///
/// It copies what `VACUUM` copies (<https://www.sqlite.org/lang_vacuum.html>) and as it does: tables first,
/// then their rows, then indexes, and at last, as rows of the schema, what has no b-tree: views, triggers and
/// virtual tables. So no trigger fires, no module is asked, and views may name tables that do not exist. In
/// addition all row IDs stay, and the values that were read are hashed.
///
/// The connections have to know the collations that tables and indexes name, and the functions that indexes,
/// checks and generated columns call.
struct ContentCopy {
    let source: ConnectionHandle

    /// A connection to a database without content, which has its key and its page size, and on which nothing
    /// was executed yet but that.
    let destination: ConnectionHandle

    /// Called between rows, now and then, and while indexes are made; throws to end the copy.
    let checkpoint: () throws -> Void

    /// Copies everything in one transaction of each side.
    ///
    /// - Parameter watch: called in the middle of long statements, when the connections must not be used;
    ///   throws to end the copy.
    /// - Returns: the fingerprint of the source, to compare with that of the copy.
    func run(watch: () throws -> Void) throws -> ContentFingerprint {
        try destination.watched(by: watch, copyEverything)
    }

    private func copyEverything() throws -> ContentFingerprint {
        try source.withReadTransaction {
            var digest = try ContentFingerprint(ofSchemaIn: source)
            try prepareDestination(digest)
            try destination.execute("BEGIN IMMEDIATE")
            let tables = try createTables()
            for name in tables where name != "sqlite_sequence" {
                digest.tables[name] = try copyRows(of: name, encoding: digest.encoding)
            }
            try createIndexes()
            if tables.contains("sqlite_sequence") {
                digest.tables["sqlite_sequence"] = try copySequences(encoding: digest.encoding)
            }
            try copyEntriesWithoutStorage(encoding: digest.encoding)
            try destination.execute(trusted: "PRAGMA user_version = \(digest.userVersion)")
            try destination.execute(trusted: "PRAGMA application_id = \(digest.applicationID)")
            try checkpoint()
            try destination.execute("COMMIT")
            return digest
        }
    }

    private func prepareDestination(_ digest: ContentFingerprint) throws {
        try destination.acceptContentOfAnotherDatabase()
        try destination.execute(trusted: "PRAGMA encoding = '\(digest.encoding.rawValue)'")
        let autoVacuum = try source.integer(pragma: "auto_vacuum")
        try destination.execute(trusted: "PRAGMA auto_vacuum = \(autoVacuum)")
    }
}

// MARK: - Schema

extension ContentCopy {
    /// Creates the tables that have a b-tree, and returns their names.
    private func createTables() throws -> [String] {
        var names: [String] = []
        let sql =
            "SELECT name, sql FROM main.sqlite_master WHERE type = 'table' AND coalesce(rootpage, 1) > 0 "
            + "ORDER BY rowid"
        try source.forEachRow(trusted: sql) { row in
            let name = row.string(at: 0)
            names.append(name)
            // SQLite makes it with the first table that needs it, and keeps it when that one is dropped.
            guard name != "sqlite_sequence" else { return }
            try create(row.string(at: 1), named: name)
        }
        if names.contains("sqlite_sequence"),
            try destination.firstText(trusted: ContentCopy.hasSequences) == nil
        {
            let name = freeName(besides: names).quotedDatabaseIdentifier
            try destination.execute(
                trusted: "CREATE TABLE \(name) (id INTEGER PRIMARY KEY AUTOINCREMENT); DROP TABLE \(name)")
        }
        return names
    }

    /// A name that no table has.
    private func freeName(besides names: [String]) -> String {
        let taken = Set(names.map(CaseInsensitiveName.init))
        var name = "coffer sequence"
        while taken.contains(CaseInsensitiveName(name)) { name += "_" }
        return name
    }

    private static let hasSequences = "SELECT 1 FROM main.sqlite_master WHERE name = 'sqlite_sequence'"

    private func createIndexes() throws {
        // Those without SQL belong to constraints, and were made with their tables.
        let sql =
            "SELECT name, sql FROM main.sqlite_master WHERE type = 'index' AND sql IS NOT NULL ORDER BY rowid"
        try source.forEachRow(trusted: sql) { row in
            try checkpoint()
            try create(row.string(at: 1), named: row.string(at: 0))
        }
    }

    /// Executes one statement of the schema. Text that is something else was put there by hand: it is not
    /// executed.
    private func create(_ sql: String, named name: String) throws {
        guard sql.uppercased().hasPrefix("CREATE ") else {
            throw EngineError(code: EngineCode.corrupt, message: "malformed database schema (\(name))")
        }
        try copying(name) { try destination.forEachRow(trusted: sql) { _ in } }
    }

    /// Views, triggers and virtual tables are rows of the schema, and nothing else.
    private func copyEntriesWithoutStorage(encoding: TextEncoding) throws {
        let selection = """
            SELECT type, name, tbl_name, sql FROM main.sqlite_master \
            WHERE type IN ('view', 'trigger') OR type = 'table' AND coalesce(rootpage, 1) = 0 ORDER BY rowid
            """
        let insertion =
            "INSERT INTO main.sqlite_master (type, name, tbl_name, sql, rootpage) VALUES (?1, ?2, ?3, ?4, 0)"
        guard let insert = try destination.prepare(trusted: insertion) else { return }
        try source.forEachRow(trusted: selection) { row in
            for column in 0..<CInt(4) {
                try destination.check(
                    insert.handle.bind(column: column, of: row, encoding: encoding, at: column + 1))
            }
            try execute(insert.handle)
        }
    }
}

// MARK: - Rows

extension ContentCopy {
    private func copySequences(encoding: TextEncoding) throws -> ContentFingerprint.Table {
        // The rows that were copied have left their highest row IDs there.
        try destination.execute("DELETE FROM main.sqlite_sequence")
        return try copyRows(of: "sqlite_sequence", encoding: encoding)
    }

    private func copyRows(of name: String, encoding: TextEncoding) throws -> ContentFingerprint.Table {
        try checkpoint()
        return try copying(name) {
            let table = try StoredTable(name: name, in: source)
            var digest = ContentFingerprint.Table()
            let hash = try ContentHash()
            guard let insert = try destination.prepare(trusted: table.insertion) else { return digest }
            try source.forEachRow(trusted: table.selection) { row in
                for column in table.fields.indices {
                    try hash.add(column: CInt(column), of: row, encoding: encoding)
                    try destination.check(
                        insert.handle.bind(
                            column: CInt(column), of: row, encoding: encoding, at: CInt(column + 1)))
                }
                try execute(insert.handle)
                digest.rowCount += 1
                if digest.rowCount.isMultiple(of: 256) { try checkpoint() }
            }
            digest.hash = try hash.finish()
            return digest
        }
    }

    private func execute(_ insert: StatementHandle) throws {
        let code = insert.step()
        guard code == EngineCode.done else {
            throw EngineError(code: code, message: destination.lastErrorMessage)
        }
        insert.reset()
    }

    /// Adds to an error what was being copied.
    private func copying<Result>(_ name: String, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as EngineError {
            let message = error.message ?? ConnectionHandle.describe(error.code)
            throw EngineError(code: error.code, message: "\(message) - while copying \(name)")
        }
    }
}

extension ConnectionHandle {
    /// Runs `body` with one state of the database, in the transaction that there is, or in one of its own.
    func withReadTransaction<Result>(_ body: () throws -> Result) throws -> Result {
        let isOwner = isAutocommit
        if isOwner { try execute("BEGIN") }
        defer { if isOwner, !isAutocommit { _ = try? execute("COMMIT") } }
        try verifyKey()
        return try body()
    }
}
