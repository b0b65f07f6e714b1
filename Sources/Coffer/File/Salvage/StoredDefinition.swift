internal import SQLCipherBridge

/// A statement that a damaged database stores in its schema, to be executed in a new one.
///
/// It may be anything: the engine compiles the schema of a database that it opens without a look at what the
/// statements do, and a salvage has no engine that has opened the old one. It may do what makes one table,
/// index or virtual table of the name that it is stored under, and nothing else: a `CREATE TABLE ... AS
/// SELECT` would compute rows for as long as its `SELECT` likes.
struct StoredDefinition {
    enum Kind {
        case table, index, virtualTable, view, trigger
    }

    let kind: Kind
    let name: String
    let sql: String

    /// - Throws: what the engine says, and `SQLITE_AUTH` for a statement that does something else.
    func execute(on connection: ConnectionHandle) throws {
        // What is made by the definition of a table that makes another one is taken back.
        guard kind == .table else { return try executeChecked(on: connection) }
        try connection.execute("SAVEPOINT definition")
        do {
            try executeChecked(on: connection)
            try connection.execute("RELEASE definition")
        } catch {
            // Some errors roll back all of it.
            if !connection.isAutocommit {
                try connection.execute("ROLLBACK TO definition; RELEASE definition")
            }
            throw error
        }
    }

    private func executeChecked(on connection: ConnectionHandle) throws {
        var (isInVirtualTable, isMade) = (false, false)
        let authorizer = AuthorizerHook { request in
            // A virtual table makes its own tables, by statements of its own, once it is about to be made.
            if isInVirtualTable { return .allow }
            if request.action == .createVirtualTable, kind == .virtualTable, isNamed(request.first) {
                (isInVirtualTable, isMade) = (true, true)
                return .allow
            }
            if makes(request) { isMade = true }
            return allows(request) ? .allow : .deny
        }
        authorizer.install(on: connection)
        defer { authorizer.remove(from: connection) }
        try connection.forEachRow(trusted: sql) { _ in }
        // The engine takes what begins with a zero, or is nothing but a comment, for nothing to be done.
        guard isMade else {
            throw EngineError(
                code: EngineCode.authorization, message: "the definition makes nothing of this name")
        }
    }

    /// Has the engine compile the definition of a virtual table, whose own tables are there already: what
    /// cannot be compiled would keep every connection from reading the schema.
    ///
    /// - Throws: what the engine says, and `SQLITE_AUTH` for a statement that does something else.
    func compile(on connection: ConnectionHandle) throws {
        var isNamedSo = false
        let authorizer = AuthorizerHook { request in
            if request.action == .createVirtualTable { isNamedSo = isNamed(request.first) }
            return request.action == .createVirtualTable && !isNamedSo ? .deny : .allow
        }
        authorizer.install(on: connection)
        defer { authorizer.remove(from: connection) }
        let statement = try connection.prepare(trusted: sql)
        // The engine takes a schema for damaged that has a definition with anything before this word.
        guard isNamedSo, statement != nil, sql.lowercased().hasPrefix("create") else {
            throw EngineError(
                code: EngineCode.authorization, message: "the definition makes no such virtual table")
        }
    }

    private func allows(_ request: AuthorizerHook.Request) -> Bool {
        switch request.action {
        case .read, .function, .reindex: true
        case .insert, .update, .delete: request.schema == "main" && request.first == "sqlite_master"
        // A table comes with the indexes of its constraints, and one that counts its row IDs with the table
        // of the counts.
        case .createTable: kind == .table && (isNamed(request.first) || request.first == "sqlite_sequence")
        case .createView: kind == .view && isNamed(request.first)
        case .createTrigger: kind == .trigger && isNamed(request.first)
        case .createIndex: isNamed(kind == .table ? request.second : request.first)
        default: false
        }
    }

    /// Whether this is what the definition is stored for.
    private func makes(_ request: AuthorizerHook.Request) -> Bool {
        switch (kind, request.action) {
        case (.table, .createTable), (.index, .createIndex), (.view, .createView), (.trigger, .createTrigger):
            isNamed(request.first)
        default: false
        }
    }

    private func isNamed(_ name: String?) -> Bool {
        name.map(CaseInsensitiveName.init) == CaseInsensitiveName(self.name)
    }
}
