internal import SQLCipherBridge

/// The statements that a connection keeps for reuse.
///
/// Statements that the application gets from ``Database/cachedStatement(sql:)`` are shared by all its
/// callers, unless they are in the middle of their rows. All other statements have one user at a time: they
/// are not handed out again while anything else holds them.
struct StatementCaches {
    /// The use that a statement is checked out for. Statements with the same text but different uses are
    /// separate.
    enum Use: Int, CaseIterable {
        /// For the application, which may hold the statement while it is handed out again.
        case application
        /// For a request, and everything that the library generates.
        case request
        /// For a request that needs only the first row. The prepared SQL may have a limit that the cached
        /// text does not have.
        case firstRow
        /// For an SQL text of the application that is executed with arguments.
        case execution
    }

    /// The texts that begin and end transactions, which every access needs. Their statements are found by
    /// index instead of by text.
    enum FixedText: Int, CaseIterable {
        case beginDeferred, beginImmediate, beginExclusive, commit, rollback, savepoint, rollbackToSavepoint,
            releaseSavepoint

        var sql: String {
            switch self {
            case .beginDeferred: "BEGIN DEFERRED TRANSACTION"
            case .beginImmediate: "BEGIN IMMEDIATE TRANSACTION"
            case .beginExclusive: "BEGIN EXCLUSIVE TRANSACTION"
            case .commit: "COMMIT TRANSACTION"
            case .rollback: "ROLLBACK TRANSACTION"
            case .savepoint: "SAVEPOINT grdb"
            case .rollbackToSavepoint: "ROLLBACK TRANSACTION TO SAVEPOINT grdb"
            case .releaseSavepoint: "RELEASE SAVEPOINT grdb"
            }
        }
    }

    /// The maximum length in bytes of cached texts that the application did not ask to cache. Longer texts
    /// come from long lists of values: they rarely repeat, and their statements use much memory.
    static let longestText = 4096

    private var caches = [StatementStore](repeating: StatementStore(), count: Use.allCases.count)
    private var fixed = [Statement?](repeating: nil, count: FixedText.allCases.count)

    subscript(use: Use) -> StatementStore { caches[use.rawValue] }

    subscript(text: FixedText) -> Statement? {
        get { fixed[text.rawValue] }
        set { fixed[text.rawValue] = newValue }
    }

    /// Returns the cached statement for a text, if it is unused and still has the columns of the schema that
    /// it was prepared for.
    mutating func find(_ sql: String, for use: Use) -> Statement? {
        guard use != .application else {
            // A statement that is currently executing, which a function or an observer asks for, must not be
            // reset: SQLite would continue with memory that it has freed.
            guard let statement = caches[use.rawValue][sql], !statement.handle.isBusy else { return nil }
            return statement
        }
        guard let statement = caches[use.rawValue].unusedStatement(for: sql), statement.tellsItsColumns else {
            return nil
        }
        return statement
    }

    /// Caches a statement, unless its text is too long to be likely to repeat.
    mutating func insert(_ statement: Statement, _ sql: String, for use: Use) {
        guard use == .application || sql.utf8.count <= StatementCaches.longestText else { return }
        caches[use.rawValue].insert(statement, for: sql)
    }

    mutating func remove(_ statement: Statement) {
        for use in caches.indices { caches[use].remove(statement) }
    }

    mutating func removeAll() { self = StatementCaches() }
}

extension Statement {
    /// True if the facts from the compilation are still valid: SQLite has not compiled the statement again,
    /// after which it may read other columns.
    var tellsItsColumns: Bool { handle.repreparationCount == 0 }
}

/// A cache of statements by their SQL text.
///
/// The cache has two limits, based on the measurements in the Performance article. Finding a statement costs
/// 0.1 microseconds and preparing it at least 7, so statements that a program uses repeatedly should stay
/// cached: most take 6 to 8 kB. But a list of 500 values takes 100 kB, and such texts, each with a different
/// number of values, must not fill the memory.
struct StatementStore {
    private struct Entry {
        var statement: Statement
        var memory: Int
    }

    private var entries: [SQLText: Entry] = [:]

    /// The maximum number of statements. The cache is emptied when it is reached.
    private let capacity: Int

    /// The maximum engine memory of the statements in bytes. The cache is emptied when it is exceeded. The
    /// library's own part is about as large.
    private let memoryLimit: Int

    /// The engine memory of the statements in bytes, measured when they were inserted.
    private(set) var memory = 0

    init(capacity: Int = 500, memoryLimit: Int = 2 * 1024 * 1024) {
        self.capacity = capacity
        self.memoryLimit = memoryLimit
    }

    var isEmpty: Bool { entries.isEmpty }
    var count: Int { entries.count }

    subscript(sql: String) -> Statement? { entries[SQLText(sql)]?.statement }

    /// Returns the cached statement for this text, if nothing else holds it: neither a cursor nor the
    /// application.
    mutating func unusedStatement(for sql: String) -> Statement? {
        guard let index = entries.index(forKey: SQLText(sql)),
            isKnownUniquelyReferenced(&entries.values[index].statement)
        else {
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

/// An SQL text, compared by bytes. Strings compare by canonical equivalence, but SQLite distinguishes a
/// precomposed accented letter from a letter followed by a combining accent.
private struct SQLText: Hashable {
    let sql: String

    init(_ sql: String) { self.sql = sql }

    static func == (lhs: SQLText, rhs: SQLText) -> Bool { lhs.sql.hasSameBytes(as: rhs.sql) }

    func hash(into hasher: inout Hasher) {
        let isHashed: Void? = unsafe sql.utf8.withContiguousStorageIfAvailable {
            unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0))
        }
        if isHashed == nil { for byte in sql.utf8 { hasher.combine(byte) } }
    }
}
