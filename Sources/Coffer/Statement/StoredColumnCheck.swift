internal import SQLCipherBridge

/// The search for statements that would store other bytes than those of a column (``EngineFault``).
///
/// Only statements that insert or update rows are looked at, only on engines with the fault, and only where
/// the schema has a definition that can lead to it: once, and again after a change of the schema.
struct StoredColumnCheck {
    /// Counts the changes of the schema that the connection has made or noticed.
    private(set) var schemaGeneration = 0

    /// The versions of the schemas whose definitions were read, and whether one of them can lead to the
    /// fault.
    private var known: (versions: [String: Int64], result: Bool)?

    /// Notes that statements were compiled again, perhaps for another schema.
    mutating func schemaMayHaveChanged() { schemaGeneration &+= 1 }

    /// Notes a change by this connection. A version that was rolled back may come again with other
    /// definitions.
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
    /// Whether the statement has to be looked at.
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
    /// fails, the execution repeats it.
    func checkStoredColumnsAhead(of statement: Statement) throws(EngineFaultError) {
        do {
            try checkStoredColumns(of: statement)
        } catch let fault as EngineFaultError {
            throw fault
        } catch {}
    }

    /// Refuses a statement that would store other bytes than those of a column.
    ///
    /// - Throws: ``EngineFaultError``.
    func checkStoredColumns(of statement: Statement) throws {
        if mayStoreOtherBytes() {
            // Nothing of this is a statement of the application.
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

    /// Whether the definitions of the schema have a constraint or an expression that asks whether something
    /// is NULL.
    ///
    /// - Returns: true where that cannot be found out now.
    private func mayStoreOtherBytes() -> Bool {
        // To look at the schema begins to read, and the state that a transaction reads is not chosen here.
        guard handle.isAutocommit || handle.transactionState != .none else { return true }
        return (try? schemaMayStoreOtherBytes()) ?? true
    }

    /// Reads the definitions again only if the version of a schema is another one. The watch of the schema
    /// that ``readSchema(_:)`` has is not used: it also notices that statements were compiled again for other
    /// reasons, and kept statements end then.
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
