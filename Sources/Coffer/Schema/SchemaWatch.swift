internal import SQLCipherBridge

/// A prepared statement that detects schema changes: SQLite recompiles it after each of them.
///
/// Whenever a statement starts, SQLite compares the schema that it was compiled for with the schema of the
/// file. After the rollback of a schema change, it recompiles all statements:
/// <https://www.sqlite.org/rescode.html#schema>. The statement reads from each schema. A comparison of
/// `PRAGMA schema_version` would miss a change that was rolled back and followed by another one, because both
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

    /// The statement's recompilation count at the last call of ``hold()``.
    private var recompilationCount = 0

    /// - Parameter statement: a statement made from ``sql(for:)``. The watch owns it and finalizes it.
    init(schemas: [DatabaseSchemaID], statement: consuming EngineStatement) {
        self.schemas = schemas
        engineStatement = statement
    }

    /// Returns a query with one row that starts a read of each schema. SQLite checks each schema, but reads
    /// no rows because the condition is constantly false.
    static func sql(for schemas: [DatabaseSchemaID]) -> String {
        let reads = schemas.map {
            "EXISTS (SELECT 1 FROM \($0.name.quotedDatabaseIdentifier).sqlite_master WHERE 0)"
        }
        return "SELECT " + reads.joined(separator: ", ")
    }

    /// Returns whether the schema has changed since the last call. Unless it fails, prevents schema changes
    /// until ``release()`` is called.
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

    /// Starts and resets the statement, and returns true if the schema is unchanged. A change is not
    /// recorded: the next ``hold()`` reports it.
    func isUnchanged() -> Bool {
        let code = statement.step()
        let isUnchanged = code == EngineCode.row && statement.repreparationCount == recompilationCount
        statement.reset()
        return isUnchanged
    }

    /// Ends the read transaction that ``hold()`` started, unless a transaction of the connection is open.
    func release() {
        statement.reset()
    }
}
