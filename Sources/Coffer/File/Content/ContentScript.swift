internal import SQLCipherBridge

/// Writes a database as an SQL script, from which any SQLite creates the same content: tables first, then
/// their rows, indexes, views and triggers, and finally virtual tables. Virtual tables are written as rows of
/// the schema, because their content is in shadow tables. It is the textual form of ``ContentCopy``.
///
/// If a shell could parse a text of the schema as anything but one definition, the script contains it as a
/// value instead of a statement: see ``ScriptedDefinition``.
struct ContentScript {
    let source: ConnectionHandle

    /// The tables to write, or nil for the whole database.
    var tables: ScriptedTables?

    /// Receives the text, in pieces.
    let write: ([UInt8]) throws -> Void

    /// Called now and then between rows; throws to end the script.
    let checkpoint: () throws -> Void

    /// Writes the whole script.
    ///
    /// - Returns: the fingerprint of the written content.
    func run() throws -> ContentFingerprint {
        try source.withReadTransaction {
            var digest = try ContentFingerprint(ofSchemaIn: source)
            try checkNames(
                source.identifiers(
                    trusted: "SELECT name FROM main.sqlite_master WHERE \(tables?.condition ?? "1")"))
            let writer = ScriptWriter(try ScriptLiteral(source, digest.encoding), write)
            try writeHead(digest, to: writer)
            for table in try source.storedTableNames()
            where tables?.names.contains(CaseInsensitiveName(table)) ?? true {
                digest.tables[ExactText(table)] = try writeTable(table, to: writer)
            }
            if let tables {
                try writeSequences(of: tables, to: writer)
            } else if digest.tables[.sequences] != nil {
                digest.tables[.sequences] = try writeSequences(to: writer)
            }
            try writeObjects("type = 'index'", to: writer)
            try writeObjects("type IN ('view', 'trigger') OR \(ContentScript.isVirtualTable)", to: writer)
            if tables == nil {
                try writer.line(
                    "PRAGMA user_version=\(digest.userVersion);\n"
                        + "PRAGMA application_id=\(digest.applicationID);")
            }
            try writer.line("PRAGMA writable_schema=OFF;\nCOMMIT;")
            try writer.flush()
            return digest
        }
    }

    /// Throws if a name is not valid UTF-8: shells could not read the script.
    private func checkNames(_ names: [String]) throws {
        guard let name = names.first(where: \.hasEscapedBytes) else { return }
        throw EngineError(
            code: EngineCode.error,
            message: "The name \(name.readableIdentifier) is not valid UTF-8, so no script can contain it")
    }

    private func writeHead(_ digest: ContentFingerprint, to writer: ScriptWriter) throws {
        // Before the transaction: these pragmas must be set before there is any content.
        try writer.line("PRAGMA foreign_keys=OFF;\nPRAGMA ignore_check_constraints=ON;")
        if digest.encoding != .utf8 { try writer.line("PRAGMA encoding='\(digest.encoding.rawValue)';") }
        let autoVacuum = try source.integer(pragma: "auto_vacuum")
        // A script of single tables may run in a database that has a mode of its own.
        if autoVacuum != 0, tables == nil { try writer.line("PRAGMA auto_vacuum=\(autoVacuum);") }
        if try hasObjectsAsValues(writer.literal) {
            try writer.line("-- Other shells accept the rows of sqlite_master after: .dbconfig defensive off")
        }
        try writer.line("BEGIN TRANSACTION;\nPRAGMA writable_schema=ON;")
    }

    private static let isVirtualTable = "type = 'table' AND coalesce(rootpage, 1) = 0"

    /// The definition of the statistics table that `ANALYZE` creates.
    private static let statistics = "CREATE TABLE sqlite_stat1(tbl,idx,stat)"

    private func writeTable(_ name: String, to writer: ScriptWriter) throws -> ContentFingerprint.Table {
        try checkpoint()
        // Its rows are written later, because inserting the rows of the other tables also writes to it.
        guard name != "sqlite_sequence" else { return ContentFingerprint.Table() }
        let condition = "type = 'table' AND name = \(name.sqlLiteral)"
        if try source.firstText(trusted: "SELECT sql FROM main.sqlite_master WHERE \(condition)")
            == ContentScript.statistics
        {
            // This creates the table and leaves it empty, even for a shell that cannot write to the schema.
            try writer.line("ANALYZE sqlite_master;")
        } else {
            try writeObjects(condition, to: writer)
        }
        return try writeRows(of: name, to: writer)
    }

    private func writeRows(of name: String, to writer: ScriptWriter) throws -> ContentFingerprint.Table {
        let table = try StoredTable(name: name, in: source)
        try checkNames(table.names)
        let columns = table.fields.joined(separator: ",")
        let start = "INSERT INTO \(name.quotedDatabaseIdentifier)(\(columns)) VALUES(".identifierBytes
        var digest = ContentFingerprint.Table()
        let hash = try ContentHash()
        let standIns = StandIns(on: source)
        defer { standIns.remove() }
        try standIns.add(collations: table.keyCollations)
        try table.forEachRow(in: source) { row in
            try writer.add(start)
            try hash.add(row, of: table, encoding: writer.literal.encoding)
            for index in table.fields.indices {
                let (statement, column) = row.field(index)
                if index > 0 { try writer.add([UInt8(ascii: ",")]) }
                try writer.addValue(at: column, of: statement)
            }
            try writer.endStatement(of: name, ");\n")
            digest.rowCount += 1
            if digest.rowCount.isMultiple(of: ContentFingerprint.rowsBetweenCheckpoints) { try checkpoint() }
        }
        digest.hash = try hash.finish()
        return digest
    }

