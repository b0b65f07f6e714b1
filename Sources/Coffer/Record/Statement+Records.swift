internal import SQLCipherBridge

// The values of records and their keys are bound directly, without a list of arguments.

extension Statement {
    /// Returns the statement, unless it is running and has called the function that asks for it.
    var ifFree: Statement? { unsafe isStepping ? nil : self }

    /// Executes a statement of a record plan.
    ///
    /// - Parameter positions: the positions of the values in the container, in the order of the parameters;
    ///   nil means all.
    func execute(_ db: Database, _ container: PersistenceContainer, positions: [Int]?) throws {
        db.checkIsUsedInItsAccess()
        try resetForExecution()
        forgetArguments()
        if let positions {
            for (parameter, position) in positions.enumerated() {
                try bind(
                    container.values[position], at: CInt(truncatingIfNeeded: parameter + 1), of: container,
                    positions)
            }
        } else {
            for parameter in container.values.indices {
                try bind(
                    container.values[parameter], at: CInt(truncatingIfNeeded: parameter + 1), of: container,
                    nil)
            }
        }
        try beginExecution(db)
        try run(in: db) { recordArguments(of: container, positions) }
    }

    private func bind(
        _ value: PersistenceValue, at index: CInt, of container: PersistenceContainer, _ positions: [Int]?
    ) throws {
        let code = bind(value, at: index)
        if code == EngineCode.ok { return }
        recordArguments(of: container, positions)
        try failBinding(code)
    }

    /// Records the values as arguments, for the error that is about to be thrown.
    private func recordArguments(of container: PersistenceContainer, _ positions: [Int]?) {
        recordArguments((positions ?? Array(container.indices)).map(container.databaseValue(at:)))
    }

    /// Prepares the statement for its first step, with a key as its last argument.
    ///
    /// - Parameter rowIDTable: the table whose row ID the key is; nil if it is not a row ID.
    func beginExecution(
        bindingKey key: any DatabaseValueConvertible, after values: [DatabaseValue], rowIDTable: String?
    ) throws {
        let database = database
        database.checkIsUsedInItsAccess()
        if values.isEmpty {
            try resetForExecution()
            forgetArguments()
        } else {
            try bind(values + [.null], recording: StatementArguments())
        }
        let index = CInt(truncatingIfNeeded: values.count + 1)
        fetchedRow = nil
        let code: CInt
        switch key.persistenceValue {
        case .int(let rowID):
            code = handle.bind(Int64(rowID), at: index)
            if let rowIDTable { fetchedRow = (rowIDTable, Int64(rowID)) }
        case .int64(let rowID):
            code = handle.bind(rowID, at: index)
            if let rowIDTable { fetchedRow = (rowIDTable, rowID) }
        case .string(let text): code = boundTexts.bind(text, to: handle, at: index)
        default: code = unsafe key.bind(to: sqliteStatement, at: index)
        }
        guard code == EngineCode.ok else { try failBinding(code) }
        try beginExecution(database)
    }
}
