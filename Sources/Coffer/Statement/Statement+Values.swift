internal import SQLCipherBridge

// Binds values directly, without creating a list of arguments.

extension Statement {
    /// Executes the statement with one value for each parameter, in order, and ignores any rows that it
    /// returns.
    ///
    /// The effect is the same as ``execute(arguments:)`` with a list of the values, but no list is created.
    /// This is the fastest way to execute a statement repeatedly.
    ///
    /// ```swift
    /// let statement = try db.makeStatement(sql: "INSERT INTO item (owner, name, weight) VALUES (?, ?, ?)")
    /// for item in items {
    ///     try statement.execute(values: item.owner, item.name, item.weight)
    /// }
    /// ```
    ///
    /// The values do not become the ``arguments`` of the statement: the next execution needs its own.
    ///
    /// - Throws: a ``DatabaseError``, with `SQLITE_MISUSE` if there are more or fewer values than parameters;
    ///   `CancellationError` in a cancelled task.
    @inlinable
    public func execute<First: DatabaseValueConvertible, each Other: DatabaseValueConvertible>(
        values first: First, _ others: repeat each Other
    ) throws {
        try beginValues()
        var count: CInt = 1
        var code = bind(first.persistenceValue, at: 1)
        for other in repeat each others {
            count += 1
            if code == 0 { code = bind(other.persistenceValue, at: count) }
        }
        try run(code: code, valueCount: Int(count)) {
            var values = [first.databaseValue]
            for other in repeat each others { values.append(other.databaseValue) }
            return values
        }
    }

    @usableFromInline
    func beginValues() throws {
        database.checkIsUsedInItsAccess()
        try resetForExecution()
        forgetArguments()
    }

    /// - Parameters:
    ///   - code: the first failed result code of the bindings, or success.
    ///   - values: returns a list of the values, for an error.
    @usableFromInline
    func run(code: CInt, valueCount: Int, _ values: () -> [DatabaseValue]) throws {
        let database = database
        areArgumentsValid = false
        guard valueCount == parameterNames.count else { throw wrongNumberOfArguments(valueCount) }
        guard code == EngineCode.ok else {
            recordArguments(values())
            try failBinding(code)
        }
        try beginExecution(database)
        try run(in: database) { recordArguments(values()) }
    }

    /// Binds a value and returns the result code of the C function.
    @usableFromInline
    func bind(_ value: PersistenceValue, at index: CInt) -> CInt {
        switch value {
        case .null: handle.bindNull(at: index)
        case .int(let value): handle.bind(Int64(value), at: index)
        case .int64(let value): handle.bind(value, at: index)
        case .double(let value): handle.bind(value, at: index)
        case .string(let value): boundTexts.bind(value, to: handle, at: index)
        case .other(let value): unsafe value.bind(to: sqliteStatement, at: index)
        }
    }
}

extension Database {
    /// Executes all statements of an SQL text, with values for their parameters, in order.
    ///
    /// The effect is the same as ``execute(sql:arguments:)`` with a list of the values, but no list is
    /// created if the statement is cached.
    ///
    /// ```swift
    /// try db.execute(sql: "UPDATE item SET weight = ? WHERE name = ?", values: 12, "lamp")
    /// ```
    ///
    /// - Throws: a ``DatabaseError`` if a statement does not compile or fails, or if values are missing or
    ///   remain. Statements before the failed one have been executed.
    @inlinable
    public func execute<First: DatabaseValueConvertible, each Other: DatabaseValueConvertible>(
        sql: String, values first: First, _ others: repeat each Other
    ) throws {
        if let statement = keptStatement(sql) {
            defer { statement.releaseArguments() }
            return try statement.execute(values: first, repeat each others)
        }
        var values = [first.databaseValue]
        for other in repeat each others { values.append(other.databaseValue) }
        try execute(sql: sql, arguments: StatementArguments(values))
    }

    @usableFromInline
    func keptStatement(_ sql: String) -> Statement? { statementCaches.find(sql, for: .execution) }
}
