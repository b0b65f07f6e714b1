internal import SQLCipherBridge

/// Detects statements that the engine would execute incorrectly because of a fault (``EngineFault``) that
/// shows in their program.
///
/// Only statements that can meet a fault of this engine are checked, and only if the schema has a definition
/// that can trigger it: once, and again after a schema change.
struct ProgramCheck {
    /// True if this engine has a fault that the check detects.
    static let isNeeded = EngineMend.storedColumns.isOn || EngineMend.descendingNotIn.isOn

    /// The number of schema changes that the connection has made or noticed.
    private(set) var schemaGeneration = 0

    /// The versions of the schemas whose definitions were read, the faults that these can trigger, and the
    /// generation in which they were read.
    private var known: (versions: [String: Int64], faults: ProgramFaults, generation: Int)?

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

    /// The faults that the definitions can trigger, if no change was noticed since they were read. Nil if
    /// there are other files than the main one, because their changes are not noticed.
    var faultsOfGeneration: ProgramFaults? {
        known.flatMap { known in
            known.generation == schemaGeneration
                && known.versions.keys.allSatisfy { $0 == "main" || $0 == "temp" } ? known.faults : nil
        }
    }

    func faults(for versions: [String: Int64]) -> ProgramFaults? {
        known.flatMap { $0.versions == versions ? $0.faults : nil }
    }

    mutating func didRead(_ versions: [String: Int64], faults: ProgramFaults) {
        known = (versions, faults, schemaGeneration)
    }
}

/// The faults of the engine that show in the program of a statement.
struct ProgramFaults: OptionSet {
    let rawValue: UInt8

    static let storedColumns = ProgramFaults(rawValue: 1)
    static let descendingNotIn = ProgramFaults(rawValue: 2)

    /// The first fault of the set.
    var first: EngineFault? {
        if contains(.storedColumns) { return .storedColumns }
        return contains(.descendingNotIn) ? .descendingNotIn : nil
    }
}

extension ProgramFaults {
    /// The faults that a program has.
    fileprivate init(in program: EngineProgram) {
        self = []
        if program.storesColumnsOfWhichOnlyTheTypeIsRead { insert(.storedColumns) }
        if program.looksForNullAtTheWrongEnd { insert(.descendingNotIn) }
    }

    /// The faults of this engine that a statement can meet.
    ///
    /// - Parameter sql: the text of the statement, which is only read if necessary.
    init(of facts: StatementFacts, sql: String) {
        self = []
        if EngineMend.storedColumns.isOn, facts.eventKinds.contains(where: \.isInsertOrUpdate) {
            insert(.storedColumns)
        }
        // The text does not show the SQL of views and triggers.
        if EngineMend.descendingNotIn.isOn, !facts.databaseRegion.isEmpty,
            facts.readsIndirectly || SQLScanner.mayHaveInQuery(sql)
        {
            insert(.descendingNotIn)
        }
    }
}

extension DatabaseEventKind {
    fileprivate var isInsertOrUpdate: Bool {
        switch self {
        case .insert, .update: true
        case .delete: false
        }
    }
}

extension Database {
    /// Refuses a statement that was just compiled, like ``checkProgram(of:)``. If the check itself fails, it
    /// is repeated at the execution, unless the failure has ended the transaction: SQLite rolls back if a
    /// writing statement is interrupted, even if EXPLAIN only lists its program.
    func checkProgramAhead(of statement: Statement) throws {
        noteDataVersion()
        let wasAutocommit = handle.isAutocommit
        do {
            try checkProgram(of: statement)
        } catch let fault as EngineFaultError {
            throw fault
        } catch let error as DatabaseError where handle.isAutocommit != wasAutocommit {
            try executionDidFail(statement, with: error)
        } catch {}
    }

