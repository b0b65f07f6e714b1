/// The statements that a connection keeps for reuse, by their SQL text.
///
/// The statements of the application and those of the library are apart: the library reuses its own in the middle of an iteration
/// over a statement that the application got for the same text.
struct StatementCache {
    private var statements: [String: Statement] = [:]

    /// How many statements are kept before the cache starts anew. A statement costs some kilobytes.
    private let capacity: Int

    init(capacity: Int) {
        self.capacity = capacity
    }

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

    mutating func removeAll() {
        statements.removeAll()
    }
}
