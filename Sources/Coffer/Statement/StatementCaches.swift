internal import SQLCipherBridge

/// The statements that a connection keeps for reuse.
///
/// What the application asks for by ``Database/cachedStatement(sql:)`` is shared by all who ask, unless it is
/// in the middle of its rows. All other statements have one user at a time: they are not handed out again
/// before nothing else holds them.
struct StatementCaches {
    /// What a statement is checked out for. Statements of the same text and of different uses are different
    /// ones.
    enum Use: Int, CaseIterable {
        /// For the application, which may hold the statement while it is handed out again.
        case application
        /// For a request, and everything that the library generates.
        case request
        /// For a request of which only the first row is wanted: what is prepared may have a limit that the
        /// text does not have.
        case firstRow
        /// For a text of the application that is executed with arguments.
        case execution
    }

    /// The texts that begin and end transactions, which each access needs: their statements are found without
    /// a text.
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

    /// The length in bytes up to which texts are kept that the application did not ask to keep. Longer ones
    /// come of long lists of values: they hardly come twice, and their statements take much memory.
    static let longestText = 4096

    private var caches = [StatementStore](repeating: StatementStore(), count: Use.allCases.count)
    private var fixed = [Statement?](repeating: nil, count: FixedText.allCases.count)

    subscript(use: Use) -> StatementStore { caches[use.rawValue] }

    subscript(text: FixedText) -> Statement? {
        get { fixed[text.rawValue] }
        set { fixed[text.rawValue] = newValue }
    }

    /// The statement that is kept for a text, if it can be used now, and reports the columns of the schema
    /// that it was prepared for.
    mutating func find(_ sql: String, for use: Use) -> Statement? {
        guard use != .application else {
            // One that is executed right now, in whose middle a function or an observer asks for it, must not
            // be reset: SQLite would go on with memory that it has freed.
            guard let statement = caches[use.rawValue][sql], !statement.handle.isBusy else { return nil }
            return statement
        }
        guard let statement = caches[use.rawValue].unusedStatement(for: sql), statement.tellsItsColumns else {
            return nil
        }
        return statement
    }

    /// Keeps a statement, unless its text hardly comes twice.
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
    /// Whether what the compilation reported still holds: SQLite has not compiled the statement again, which
    /// may read other columns since.
    var tellsItsColumns: Bool { handle.repreparationCount == 0 }
}

/// Statements by their SQL text.
///
/// A cache is limited twice, by what the Performance article measures. To find a statement costs 0.1
/// microseconds, to prepare it 7 and more, so that none that a program uses again and again should be given
/// up: most take 6 to 8 kB. But a list of 500 values takes 100 kB, and such texts, each with another number
/// of values, must not fill the memory.
struct StatementStore {
    private struct Entry {
        var statement: Statement
        var memory: Int
    }

    private var entries: [SQLText: Entry] = [:]

    /// How many statements are kept before the cache starts anew.
    private let capacity: Int

    /// How many bytes of the engine they may take before the cache starts anew. The library's own part is
    /// about as large.
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

    /// The statement that is kept for this text, if no other code holds it: neither a cursor nor the
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

/// An SQL text, equal to those with the same bytes. Strings are equal when they look the same, but SQLite
/// distinguishes a letter with an accent from the same letter and an accent.
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
