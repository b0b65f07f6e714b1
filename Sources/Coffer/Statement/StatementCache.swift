internal import SQLCipherBridge

/// The statements that a connection keeps for reuse.
///
/// Those of the application and those of the library are apart: the library reuses its own in the middle of an iteration over a statement
/// that the application got for the same text.
struct StatementCaches {
    var application = StatementCache()
    var library = StatementCache()
    var requests = StatementCache()
    var singleResults = StatementCache()
    var executions = StatementCache()

    var beginDeferred: Statement?
    var beginImmediate: Statement?
    var beginExclusive: Statement?
    var commit: Statement?

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
///
/// A cache is limited twice, by what the Performance article measures. To find a statement costs 0.1 microseconds, to prepare it 7 and more, so
/// that none that a program uses again and again should be given up: most take 6 to 8 kB. But a list of 500 values takes 100 kB, and such
/// texts, each with another number of values, must not fill the memory.
struct StatementCache {
    private struct Entry {
        var statement: Statement
        var memory: Int
    }

    private var entries: [SQLText: Entry] = [:]

    /// How many statements are kept before the cache starts anew.
    private let capacity: Int

    /// How many bytes of the engine they may take before the cache starts anew. The library's own part is about as large.
    private let memoryLimit: Int

    /// How many bytes of the engine the statements took when they were inserted.
    private(set) var memory = 0

    init(capacity: Int = 500, memoryLimit: Int = 2 * 1024 * 1024) {
        self.capacity = capacity
        self.memoryLimit = memoryLimit
    }

    var isEmpty: Bool { entries.isEmpty }
    var count: Int { entries.count }

    subscript(sql: String) -> Statement? { entries[SQLText(sql)]?.statement }

    /// The statement that is kept for this text, if nobody else holds it: neither a cursor nor the application.
    mutating func unusedStatement(for sql: String) -> Statement? {
        guard let index = entries.index(forKey: SQLText(sql)), isKnownUniquelyReferenced(&entries.values[index].statement) else {
            return nil
        }
        return entries.values[index].statement
    }

    mutating func insert(_ statement: Statement, for sql: String) {
        let sql = SQLText(sql)
        let added = statement.handle.memoryUsed
        if let replaced = entries.removeValue(forKey: sql) { memory -= replaced.memory }
        if entries.count >= capacity || memory + added > memoryLimit {
            entries.removeAll(keepingCapacity: true)
            memory = 0
        }
        entries[sql] = Entry(statement: statement, memory: added)
        memory += added
    }

    mutating func remove(_ statement: Statement) {
        entries = entries.filter { $0.value.statement !== statement }
        memory = entries.values.reduce(0) { $0 + $1.memory }
    }
}

/// An SQL text, equal to those with the same bytes. Strings are equal when they look the same, but SQLite tells a letter with an accent from the
/// same letter and an accent.
private struct SQLText: Hashable {
    let sql: String

    init(_ sql: String) { self.sql = sql }

    static func == (lhs: SQLText, rhs: SQLText) -> Bool { lhs.sql.hasSameBytes(as: rhs.sql) }

    func hash(into hasher: inout Hasher) {
        let isHashed: Void? = unsafe sql.utf8.withContiguousStorageIfAvailable { unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        if isHashed == nil { for byte in sql.utf8 { hasher.combine(byte) } }
    }
}