    private func writeSequences(to writer: ScriptWriter) throws -> ContentFingerprint.Table {
        let hasUser = try source.firstText(
            trusted:
                "SELECT 1 FROM main.sqlite_master WHERE type = 'table' AND upper(sql) LIKE '%AUTOINCREMENT%'")
        if hasUser == nil {
            // SQLite keeps the table after the last table that needs it is dropped, but only creates it
            // together with such a table.
            let taken = Set(
                try source.column(trusted: "SELECT name FROM main.sqlite_master").map(
                    CaseInsensitiveName.init))
            let identifier = "coffer sequence".unique(among: taken).quotedDatabaseIdentifier
            try writer.line(
                "CREATE TABLE \(identifier)(id INTEGER PRIMARY KEY AUTOINCREMENT);\nDROP TABLE \(identifier);"
            )
        }
        try writer.line("DELETE FROM sqlite_sequence;")
        return try writeRows(of: "sqlite_sequence", to: writer)
    }

    /// Writes the sequences of some tables, without touching the others that the database may have.
    private func writeSequences(of tables: ScriptedTables, to writer: ScriptWriter) throws {
        guard try source.storedTableNames().contains("sqlite_sequence") else { return }
        let sql = "SELECT name, seq FROM main.sqlite_sequence WHERE name IN (\(tables.list))"
        try source.forEachRow(trusted: sql) { row in
            try writer.add(Array("DELETE FROM sqlite_sequence WHERE name=".utf8))
            try writer.addValue(at: 0, of: row)
            try writer.add(Array(";\nINSERT INTO sqlite_sequence(name,seq) VALUES(".utf8))
            try writer.addValue(at: 0, of: row)
            try writer.add([UInt8(ascii: ",")])
            try writer.addValue(at: 1, of: row)
            try writer.endStatement(of: "sqlite_sequence", ");\n")
        }
    }

    /// Writes the definitions of some objects.
    private func writeObjects(_ condition: String, to writer: ScriptWriter) throws {
        let sql = """
            SELECT type, name, tbl_name, sql, coalesce(rootpage, 0) FROM main.sqlite_master \
            WHERE sql IS NOT NULL AND (\(condition)) AND (\(tables?.condition ?? "1")) ORDER BY rowid
            """
        try source.forEachRow(trusted: sql) { row in
            try checkpoint()
            // Read in the stored encoding, before any other access makes SQLite convert it.
            let text = writer.literal.plainText(at: 3, of: row)
            let value = try writer.literal.text(at: 3, of: row)
            if let statement = text.flatMap({ ScriptedDefinition($0).statement }) {
                try writer.add(statement)
                try writer.endStatement(of: row.string(at: 1), "")
            } else if row.int64(at: 4) != 0,
                let creation = ScriptedDefinition(text ?? Array(row.string(at: 3).utf8)).creation
            {
                // The object needs pages of its own. Its exact text is set afterwards.
                try writer.add(creation)
                try writer.add(Array("UPDATE sqlite_master SET sql=".utf8) + value)
                try writer.add(Array(" WHERE type=".utf8))
                try writer.addValue(at: 0, of: row)
                try writer.add(Array(" AND name=".utf8))
                try writer.addValue(at: 1, of: row)
                try writer.endStatement(of: row.string(at: 1), ";\n")
            } else {
                try writer.add(
                    Array("INSERT INTO sqlite_master(type,name,tbl_name,rootpage,sql) VALUES(".utf8))
                for column in 0..<CInt(3) {
                    try writer.addValue(at: column, of: row)
                    try writer.add([UInt8(ascii: ",")])
                }
                try writer.add(Array("0,".utf8) + value)
                try writer.endStatement(of: row.string(at: 1), ");\n")
            }
        }
    }

    /// Returns true if an object of the schema is written as a value instead of a statement.
    private func hasObjectsAsValues(_ literal: ScriptLiteral) throws -> Bool {
        var result = false
        let sql = """
            SELECT sql FROM main.sqlite_master WHERE sql IS NOT NULL AND substr(name, 1, 7) <> 'sqlite_' \
            AND (\(tables?.condition ?? "1"))
            """
        try source.forEachRow(trusted: sql) { row in
            if !result {
                result = literal.plainText(at: 0, of: row).flatMap { ScriptedDefinition($0).statement } == nil
            }
        }
        return result
    }
}

/// A buffer for the text of a script.
private final class ScriptWriter {
    let literal: ScriptLiteral
    private let write: ([UInt8]) throws -> Void
    private var buffer: [UInt8] = []
    private var statementLength = 0

    /// The maximum length of a statement in SQLite, at its default: <https://www.sqlite.org/limits.html>.
    private static let longestStatement = 1_000_000_000

    init(_ literal: ScriptLiteral, _ write: @escaping ([UInt8]) throws -> Void) {
        self.literal = literal
        self.write = write
    }

    func line(_ text: String) throws { try add(Array((text + "\n").utf8)) }

    func add(_ bytes: [UInt8]) throws {
        buffer += bytes
        statementLength += bytes.count
        if buffer.count >= 65_536 { try flush() }
    }

    func addValue(at column: CInt, of row: StatementHandle) throws {
        try add(literal.text(at: column, of: row))
    }

    func endStatement(of name: String, _ end: String) throws {
        try add(Array(end.utf8))
        guard statementLength <= ScriptWriter.longestStatement else {
            throw EngineError(
                code: EngineCode.tooBig, message: "A row of \(name) is too long for a statement")
        }
        statementLength = 0
    }

    func flush() throws {
        guard !buffer.isEmpty else { return }
        try write(buffer)
        buffer.removeAll(keepingCapacity: true)
    }
}
