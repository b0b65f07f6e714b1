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
/// What the connections do not know of the schema's collations and functions, stand-ins take the places of
/// (``StandIns``). Tables whose keys, indexes or generated columns need them are copied as records, with the
/// entries of their indexes. Where that cannot be, the copy ends with the name of what is missing.
struct ContentCopy {
    let source: ConnectionHandle

    /// A connection to a database without content, which has its key and its page size, and on which nothing
    /// was executed yet but that.
    let destination: ConnectionHandle

    /// True if the source has no other user, so that its unknown collations can be replaced.
    var ownsSource = false

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
            let standIns = StandIns(on: destination)
            defer { standIns.remove() }
            guard let pages else {
                let origin = Origin(connection: source, schema: "main")
                let sourceStandIns = StandIns(on: source)
                defer { sourceStandIns.remove() }
                digest.tables = try destination.watched(by: watch) {
                    try copyEverything(from: origin, digest, standIns) { name, _ in
                        let table = try StoredTable(name: name, in: source)
                        if ownsSource {
                            try sourceStandIns.add(collations: table.keyCollations)
                        } else {
                            try sourceStandIns.checkKnows(table.keyCollations)
                        }
                        return try copyRows(of: table, from: origin, digest.encoding, standIns)
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
                        _ = try copyEverything(from: origin, digest, standIns) { name, needsStandIns in
                            try copyRecords(of: name, from: origin, digest.encoding, standIns, needsStandIns)
                        }
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

    /// - Parameter copyRows: copies the rows of a table of this name; is told whether the table needs
    ///   stand-ins, and returns what is known of the rows.
    /// - Returns: what that has returned, by the names of the tables.
    private func copyEverything<Rows>(
        from origin: Origin, _ digest: ContentFingerprint, _ standIns: StandIns,
        _ copyRows: (_ table: String, _ needsStandIns: Bool) throws -> Rows
    ) throws -> [String: Rows] {
        var rows: [String: Rows] = [:]
        try destination.execute("BEGIN IMMEDIATE")
        let schema = try createTables(of: origin, standIns)
        for name in schema.tables where name != "sqlite_sequence" {
            try checkpoint()
            rows[name] = try copying(name, standIns) {
                try copyRows(name, schema.needingStandIns.contains(CaseInsensitiveName(name)))
            }
        }
        try createIndexes(of: origin, except: schema.indexes, standIns)
        if schema.tables.contains("sqlite_sequence") {
            // The rows that were copied have left their highest row IDs there.
            try destination.execute("DELETE FROM main.sqlite_sequence")
            rows["sqlite_sequence"] = try copying("sqlite_sequence", standIns) {
                try copyRows("sqlite_sequence", false)
            }
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
    /// The tables that were created, and the indexes that had to be created with them.
    private struct CreatedTables {
        var tables: [String]
        /// Those with a definition, or an index, that names what the connection does not know.
        var needingStandIns: Set<CaseInsensitiveName> = []
        var indexes: Set<String> = []
    }

    /// Creates the tables that have a b-tree, and those indexes that only stand-ins let be created: before
    /// there are rows, of which they would have to compute or compare something.
    private func createTables(of origin: Origin, _ standIns: StandIns) throws -> CreatedTables {
        let tables = try entries(of: origin, "type = 'table' AND coalesce(rootpage, 1) > 0")
        var result = CreatedTables(tables: tables.map(\.name))
        // SQLite makes that one with the first table that needs it, and keeps it when that one is dropped.
        for table in tables where table.name != "sqlite_sequence" {
            try create(table, standIns)
            if standIns.mayBeNamed(in: table.sql) {
                result.needingStandIns.insert(CaseInsensitiveName(table.name))
            }
        }
        if result.tables.contains("sqlite_sequence"),
            try destination.firstText(trusted: ContentCopy.hasSequences) == nil
        {
            let name = freeName(besides: result.tables).quotedDatabaseIdentifier
            try destination.execute(
                trusted: "CREATE TABLE \(name) (id INTEGER PRIMARY KEY AUTOINCREMENT); DROP TABLE \(name)")
        }
        for index in try entries(of: origin, ContentCopy.isIndex) {
            let table = CaseInsensitiveName(index.table)
            guard try result.needingStandIns.contains(table) || needsStandIns(index, standIns) else {
                continue
            }
            try create(index, standIns)
            result.indexes.insert(index.name)
            result.needingStandIns.insert(table)
        }
        return result
    }

    private func needsStandIns(_ index: Entry, _ standIns: StandIns) throws -> Bool {
        if standIns.mayBeNamed(in: index.sql) { return true }
        do {
            _ = try destination.prepare(trusted: index.sql)
            return false
        } catch {
            return error.missingDefinition != nil
        }
    }

    /// A name that no table has.
    private func freeName(besides names: [String]) -> String {
        let taken = Set(names.map(CaseInsensitiveName.init))
        var name = "coffer sequence"
        while taken.contains(CaseInsensitiveName(name)) { name += "_" }
        return name
    }

    private static let hasSequences = "SELECT 1 FROM main.sqlite_master WHERE name = 'sqlite_sequence'"

    /// Those without SQL belong to constraints, and were made with their tables.
    private static let isIndex = "type = 'index' AND sql IS NOT NULL"

    private func createIndexes(of origin: Origin, except made: Set<String>, _ standIns: StandIns) throws {
        for index in try entries(of: origin, ContentCopy.isIndex) where !made.contains(index.name) {
            try checkpoint()
            try create(index, standIns)
        }
    }

    /// What the schema says of a table or an index.
    private typealias Entry = (name: String, table: String, sql: String)

    /// Those entries of the schema that meet a condition, in its order.
    private func entries(of origin: Origin, _ condition: String) throws -> [Entry] {
        var entries: [Entry] = []
        let sql =
            "SELECT name, tbl_name, sql FROM \(origin.schema).sqlite_master WHERE \(condition) ORDER BY rowid"
        try origin.connection.forEachRow(trusted: sql) { row in
            entries.append((row.string(at: 0), row.string(at: 1), row.string(at: 2)))
        }
        return entries
    }

    /// Executes one statement of the schema. Text that is something else was put there by hand: it is not
    /// executed.
    private func create(_ entry: Entry, _ standIns: StandIns) throws {
        guard entry.sql.uppercased().hasPrefix("CREATE ") else {
            throw EngineError(code: EngineCode.corrupt, message: "malformed database schema (\(entry.name))")
        }
        try copying(entry.name, standIns) {
            try standIns.adding(whileMissing: { try destination.forEachRow(trusted: entry.sql) { _ in } })
        }
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
    private func copyRecords(
        of name: String, from origin: Origin, _ encoding: TextEncoding, _ standIns: StandIns,
        _ needsStandIns: Bool
    ) throws {
        let table = try StoredTable(name: name, in: destination)
        let records = table.copyOfRecords(from: origin.schema)
        if needsStandIns, copiesRecords(records) {
            // Entries of indexes come as they are stored, too: nothing is computed or sorted anew.
            try standIns.inOrder(of: name) { try destination.execute(trusted: records) }
        } else if keepsRecords(of: table, records) {
            try destination.execute(trusted: records)
        } else if table.readsRowIDApart {
            _ = try copyRows(of: table, from: origin, encoding, standIns)
        } else {
            try inserting(into: table, standIns) {
                try destination.execute(trusted: table.copy(from: origin.schema))
            }
        }
    }

    /// Runs `body`, which inserts the values of all rows in the order of the table.
    private func inserting(into table: StoredTable, _ standIns: StandIns, _ body: () throws -> Void) throws {
        if table.hasIndexes || table.storesGeneratedColumns { return try body() }
        // Generated columns are computed, and not stored.
        try standIns.withIdleFunctions {
            if case .primaryKey = table.identity {
                try standIns.inOrder(of: table.name, body)
            } else {
                try body()
            }
        }
    }

    /// Whether the engine copies records as they are, and the row IDs with them, as it does between tables
    /// with the same definition: not where it would number the rows of a table anew that has neither a
    /// primary key nor an index (<https://www.sqlite.org/lang_vacuum.html>).
    ///
    /// Not where it would copy what nobody compares with the rows, and what is made of the rows instead: the
    /// content of indexes, which are those of constraints at this moment, generated columns, and the
    /// order of a primary key that is the tree.
    private func keepsRecords(of table: StoredTable, _ records: String) -> Bool {
        if table.hasIndexes || table.storesGeneratedColumns { return false }
        if case .primaryKey = table.identity { return false }
        return copiesRecords(records)
    }

    /// Whether the engine copies records as they are, with their row IDs: the first way that the program of
    /// the statement has is the one for an empty table.
    private func copiesRecords(_ statement: String) -> Bool {
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

    private func copyRows(
        of table: StoredTable, from origin: Origin, _ encoding: TextEncoding, _ standIns: StandIns
    ) throws -> ContentFingerprint.Table {
        var digest = ContentFingerprint.Table()
        let hash = try ContentHash()
        guard let insert = try destination.prepare(trusted: table.insertion) else { return digest }
        try inserting(into: table, standIns) {
            try table.forEachRow(in: origin.connection, schema: origin.schema) { row in
                try hash.add(row, of: table, encoding: encoding)
                for index in table.fields.indices {
                    let (statement, column) = row.field(index)
                    try destination.check(
                        insert.handle.bind(
                            column: column, of: statement, encoding: encoding, at: CInt(index + 1)))
                }
                try execute(insert.handle)
                digest.rowCount += 1
                if digest.rowCount.isMultiple(of: 256) { try checkpoint() }
            }
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
    private func copying<Result>(
        _ name: String, _ standIns: StandIns, _ body: () throws -> Result
    ) throws -> Result {
        do {
            do {
                let result = try body()
                try standIns.check()
                return result
            } catch let error as EngineError {
                // What was missing is the cause of all that follows.
                try standIns.check()
                throw error
            }
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
