/// The statements that a connection keeps for reuse.
///
/// Those of the application and those of the library are apart: the library reuses its own in the middle of an iteration over a statement
/// that the application got for the same text.
struct StatementCaches {
    var application = StatementCache(capacity: 500)
    var library = StatementCache(capacity: 500)
    var requests = StatementCache(capacity: 500)
    var singleResults = StatementCache(capacity: 500)
    var executions = StatementCache(capacity: 500)

    mutating func remove(_ statement: Statement) {
        application.remove(statement)
        library.remove(statement)
        requests.remove(statement)
        singleResults.remove(statement)
        executions.remove(statement)
    }

    mutating func removeAll() { self = StatementCaches() }
}

/// Statements by their SQL text.
struct StatementCache {
    private var statements: [String: Statement] = [:]

    /// How many statements are kept before the cache starts anew. A statement costs some kilobytes.
    private let capacity: Int

    init(capacity: Int) {
        self.capacity = capacity
    }

    var isEmpty: Bool { statements.isEmpty }

    subscript(sql: String) -> Statement? { statements[sql] }

    /// The statement that is kept for this text, if nobody else holds it: neither a cursor nor the application.
    mutating func unusedStatement(for sql: String) -> Statement? {
        guard let index = statements.index(forKey: sql), isKnownUniquelyReferenced(&statements.values[index]) else { return nil }
        return statements.values[index]
    }

    mutating func insert(_ statement: Statement, for sql: String) {
        if statements.count >= capacity {
            statements.removeAll(keepingCapacity: true)
        }
        statements[sql] = statement
    }

    mutating func remove(_ statement: Statement) {
        statements = statements.filter { $0.value !== statement }
    }
}
