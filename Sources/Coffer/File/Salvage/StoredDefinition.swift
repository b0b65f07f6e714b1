internal import SQLCipherBridge

/// A statement from the schema of a damaged database, to be executed in a new one.
///
/// The statement may be anything. When the engine opens a database, it compiles the statements of the schema
/// without checking their effects, and a salvage does not even open the old database with the engine. So an
/// authorizer limits the statement to creating the one object that it is stored for. For example, a `CREATE
/// TABLE ... AS SELECT` could compute rows forever.
struct StoredDefinition {
    enum Kind {
        case table, index, virtualTable, view, trigger
    }

    let kind: Kind
    let name: String
    let sql: String

    /// - Throws: the engine's error, or `SQLITE_AUTH` for a statement that does anything else.
    func execute(on connection: ConnectionHandle) throws {
        // The savepoint undoes a definition that creates another table in addition to its own.
        guard kind == .table else { return try executeChecked(on: connection) }
        try connection.execute("SAVEPOINT definition")
        do {
            try executeChecked(on: connection)
            try connection.execute("RELEASE definition")
        } catch {
            // Some errors roll back the whole transaction.
            if !connection.isAutocommit {
                try connection.execute("ROLLBACK TO definition; RELEASE definition")
            }
            throw error
        }
    }

    private func executeChecked(on connection: ConnectionHandle) throws {
        var (isInVirtualTable, isMade) = (false, false)
        let authorizer = AuthorizerHook { request in
            // While a virtual table is being created, it creates its own tables with its own statements.
            if isInVirtualTable { return .allow }
            if request.action == .createVirtualTable, kind == .virtualTable, isNamed(request.firstIdentifier)
            {
                (isInVirtualTable, isMade) = (true, true)
                return .allow
            }
            if makes(request) { isMade = true }
            return allows(request) ? .allow : .deny
        }
        authorizer.install(on: connection)
        defer { authorizer.remove(from: connection) }
        try connection.forEachRow(trusted: sql) { _ in }
        // The engine silently ignores text that starts with a zero byte, or consists of comments only.
        guard isMade else {
            throw EngineError(
                code: EngineCode.authorization,
                message:
                    "the definition does not create an object of this name")
        }
    }

    /// Compiles the definition of a virtual table whose shadow tables already exist. A definition that cannot
    /// be compiled would keep every connection from reading the schema.
    ///
    /// - Throws: the engine's error, or `SQLITE_AUTH` for a statement that does anything else.
    func compile(on connection: ConnectionHandle) throws {
        var isNamedSo = false
        let authorizer = AuthorizerHook { request in
            if request.action == .createVirtualTable { isNamedSo = isNamed(request.firstIdentifier) }
            return request.action == .createVirtualTable && !isNamedSo ? .deny : .allow
        }
        authorizer.install(on: connection)
        defer { authorizer.remove(from: connection) }
        let statement = try connection.prepare(trusted: sql)
        // The engine rejects a schema with a definition that has anything before this word.
        guard isNamedSo, statement != nil, sql.lowercased().hasPrefix("create") else {
            throw EngineError(
                code: EngineCode.authorization, message: "the definition does not create this virtual table")
        }
    }

    private func allows(_ request: AuthorizerHook.Request) -> Bool {
        switch request.action {
        case .read, .function, .reindex: true
        case .insert, .update, .delete: request.schema == "main" && request.first == "sqlite_master"
        // A table comes with the indexes of its constraints, and an `AUTOINCREMENT` table with
        // `sqlite_sequence`.
        case .createTable:
            kind == .table && (isNamed(request.firstIdentifier) || request.first == "sqlite_sequence")
        case .createView: kind == .view && isNamed(request.firstIdentifier)
        case .createTrigger: kind == .trigger && isNamed(request.firstIdentifier)
        case .createIndex: isNamed(kind == .table ? request.secondIdentifier : request.firstIdentifier)
        default: false
        }
    }

    /// Returns true if the request creates the object that the definition is stored for.
    private func makes(_ request: AuthorizerHook.Request) -> Bool {
        switch (kind, request.action) {
        case (.table, .createTable), (.index, .createIndex), (.view, .createView), (.trigger, .createTrigger):
            isNamed(request.firstIdentifier)
        default: false
        }
    }

    private func isNamed(_ name: String?) -> Bool {
        name.map(CaseInsensitiveName.init) == CaseInsensitiveName(self.name)
    }
}
