internal import SQLCipherBridge

/// Copies a database by its content into an empty one with another layout or encryption. This is SQLite's
/// `VACUUM` between two connections, instead of between two files.
///
/// It copies the same content as `VACUUM` (<https://www.sqlite.org/lang_vacuum.html>), in the same order:
/// tables first, then their rows, then indexes, and finally the objects without a b-tree, as rows of the
/// schema: views, triggers and virtual tables. So no trigger fires, no module is called, and views may name
/// tables that do not exist. In addition, all row IDs are kept, and the values that were read are hashed.
///
/// If the destination can read the source's pages itself, the engine copies records unchanged, while another
/// thread hashes the rows that the source reads. Otherwise values are passed from one connection to the
/// other, and hashed on the way.
///
/// Stand-ins (``StandIns``) replace collations and functions of the schema that the connections do not know.
/// Tables whose keys, indexes or generated columns need them are copied as records, together with their index
/// entries. If this is not possible, the copy fails with the name of the missing definition.
struct ContentCopy {
    let source: ConnectionHandle

    /// A connection to a database without content. It has its key and its page size, and has executed nothing
    /// else yet.
    let destination: ConnectionHandle

    /// True if the source has no other user, so that its unknown collations can be replaced.
    var ownsSource = false

    /// The content that the source reads, for a destination that ``FileView`` has opened; nil if only the
    /// source can read it.
    var pages: (any StoredBytes)?

    /// Called now and then between rows, and while indexes are created; throws to end the copy.
    let checkpoint: () throws -> Void

    /// Copies everything, in one transaction on each side.
    ///
    /// - Parameter watch: called during long statements, when the connections must not be used; throws to end
    ///   the copy.
    /// - Returns: the fingerprint of the source, for comparison with the fingerprint of the copy.
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

    /// A connection that can read the content of the source, and the schema name of the source on it.
    private struct Origin {
        let connection: ConnectionHandle
        let schema: String

        /// The schema name of the source on the destination connection.
        static let attached = "coffer_source"
    }

    /// The source, while another thread reads it.
    // @unchecked: the thread that started the other one copies from its own view of the pages, and waits
    // before it uses the source connection again.
    private struct SideReader: @unchecked Sendable {
        let connection: ConnectionHandle
    }

    /// - Parameter copyRows: copies the rows of the table with this name. It is passed true if the table
    ///   needs stand-ins, and returns its findings about the rows.
    /// - Returns: the results of `copyRows`, by table name.
    private func copyEverything<Rows>(
        from origin: Origin, _ digest: ContentFingerprint, _ standIns: StandIns,
        _ copyRows: (_ table: String, _ needsStandIns: Bool) throws -> Rows
    ) throws -> [ExactText: Rows] {
        var rows: [ExactText: Rows] = [:]
        try destination.execute("BEGIN IMMEDIATE")
        let schema = try createTables(of: origin, standIns)
        for name in schema.tables where name != "sqlite_sequence" {
            try checkpoint()
            rows[ExactText(name)] = try copying(name, standIns) {
                try copyRows(name, schema.needingStandIns.contains(CaseInsensitiveName(name)))
            }
        }
        try createIndexes(of: origin, except: schema.indexes, standIns)
        if schema.tables.contains("sqlite_sequence") {
            // Copying the rows has left their highest row IDs in this table.
            try destination.execute("DELETE FROM main.sqlite_sequence")
            rows[.sequences] = try copying("sqlite_sequence", standIns) {
                try copyRows("sqlite_sequence", false)
            }
        }
        try copyEntriesWithoutStorage(of: origin, encoding: digest.encoding)
        try copyDefinitions(of: origin, encoding: digest.encoding)
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
        /// The tables with a definition or an index that names something the connection does not know.
        var needingStandIns: Set<CaseInsensitiveName> = []
        var indexes: Set<ExactText> = []
    }

