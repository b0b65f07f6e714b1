internal import SQLCipherBridge

extension Statement {
    /// The arguments that the statement is executed with.
    ///
    /// - Precondition: the arguments match the parameters of the statement. Use ``setArguments(_:)`` if they
    ///   may not.
    public var arguments: StatementArguments {
        get { boundArguments }
        set {
            do {
                try setArguments(newValue)
            } catch {
                fatalError("\(error)")
            }
        }
    }

    /// Checks that each parameter has one value, and that no value remains.
    ///
    /// - Throws: a ``DatabaseError`` with `SQLITE_MISUSE` that names the missing or extra arguments.
    public func validateArguments(_ arguments: StatementArguments) throws {
        _ = try assignment(of: arguments)
    }

    /// Validates and binds arguments.
    ///
    /// - Throws: a ``DatabaseError`` with `SQLITE_MISUSE` if the arguments do not match the parameters, and
    ///   with `SQLITE_TOOBIG` for values beyond SQLite's limits.
    public func setArguments(_ arguments: StatementArguments) throws {
        guard arguments.namedValues.isEmpty, arguments.values.count == parameterNames.count else {
            return try bind(try assignment(of: arguments), recording: arguments)
        }
        // All values are in order. Each parameter takes the next one, whatever its name, unless two
        // parameters share a name, which SQLite counts as one parameter.
        try bind(arguments.values, recording: arguments)
    }

    /// Binds arguments without checking that they match: parameters without a value are NULL, and values
    /// without a parameter are ignored.
    public func setUncheckedArguments(_ arguments: StatementArguments) {
        var remaining = arguments.values[...]
        let values: [DatabaseValue] = parameterNames.map { name in
            if let key = name?.dropFirst(), let value = arguments.namedValues[String(key)] {
                return value
            }
            return remaining.popFirst() ?? .null
        }
        do {
            try bind(values, recording: arguments)
        } catch {
            fatalError("\(error)")
        }
    }

    /// The arguments as values in the order of the parameters, for errors.
    var orderedArguments: StatementArguments {
        guard !boundArguments.namedValues.isEmpty, let values = try? assignment(of: boundArguments) else {
            return boundArguments
        }
        return StatementArguments(values: values)
    }

    /// Returns the value for each parameter, in order.
    private func assignment(of arguments: StatementArguments) throws -> [DatabaseValue] {
        var remaining = arguments.values[...]
        var missing: [String] = []
        let values: [DatabaseValue] = parameterNames.map { name in
            if let key = name.map({ String($0.dropFirst()) }) {
                if let value = arguments.namedValues[key] ?? remaining.popFirst() { return value }
                missing.append(key)
                return .null
            }
            if let value = remaining.popFirst() { return value }
            missing.append("")
            return .null
        }
        if !missing.isEmpty {
            let names = missing.filter { !$0.isEmpty }
            throw names.isEmpty || names.count < missing.count
                ? wrongNumberOfArguments(arguments.values.count)
                : error(.SQLITE_MISUSE, "missing statement argument: \(names[0])")
        }
        if !remaining.isEmpty { throw wrongNumberOfArguments(arguments.values.count) }
        return values
    }

    func wrongNumberOfArguments(_ count: Int) -> DatabaseError {
        error(.SQLITE_MISUSE, "wrong number of statement arguments: \(count)", messageIsOurs: true)
    }

    func bind(_ values: [DatabaseValue], recording arguments: StatementArguments) throws {
        try resetForExecution()
        forgetRequest()
        boundTexts.begin()
        for position in values.indices {
            let index = CInt(truncatingIfNeeded: position + 1)
            let code =
                if case .string(let text) = values[position].storage {
                    boundTexts.bind(text, to: handle, at: index)
                } else {
                    unsafe values[position].bind(to: sqliteStatement, at: index)
                }
            if code != EngineCode.ok {
                boundArguments = arguments
                try failBinding(code)
            }
        }
        boundArguments = arguments
        areArgumentsValid = true
    }

    /// Throws the error for arguments that SQLite refused. The statement has no arguments afterwards.
    func failBinding(_ code: CInt) throws -> Never {
        let error = error(ResultCode(rawValue: code), ConnectionHandle.describe(code), boundArguments)
        areArgumentsValid = false
        boundArguments = StatementArguments()
        handle.clearBindings()
        throw error
    }

    /// Forgets the arguments, because others are about to be bound without a list.
    func forgetArguments() {
        forgetRequest()
        if !boundArguments.isEmpty { boundArguments = StatementArguments() }
        boundTexts.begin()
        areArgumentsValid = true
    }

    /// Removes the arguments from SQLite's statement, so that they do not apply if the application steps it
    /// itself. The next execution binds them again.
    func unbindArguments() {
        // An observer of the execution may be executing the statement again.
        guard !parameterNames.isEmpty, !handle.isBusy else { return }
        handle.clearBindings()
        areArgumentsValid = false
    }

    /// Releases the arguments and SQLite's copies of them, which may be large, because the statement is kept
    /// for a long time.
    @usableFromInline
    func releaseArguments() {
        guard !parameterNames.isEmpty else { return }
        boundArguments = StatementArguments()
        handle.clearBindings()
        boundTexts.begin()
        areArgumentsValid = false
    }

    /// Records values as arguments, for the error that is about to be thrown.
    func recordArguments(_ values: [DatabaseValue]) { boundArguments = StatementArguments(values: values) }
}
