internal import SQLCipherBridge

extension Database {
    /// Adds an SQL function or aggregate. It replaces one with the same name and number of arguments.
    ///
    ///     db.add(
    ///         function: DatabaseFunction("kilograms", argumentCount: 1, pure: true) { arguments in
    ///             Double.fromDatabaseValue(arguments[0]).map { $0 / 1000 }
    ///         })
    ///
    /// - Precondition: the name has at most 255 bytes, the function has at most 127 arguments, and no
    ///   statement is running if it replaces another function.
    public func add(function: DatabaseFunction) {
        register("The function \(function.name) could not be added") { () throws(EngineError) in
            try function.install(on: handle)
        }
        additions.add(function)
    }

    /// Removes an SQL function or aggregate.
    ///
    /// - Precondition: no statement is running.
    public func remove(function: DatabaseFunction) {
        register("The function \(function.name) could not be removed") { () throws(EngineError) in
            try function.uninstall(from: handle)
        }
        additions.remove(function)
    }

    /// Adds a collation. It replaces one with the same name.
    ///
    /// - Precondition: no statement is running if it replaces another collation.
    public func add(collation: DatabaseCollation) {
        register("The collation \(collation.name) could not be added") { () throws(EngineError) in
            try collation.install(on: handle)
        }
        additions.add(collation)
    }

    /// Removes a collation.
    ///
    /// - Precondition: no statement is running.
    public func remove(collation: DatabaseCollation) {
        register("The collation \(collation.name) could not be removed") { () throws(EngineError) in
            try collation.uninstall(from: handle)
        }
        additions.remove(collation)
    }

    private func register(_ message: String, _ body: () throws(EngineError) -> Void) {
        checkIsUsedInItsAccess()
        guard !isAwaitingFile else { return }
        precondition(!isClosed, "\(message): the connection is closed.")
        do {
            try body()
        } catch {
            fatalError("\(message): \(error.words).")
        }
    }
}
