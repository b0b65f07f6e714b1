internal import SQLCipherBridge

/// A prepared statement that SQLite has to compile again whenever the schema has changed, which is how the
/// change is noticed.
///
/// SQLite compares the schema that a statement was compiled for with the one in the file each time that the
/// statement starts, and compiles all statements again after the rollback of a schema change:
/// <https://www.sqlite.org/rescode.html#schema>. The statement reads from each schema. One that only asked
/// for `PRAGMA schema_version` would miss a change that was rolled back and followed by another one, as both
/// leave the same version.
final class SchemaWatch {
    enum Outcome {
        case unchanged
        case changed
        case failed(CInt)
    }

    /// The schemas in the order in which SQLite searches them for an unqualified name: temporary, main,
    /// attached.
    let schemas: [DatabaseSchemaID]

    private let engineStatement: EngineStatement
    private var statement: StatementHandle { engineStatement.handle }

    /// How often the statement had been compiled again when it was asked last.
    private var recompilationCount = 0

    /// - Parameter statement: a statement of ``sql(for:)``, which is finalized with the watch.
    init(schemas: [DatabaseSchemaID], statement: consuming EngineStatement) {
        self.schemas = schemas
        engineStatement = statement
    }

    /// A query with one row that begins to read from each schema: SQLite compares it, and reads no row, as it
    /// sees that there is none to find.
    static func sql(for schemas: [DatabaseSchemaID]) -> String {
        let reads = schemas.map {
            "EXISTS (SELECT 1 FROM \($0.name.quotedDatabaseIdentifier).sqlite_master WHERE 0)"
        }
        return "SELECT " + reads.joined(separator: ", ")
    }

    /// Returns whether the schema has changed since the last call, and holds it still until ``release()``
    /// unless it failed.
    func hold() -> Outcome {
        switch statement.step() {
        case EngineCode.row:
            defer { recompilationCount = statement.repreparationCount }
            return statement.repreparationCount == recompilationCount ? .unchanged : .changed
        case let code:
            statement.reset()
            return .failed(code)
        }
    }

    /// Begins to read, and returns whether the schema is as it was: what it was otherwise is for ``hold()``
    /// to report.
    func isUnchanged() -> Bool {
        let code = statement.step()
        let isUnchanged = code == EngineCode.row && statement.repreparationCount == recompilationCount
        statement.reset()
        return isUnchanged
    }

    /// Ends the read transaction that ``hold()`` has started, unless it belongs to a transaction of the
    /// connection.
    func release() {
        statement.reset()
    }
}
