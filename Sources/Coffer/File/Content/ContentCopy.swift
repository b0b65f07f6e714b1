internal import SQLCipherBridge

/// Copies a database into an empty one that is laid out or encrypted in another way, by its content: what
/// SQLite's VACUUM does between two files, between two connections.
///
/// It copies what `VACUUM` copies (<https://www.sqlite.org/lang_vacuum.html>) and as it does: tables first,
/// then their rows, then indexes, and at last, as rows of the schema, what has no b-tree: views, triggers and
/// virtual tables. So no trigger fires, no module is asked, and views may name tables that do not exist. In
/// addition all row IDs stay, and the values that were read are hashed.
///
/// Where the destination can read the pages of the source itself, the engine copies records as they are, and
/// another thread hashes what the source reads meanwhile. Otherwise values pass from one connection to the
/// other, and are hashed on the way.
///
/// The connections have to know the collations that tables and indexes name, and the functions that indexes,
/// checks and generated columns call.
struct ContentCopy {
    let source: ConnectionHandle

    /// A connection to a database without content, which has its key and its page size, and on which nothing
    /// was executed yet but that.
    let destination: ConnectionHandle

    /// The content that the source reads, for a destination that ``FileView`` has opened; nil where only the
    /// source can read it.
    var pages: (any StoredBytes)?

    /// Called between rows, now and then, and while indexes are made; throws to end the copy.
    let checkpoint: () throws -> Void

    /// Copies everything in one transaction of each side.
    ///
    /// - Parameter watch: called in the middle of long statements, when the connections must not be used;
    ///   throws to end the copy.
    /// - Returns: the fingerprint of the source, to compare with that of the copy.
    func run(watch: () throws -> Void) throws -> ContentFingerprint {
        try source.withReadTransaction {
            var digest = try ContentFingerprint(ofSchemaIn: source)
            try prepareDestination(digest)
            guard let pages else {
                let origin = Origin(connection: source, schema: "main")
                digest.tables = try destination.watched(by: watch) {
                    try copyEverything(from: origin, digest) {
                        try copyRows(of: $0, encoding: digest.encoding)
                    }
                }
                return digest
            }
            try FileView.attach(pages, as: Origin.attached, to: destination)
            let reader = SideReader(connection: source)
            let origin = Origin(connection: destination, schema: Origin.attached)
            return try SideWork<ContentFingerprint>.run(
                side: { signal in
                    try ContentFingerprint(of: reader.connection) { try signal.check() }
                },
                main: { side in
                    try destination.watched(by: watch) {
                        _ = try copyEverything(from: origin, digest, copyRecords)
                    }
                    _ = try side.value(watch)
                }
            ).side
        }
    }

    /// Where a statement finds the content of the source.
    private struct Origin {
        let connection: ConnectionHandle
        let schema: String

        /// The name of the source in statements of the destination.
        static let attached = "coffer_source"
    }

    /// The source, while another thread reads it.
    // @unchecked: the thread that has begun it copies from other pages, and waits before it touches it again.
    private struct SideReader: @unchecked Sendable {
        let connection: ConnectionHandle
    }

