internal import SQLCipherBridge

/// Detects statements that would store wrong bytes in a column because of an engine fault (``EngineFault``).
///
/// Only statements that insert or update rows are checked, only on engines with the fault, and only if the
/// schema has a definition that can trigger it: once, and again after a schema change.
struct StoredColumnCheck {
    /// The number of schema changes that the connection has made or noticed.
    private(set) var schemaGeneration = 0

    /// The versions of the schemas whose definitions were read, and whether any definition can trigger the
    /// fault.
    private var known: (versions: [String: Int64], result: Bool)?

    /// Records that statements were compiled again, possibly for another schema.
    mutating func schemaMayHaveChanged() { schemaGeneration &+= 1 }

    /// Records a schema change by this connection. After a rollback, the same version can occur with
    /// different definitions.
    mutating func schemaDidChange() {
        schemaMayHaveChanged()
        known = nil
    }

    /// The value that the file had for `SQLITE_FCNTL_DATA_VERSION`.
    private var dataVersion: UInt32?

    /// Notes the data version after a transaction of this connection, which may have changed it.
    mutating func didEndTransaction(dataVersion: UInt32) { self.dataVersion = dataVersion }

    /// Notes the data version in a transaction. A different one means that another connection has committed,
    /// perhaps a change of the schema, and SQLite then compiles kept statements again as they start to run.
    mutating func didBeginToRead(dataVersion: UInt32) {
        if let known = self.dataVersion, known != dataVersion { schemaMayHaveChanged() }
        self.dataVersion = dataVersion
    }

    func result(for versions: [String: Int64]) -> Bool? {
        known.flatMap { $0.versions == versions ? $0.result : nil }
    }

    mutating func didRead(_ versions: [String: Int64], result: Bool) { known = (versions, result) }
}

extension Statement {
    /// Returns true if the statement has to be checked.
    static func mayStoreOtherBytes(_ facts: StatementFacts) -> Bool {
        EngineMend.storedColumns.isOn
            && facts.eventKinds.contains { kind in
                switch kind {
                case .insert, .update: true
                case .delete: false
                }
            }
    }
}

extension Database {
    /// Refuses a statement that was just compiled, like ``checkStoredColumns(of:)``. If the check itself
    /// fails, it is repeated at the execution.
    func checkStoredColumnsAhead(of statement: Statement) throws(EngineFaultError) {
        do {
            try checkStoredColumns(of: statement)
        } catch let fault as EngineFaultError {
            throw fault
        } catch {}
    }

    /// Refuses a statement that would store wrong bytes in a column.
    ///
    /// - Throws: ``EngineFaultError``.
    func checkStoredColumns(of statement: Statement) throws {
        if mayStoreOtherBytes() {
            // The statements compiled by the check are not the application's.
            inspector.begin()
            defer { _ = inspector.end() }
            let program = try withoutTrace {
                try DatabaseError.converting { try handle.program(ofStatement: statement.handle.sql) }
            }
            guard !program.storesColumnsOfWhichOnlyTheTypeIsRead else {
                throw EngineFaultError(fault: .storedColumns, sql: statement.sql)
            }
        }
        statement.storedColumnsWereChecked(storedColumns.schemaGeneration)
    }

    /// Returns true if the definitions of the schema have a constraint or an expression that tests for NULL.
    ///
    /// - Returns: true also if this cannot be determined now.
    private func mayStoreOtherBytes() -> Bool {
        // Reading the schema starts a read transaction, and this check must not choose the state that it
        // reads.
        guard handle.isAutocommit || handle.transactionState != .none else { return true }
        return (try? schemaMayStoreOtherBytes()) ?? true
    }

    /// Reads the definitions again only if the version of a schema has changed. The schema watch of
    /// ``readSchema(_:)`` is not used, because it also reacts when statements are compiled again for other
    /// reasons, and then discards cached statements.
    private func schemaMayStoreOtherBytes() throws -> Bool {
        var versions: [String: Int64] = [:]
        try forEachSchemaRow("PRAGMA database_list") { versions[$0.string(at: 1)] = 0 }
        for schema in versions.keys {
            try forEachSchemaRow("PRAGMA \(schema.quotedDatabaseIdentifier).schema_version") {
                versions[schema] = $0.int64(at: 0)
            }
        }
        if let known = storedColumns.result(for: versions) { return known }
        var result = false
        for schema in versions.keys {
            let table = schema.quotedDatabaseIdentifier + ".sqlite_master"
            try forEachSchemaRow(
                """
                SELECT 1 FROM \(table) WHERE type = 'table' AND sql LIKE '%NULL%'
                    AND (sql LIKE '%CHECK%' OR sql LIKE '%AS%(%') LIMIT 1
                """
            ) { _ in result = true }
        }
        storedColumns.didRead(versions, result: result)
        return result
    }
}