    /// Creates the tables that have a b-tree, and the indexes that can only be created with stand-ins. These
    /// indexes have to be created while there are no rows, for which the stand-ins would have to compute or
    /// compare something.
    private func createTables(of origin: Origin, _ standIns: StandIns) throws -> CreatedTables {
        let tables = try entries(of: origin, "type = 'table' AND coalesce(rootpage, 1) > 0")
        var result = CreatedTables(tables: tables.map(\.name))
        // SQLite creates this table with the first table that needs it, and keeps it when that table is
        // dropped.
        for table in tables where table.name != "sqlite_sequence" {
            try create(table, standIns)
            if standIns.mayBeNamed(in: table.sql) {
                result.needingStandIns.insert(CaseInsensitiveName(table.name))
            }
        }
        if result.tables.contains("sqlite_sequence"),
            try destination.firstText(trusted: ContentCopy.hasSequences) == nil
        {
            let names = Set(result.tables.map(CaseInsensitiveName.init))
            let name = "coffer sequence".unique(among: names).quotedDatabaseIdentifier
            try destination.execute(
                trusted: "CREATE TABLE \(name) (id INTEGER PRIMARY KEY AUTOINCREMENT); DROP TABLE \(name)")
        }
        for index in try entries(of: origin, ContentCopy.isIndex) {
            let table = CaseInsensitiveName(index.table)
            guard try result.needingStandIns.contains(table) || needsStandIns(index, standIns) else {
                continue
            }
            try create(index, standIns)
            result.indexes.insert(ExactText(index.name))
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

    private static let hasSequences = "SELECT 1 FROM main.sqlite_master WHERE name = 'sqlite_sequence'"

    /// Indexes without SQL belong to constraints, and are created with their tables.
    private static let isIndex = "type = 'index' AND sql IS NOT NULL"

    private func createIndexes(of origin: Origin, except made: Set<ExactText>, _ standIns: StandIns) throws {
        for index in try entries(of: origin, ContentCopy.isIndex) where !made.contains(ExactText(index.name))
        {
            try checkpoint()
            try create(index, standIns)
        }
    }

    /// The schema row of a table or an index. Bytes that are not valid UTF-8 are escaped, in comments and
    /// literals too.
    private typealias Entry = (name: String, table: String, sql: String)

    /// Returns the entries of the schema that meet a condition, in schema order.
    private func entries(of origin: Origin, _ condition: String) throws -> [Entry] {
        var entries: [Entry] = []
        let sql =
            "SELECT name, tbl_name, sql FROM \(origin.schema).sqlite_master WHERE \(condition) ORDER BY rowid"
        try origin.connection.forEachRow(trusted: sql) { row in
            entries.append((row.identifier(at: 0), row.identifier(at: 1), row.identifier(at: 2)))
        }
        return entries
    }

    /// Executes one statement of the schema. Refuses any text that is not a `CREATE` statement: it was put
    /// there by hand.
    private func create(_ entry: Entry, _ standIns: StandIns) throws {
        guard entry.sql.uppercased().hasPrefix("CREATE ") else {
            throw EngineError.corrupt("malformed database schema (\(entry.name.readableIdentifier))")
        }
        try copying(entry.name, standIns) {
            try standIns.adding(whileMissing: { try destination.forEachRow(trusted: entry.sql) { _ in } })
        }
    }

    /// Copies the definitions of tables and indexes that SQLite has stored in other words. For example, it
    /// omits `IF NOT EXISTS`, which another program may have stored.
    private func copyDefinitions(of origin: Origin, encoding: TextEncoding) throws {
        let condition = "type IN ('table', 'index') AND sql IS NOT NULL"
        var stored: [ExactText: ExactText] = [:]
        try destination.forEachRow(
            trusted: "SELECT name, sql FROM main.sqlite_master WHERE \(condition)"
        ) { row in stored[ExactText(row.identifier(at: 0))] = ExactText(row.identifier(at: 1)) }
        let change = "UPDATE main.sqlite_master SET sql = ?2 WHERE name = ?1 AND \(condition)"
        guard let update = try destination.prepare(trusted: change) else { return }
        try origin.connection.forEachRow(
            trusted: "SELECT name, sql FROM \(origin.schema).sqlite_master WHERE \(condition)"
        ) { row in
            guard let text = stored[ExactText(row.identifier(at: 0))],
                text != ExactText(row.identifier(at: 1))
            else { return }
            for column in 0..<CInt(2) {
                try destination.check(
                    update.handle.bind(column: column, of: row, encoding: encoding, at: column + 1))
            }
            try destination.run(update.handle)
        }
    }

    /// Copies the views, triggers and virtual tables, which consist only of a row in the schema.
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
            try destination.run(insert.handle)
        }
    }
}