    /// - Parameter copyRows: copies the rows of a table of this name; returns what is known of them.
    /// - Returns: what that has returned, by the names of the tables.
    private func copyEverything<Rows>(
        from origin: Origin, _ digest: ContentFingerprint, _ copyRows: (String) throws -> Rows
    ) throws -> [String: Rows] {
        var rows: [String: Rows] = [:]
        try destination.execute("BEGIN IMMEDIATE")
        let tables = try createTables(of: origin)
        for name in tables where name != "sqlite_sequence" {
            try checkpoint()
            rows[name] = try copying(name) { try copyRows(name) }
        }
        try createIndexes(of: origin)
        if tables.contains("sqlite_sequence") {
            // The rows that were copied have left their highest row IDs there.
            try destination.execute("DELETE FROM main.sqlite_sequence")
            rows["sqlite_sequence"] = try copying("sqlite_sequence") { try copyRows("sqlite_sequence") }
        }
        try copyEntriesWithoutStorage(of: origin, encoding: digest.encoding)
        try destination.execute(trusted: "PRAGMA user_version = \(digest.userVersion)")
        try destination.execute(trusted: "PRAGMA application_id = \(digest.applicationID)")
        try checkpoint()
        try destination.execute("COMMIT")
        return rows
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
    private func createTables(of origin: Origin) throws -> [String] {
        let tables = try entries(of: origin, "type = 'table' AND coalesce(rootpage, 1) > 0")
        // SQLite makes that one with the first table that needs it, and keeps it when that one is dropped.
        for table in tables where table.name != "sqlite_sequence" { try create(table) }
        let names = tables.map(\.name)
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

    private func createIndexes(of origin: Origin) throws {
        // Those without SQL belong to constraints, and were made with their tables.
        for index in try entries(of: origin, "type = 'index' AND sql IS NOT NULL") {
            try checkpoint()
            try create(index)
        }
    }

    /// Those entries of the schema that meet a condition, in its order.
    private func entries(of origin: Origin, _ condition: String) throws -> [(name: String, sql: String)] {
        var entries: [(name: String, sql: String)] = []
        let sql =
            "SELECT name, sql FROM \(origin.schema).sqlite_master WHERE \(condition) ORDER BY rowid"
        try origin.connection.forEachRow(trusted: sql) { row in
            entries.append((row.string(at: 0), row.string(at: 1)))
        }
        return entries
    }

    /// Executes one statement of the schema. Text that is something else was put there by hand: it is not
    /// executed.
    private func create(_ entry: (name: String, sql: String)) throws {
        guard entry.sql.uppercased().hasPrefix("CREATE ") else {
            throw EngineError(code: EngineCode.corrupt, message: "malformed database schema (\(entry.name))")
        }
        try copying(entry.name) { try destination.forEachRow(trusted: entry.sql) { _ in } }
    }

    /// Views, triggers and virtual tables are rows of the schema, and nothing else.
    private func copyEntriesWithoutStorage(of origin: Origin, encoding: TextEncoding) throws {
        let selection = """
            SELECT type, name, tbl_name, sql FROM \(origin.schema).sqlite_master \
            WHERE type IN ('view', 'trigger') OR type = 'table' AND coalesce(rootpage, 1) = 0 ORDER BY rowid
            """
        let insertion =
            "INSERT INTO main.sqlite_master (type, name, tbl_name, sql, rootpage) VALUES (?1, ?2, ?3, ?4, 0)"
        guard let insert = try destination.prepare(trusted: insertion) else { return }
        try origin.connection.forEachRow(trusted: selection) { row in
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
    /// Has the engine copy all rows of a table: the records as they are where it can, and their values
    /// otherwise.
    private func copyRecords(of name: String) throws {
        let table = try StoredTable(name: name, in: destination)
        let records = table.copyOfRecords(from: Origin.attached)
        try destination.execute(
            trusted: keepsRecords(of: table, records) ? records : table.copy(from: Origin.attached))
    }

    /// Whether the engine copies records as they are, and the row IDs with them, as it does between tables
    /// with the same definition: not where it would number the rows of a table anew that has neither a
    /// primary key nor an index (<https://www.sqlite.org/lang_vacuum.html>).
    ///
    /// Not where it would copy what nobody compares with the rows, and what is made of the rows instead: the
    /// content of indexes, which are those of constraints at this moment, generated columns, and the
    /// order of a primary key that is the tree.
    private func keepsRecords(of table: StoredTable, _ statement: String) -> Bool {
        if table.hasIndexes || table.storesGeneratedColumns { return false }
        if case .primaryKey = table.identity { return false }
        var answer: Bool?
        // It throws where there are generated columns, and the records cannot be kept.
        try? destination.forEachRow(trusted: "EXPLAIN \(statement)") { row in
            switch row.string(at: 1) {
            case "RowCell", "RowData": answer = answer ?? true
            case "NewRowid", "MakeRecord", "Column": answer = answer ?? false
            default: break
            }
        }
        return answer ?? false
    }

    private func copyRows(of name: String, encoding: TextEncoding) throws -> ContentFingerprint.Table {
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
