internal import SQLCipherBridge

// The library's own queries of the schema. They bypass `Statement`, so that they appear neither in the
// application's trace nor in the observed region of a request.

extension Database {
    /// Discards the connection's cached schema information.
    ///
    /// A call is only needed after a schema change in the current transaction, or an `ATTACH`, that was made
    /// through the C functions and ``sqliteConnection``. All other changes are detected, including changes by
    /// other connections and processes.
    public func clearSchemaCache() {
        checkIsUsedInItsAccess()
        knownSchema = KnownSchema()
        programCheck.schemaDidChange()
        // Statements compiled for the old schema report its columns until their next execution.
        statementCaches.removeAll()
    }

    /// Runs `body` with an up-to-date schema cache, and prevents schema changes until it returns.
    func readSchema<T>(_ body: () throws -> T) throws -> T {
        checkIsUsedInItsAccess()
        try checkIsUsable()
        if isSchemaKnown { return try body() }
        let watch = try holdSchema()
        knownSchema.didHold()
        defer {
            withoutTrace { watch.release() }
            knownSchema.didRelease(isVerified: isInsideTransaction)
        }
        return try body()
    }

    /// True if the schema cache is up to date, and stays so until the end of the transaction.
    var isSchemaKnown: Bool { knownSchema.isHeld || (knownSchema.isVerified && isInsideTransaction) }

    /// Compares the cache with the schema, and prevents schema changes until the watch is released.
    private func holdSchema() throws -> SchemaWatch {
        if let watch = knownSchema.watch {
            switch withoutTrace({ watch.hold() }) {
            case .unchanged:
                return watch
            case .changed:
                knownSchema.forgetSchema()
                programCheck.schemaMayHaveChanged()
                statementCaches.removeAll()
                return watch
            case .failed(let code) where ResultCode(rawValue: code).primaryResultCode == .SQLITE_ERROR:
                // A database was detached through the C functions, so the watch can no longer be compiled.
                knownSchema = KnownSchema()
            case .failed(let code):
                throw schemaError(code)
            }
        }
        let watch = try makeSchemaWatch()
        knownSchema.insert(watch)
        // The new watch cannot notice earlier changes.
        programCheck.schemaMayHaveChanged()
        if case .failed(let code) = withoutTrace({ watch.hold() }) {
            throw schemaError(code)
        }
        return watch
    }

    private func makeSchemaWatch() throws -> SchemaWatch {
        var schemas: [DatabaseSchemaID] = []
        try forEachSchemaRow("PRAGMA database_list") { row in
            schemas.append(.attached(row.string(at: 1)))
        }
        // The list starts with the main database. It contains the temporary schema, which is searched first,
        // only after its first use.
        if let index = schemas.firstIndex(of: .temp) {
            schemas.remove(at: index)
            schemas.insert(.temp, at: 0)
        }
        return SchemaWatch(
            schemas: schemas,
            statement: try prepareSchemaQuery(SchemaWatch.sql(for: schemas), persistent: true))
    }
}

extension Database {
    /// Calls `body` with each row of a query.
    func forEachSchemaRow(_ sql: String, _ body: (StatementHandle) -> Void) throws {
        try withoutTrace {
            let statement = try prepareSchemaQuery(sql, persistent: false)
            while true {
                switch statement.handle.step() {
                case EngineCode.row: body(statement.handle)
                case EngineCode.done: return
                case let code: throw schemaError(code, sql: sql)
                }
            }
        }
    }

    private func prepareSchemaQuery(_ sql: String, persistent: Bool) throws -> EngineStatement {
        try checkIsUsable()
        guard protection != .awaitingKey else { throw DatabaseError(encryptionFailure: .noKey) }
        if isTaskCancelled { throw CancellationError() }
        do {
            var offset = 0
            guard
                let statement = try handle.prepare(
                    Array(sql.utf8CString), offset: &offset, persistent: persistent)
            else {
                throw DatabaseError(message: "empty statement", sql: sql)
            }
            return statement
        } catch let error as EngineError {
            if error.primaryCode == EngineCode.interrupt, isTaskCancelled { throw CancellationError() }
            throw DatabaseError(error, sql: sql)
        }
    }

    private func schemaError(_ code: CInt, sql: String? = nil) -> any Error {
        let error = handle.error(code)
        if error.primaryCode == EngineCode.interrupt && isTaskCancelled { return CancellationError() }
        return DatabaseError(error, sql: sql)
    }

    func withoutTrace<T, E: Error>(_ body: () throws(E) -> T) throws(E) -> T {
        guard let traceHook else { return try body() }
        let wasMuted = traceHook.isMuted
        traceHook.isMuted = true
        defer { traceHook.isMuted = wasMuted }
        return try body()
    }
}