// MARK: - Rows

extension ContentCopy {
    /// Makes the engine copy all rows of a table: as records if possible, otherwise value by value.
    private func copyRecords(
        of name: String, from origin: Origin, _ encoding: TextEncoding, _ standIns: StandIns,
        _ needsStandIns: Bool
    ) throws {
        let table = try StoredTable(name: name, in: destination)
        let records = table.copyOfRecords(from: origin.schema)
        if needsStandIns, copiesRecords(records) {
            // Index entries are copied unchanged too: nothing is computed or sorted again.
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

    /// Runs `body`, which inserts the values of all rows in table order.
    private func inserting(into table: StoredTable, _ standIns: StandIns, _ body: () throws -> Void) throws {
        if table.hasIndexes || table.storesGeneratedColumns { return try body() }
        // Generated columns are computed but not stored.
        try standIns.withIdleFunctions {
            if case .primaryKey = table.identity {
                try standIns.inOrder(of: table.name, body)
            } else {
                try body()
            }
        }
    }

    /// Returns true if the engine copies records unchanged with their row IDs, as it does between tables with
    /// the same definition. It does not if it would renumber the rows, which happens in a table with neither
    /// a primary key nor an index (<https://www.sqlite.org/lang_vacuum.html>).
    ///
    /// Also returns false if the copy would include data that is derived from the rows and that no later
    /// check compares with them: index entries (only constraints have indexes at this point), generated
    /// columns, and the order of a table that is a primary key's b-tree.
    private func keepsRecords(of table: StoredTable, _ records: String) -> Bool {
        if table.hasIndexes || table.storesGeneratedColumns { return false }
        if case .primaryKey = table.identity { return false }
        return copiesRecords(records)
    }

    /// Returns true if the engine copies records unchanged with their row IDs. The first branch in the
    /// statement's program decides: it is the one for an empty table.
    private func copiesRecords(_ statement: String) -> Bool {
        var answer: Bool?
        // `EXPLAIN` throws if there are generated columns. The records cannot be copied then.
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
                try destination.run(insert.handle)
                digest.rowCount += 1
                if digest.rowCount.isMultiple(of: 256) { try checkpoint() }
            }
        }
        digest.hash = try hash.finish()
        return digest
    }

    /// Adds to an error the name of the object that was being copied.
    private func copying<Result>(
        _ name: String, _ standIns: StandIns, _ body: () throws -> Result
    ) throws -> Result {
        do {
            do {
                let result = try body()
                try standIns.check()
                return result
            } catch let error as EngineError {
                // The missing definition is the cause of all later errors.
                try standIns.check()
                throw error
            }
        } catch let error as EngineError {
            throw EngineError(
                code: error.code, message: "\(error.words) - while copying \(name.readableIdentifier)")
        }
    }
}

extension ConnectionHandle {
    /// Runs `body` on one state of the database, in the current transaction or in one of its own.
    func withReadTransaction<Result>(_ body: () throws -> Result) throws -> Result {
        let isOwner = isAutocommit
        if isOwner { try execute("BEGIN") }
        defer { if isOwner, !isAutocommit { _ = try? execute("COMMIT") } }
        try verifyKey()
        return try body()
    }
}