    /// Checks a statement again before its execution if the schema may have changed. An interruption of a
    /// statement that writes ends the transaction, as SQLite ends a transaction whose writing statement is
    /// interrupted.
    func checkProgramInExecution(of statement: Statement) throws {
        noteDataVersion()
        guard statement.checkedSchemaGeneration != programCheck.schemaGeneration else { return }
        do {
            try checkProgram(of: statement)
        } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR && statement.isReadonly {
            // The statement no longer compiles, for example without a table, and reports that itself.
        } catch let error as DatabaseError where error.resultCode == .SQLITE_INTERRUPT {
            if isInsideTransaction, !statement.isReadonly {
                try? withoutInterruption {
                    try DatabaseError.converting { try handle.execute("ROLLBACK") }
                }
            }
            try executionDidFail(statement, with: error)
        }
    }

    /// Notices a commit by another connection, unless the schema is known to be unchanged. Outside a
    /// transaction, the statement itself begins to read, and the version is not known yet.
    private func noteDataVersion() {
        guard !isSchemaKnown, handle.isReading else { return }
        programCheck.didBeginToRead(dataVersion: handle.dataVersion)
    }

    /// Refuses a statement that the engine would execute incorrectly.
    ///
    /// - Throws: ``EngineFaultError``.
    private func checkProgram(of statement: Statement) throws {
        let suspected = statement.suspectedFaults.intersection(faultsOfSchema())
        if !suspected.isEmpty {
            // The statements compiled by the check are not the application's.
            inspector.begin()
            defer { _ = inspector.end() }
            let program = try sharedState.shielded {
                try withoutTrace {
                    try DatabaseError.converting { try handle.program(ofStatement: statement.handle.sql) }
                }
            }
            if let fault = suspected.intersection(ProgramFaults(in: program)).first {
                throw EngineFaultError(fault: fault, sql: statement.sql)
            }
        }
        statement.programWasChecked(programCheck.schemaGeneration)
    }

    /// Returns the faults that the definitions of the schema can trigger, or all faults if this cannot be
    /// determined now.
    private func faultsOfSchema() -> ProgramFaults {
        let all: ProgramFaults = [.storedColumns, .descendingNotIn]
        // Reading the schema starts a read transaction, and this check must not choose the state that it
        // reads.
        let isReading = handle.isReading
        guard handle.isAutocommit || isReading else { return all }
        // In a transaction, a commit by another connection has been noticed.
        if isReading, let faults = programCheck.faultsOfGeneration { return faults }
        return (try? readFaultsOfSchema()) ?? all
    }

    /// Reads the definitions again only if the version of a schema has changed. The schema watch of
    /// ``readSchema(_:)`` is not used, because it also reacts when statements are compiled again for other
    /// reasons, and then discards cached statements.
    private func readFaultsOfSchema() throws -> ProgramFaults {
        var versions: [String: Int64] = [:]
        try forEachSchemaRow("PRAGMA database_list") { versions[$0.string(at: 1)] = 0 }
        for schema in versions.keys {
            try forEachSchemaRow("PRAGMA \(schema.quotedDatabaseIdentifier).schema_version") {
                versions[schema] = $0.int64(at: 0)
            }
        }
        let faults = try programCheck.faults(for: versions) ?? readFaults(ofSchemas: versions.keys)
        programCheck.didRead(versions, faults: faults)
        return faults
    }

    private func readFaults(ofSchemas schemas: some Sequence<String>) throws -> ProgramFaults {
        var faults: ProgramFaults = []
        for schema in schemas {
            let table = schema.quotedDatabaseIdentifier + ".sqlite_master"
            // With PRAGMA case_sensitive_like, LIKE alone would miss words in lower case.
            try forEachSchemaRow(
                """
                SELECT max(type = 'table' AND text LIKE '%NULL%'
                        AND (text LIKE '%CHECK%' OR text LIKE '%AS%(%')),
                    max(text LIKE '%DESC%') FROM (SELECT type, upper(sql) AS text FROM \(table))
                """
            ) { row in
                if row.int64(at: 0) != 0 { faults.insert(.storedColumns) }
                if row.int64(at: 1) != 0 { faults.insert(.descendingNotIn) }
            }
        }
        return faults
    }
}
