internal import SQLCipherBridge

/// The properties of a database that was written as a script, or made from one.
package struct ScriptSummary: Sendable, Hashable {
    /// The SHA-256 digest of everything that was written. It is the same for databases with the same content.
    package let digest: String
    package let tableCount: Int
    package let rowCount: Int

    /// The collations and functions that the script needs to run, each with the first table or index that
    /// uses it.
    package let needs: [String]

    fileprivate init(_ content: ProvedContent, needs: [String] = []) throws {
        self.needs = needs
        (digest, tableCount, rowCount) = try (content.digest, content.tableCount, content.rowCount)
    }

    fileprivate init(_ fingerprint: ContentFingerprint, needs: [String] = []) throws {
        try self.init(RowProof(fingerprint: fingerprint, prepare: { _ in }).content, needs: needs)
    }
}

extension Database {
    /// Writes one state of the database as an SQL script, from which any SQLite can restore the same content.
    ///
    /// The script is plaintext.
    ///
    /// - Parameters:
    ///   - tables: the tables to write, with their indexes and triggers; nil for the whole database. The
    ///     digest of the summary then stands for no database.
    ///   - write: called with the text in pieces, which may end within a character.
    ///   - checkpoint: called regularly; throws to end the work.
    /// - Throws: ``NoSuchTable`` before anything is written.
    package func writeScript(
        tables: [String]? = nil, _ write: @escaping ([UInt8]) throws -> Void,
        checkpoint: @escaping () throws -> Void
    ) throws -> ScriptSummary {
        checkIsUsedInItsAccess()
        return try DatabaseError.converting {
            try handle.withReadTransaction {
                let tables = try tables.map { try ScriptedTables($0, in: handle) }
                return try ScriptSummary(
                    ContentScript(source: handle, tables: tables, write: write, checkpoint: checkpoint).run(),
                    needs: ScriptNeeds(source: handle, tables: tables).find())
            }
        }
    }
}

extension DatabaseFile {
    /// Makes a new encrypted database from the statements of a script, and proves it before it gets its name.
    ///
    /// - Parameters:
    ///   - companion: the companion of the new file, which gets its name just before the file.
    ///   - statements: returns one statement after the other, and nil at the end.
    ///   - watch: called during long statements; throws to end the work.
    ///   - confirm: called with the summary before the file gets its name; throws to discard the file.
    /// - Throws: a ``ScriptError`` for a script that cannot become a database, or else a
    ///   ``DatabaseFileError``.
    package func make(
        key: DatabaseKey, cipher: CipherSettings, companion: (any FileCompanion)? = nil,
        progress: ProgressFunction?,
        statements: @escaping () throws -> [UInt8]?,
        watch: @escaping () throws -> Void, confirm: (ScriptSummary) throws -> Void
    ) throws -> ScriptSummary {
        var writesSchema = false
        do {
            return try DatabaseFileError.translated(path) {
                let protection = try FileProtection.encrypted(key, cipher: cipher)
                func prepare(_ connection: ConnectionHandle) throws { try connection.install([], []) }
                let file = ContentFile(
                    protection: protection, prepare: prepare, progress: ProgressReport(progress),
                    companion: companion)
                let made = try file.make(at: path) { connection in
                    try prepare(connection)
                    let next = {
                        let statement = try statements()
                        if let statement, ScriptedContent.writesSchema(statement) { writesSchema = true }
                        return statement
                    }
                    let fingerprint = try ScriptedContent(destination: connection, next: next, watch: watch)
                        .run()
                    try confirm(ScriptSummary(fingerprint))
                    return fingerprint
                }
                return try ScriptSummary(made.content)
            }
        } catch let error as DatabaseFileError {
            throw (writesSchema ? ScriptError.ofSchema(error) : nil) ?? error
        }
    }
}
