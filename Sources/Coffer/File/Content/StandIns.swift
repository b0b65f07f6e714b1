internal import SQLCipherBridge

/// Placeholders for an application's collations and functions on one connection, so that statements that name
/// them can be compiled.
///
/// Reading rows does not call them, and neither does copying records unchanged. A statement that calls one
/// fails, or is found by ``check()``, so no result depends on a placeholder.
final class StandIns {
    private let connection: ConnectionHandle
    private let answers = Answers()
    private var collations: Set<CaseInsensitiveName> = []
    private var functions: Set<CaseInsensitiveName> = []
    private var knownCollations = Set(["BINARY", "NOCASE", "RTRIM"].map(CaseInsensitiveName.init))

    /// The shared state of the placeholders.
    private final class Answers {
        /// The error for the first placeholder that was called.
        var missing: EngineError?

        /// The result of every comparison; nil if no constant result would be right.
        var order: CInt?

        /// True while the results of functions are not stored anywhere.
        var hasIdleFunctions = false

        /// The error for the first function that was called in that time.
        var idle: EngineError?

        func note(_ definition: EngineError.MissingDefinition) -> EngineError {
            let error = EngineError(missing: definition)
            missing = missing ?? error
            return error
        }
    }

    init(on connection: ConnectionHandle) { self.connection = connection }

    // MARK: Adding

    /// Adds the given collations that the connection does not know.
    func add(collations names: [String]) throws {
        guard try !unknown(names).isEmpty else { return }
        for name in try unknown(names) { try add(.collation(name)) }
        // An index with a missing collation stays unusable until the schema is read again.
        try connection.forgetSchema()
    }

    /// Returns the given collations that the connection does not know.
    private func unknown(_ names: [String]) throws -> [String] {
        var result: [String] = []
        for name in names {
            let key = CaseInsensitiveName(name)
            guard !knownCollations.contains(key), !collations.contains(key) else { continue }
            if try isMissing(name) { result.append(name) } else { knownCollations.insert(key) }
        }
        return result
    }

    /// Asks the engine to compile a comparison. Its list of collations cannot be used, because it includes
    /// collations that are only named in a schema.
    private func isMissing(_ collation: String) throws -> Bool {
        let comparison = "SELECT '' < '' COLLATE \(collation.quotedDatabaseIdentifier)"
        do {
            _ = try connection.prepare(trusted: comparison)
            return false
        } catch {
            guard error.missingDefinition != nil else { throw error }
            return true
        }
    }

    /// Throws the engine's error for the first of the given collations that the connection does not know.
    func checkKnows(_ names: [String]) throws {
        if let name = try unknown(names).first { throw EngineError(missing: .collation(name)) }
    }

    private func add(_ definition: EngineError.MissingDefinition) throws {
        let answers = answers
        switch definition {
        case .collation(let name):
            collations.insert(CaseInsensitiveName(name))
            try connection.createCollation(name) { _, _ in
                if let order = answers.order { return order }
                _ = answers.note(definition)
                return 0
            }
        case .function(let name):
            functions.insert(CaseInsensitiveName(name))
            try connection.createFunction(name, argumentCount: -1, isDeterministic: true) { context, _ in
                guard answers.hasIdleFunctions else { return context.set(answers.note(definition)) }
                answers.idle = answers.idle ?? EngineError(missing: definition)
                context.set(Int64(0))
            }
        }
    }

    /// Runs `body` repeatedly, adding the definition that it was missing each time, until nothing is missing.
    ///
    /// - Parameter note: called with each added definition.
    func adding<Result>(
        _ note: (EngineError.MissingDefinition) -> Void = { _ in }, whileMissing body: () throws -> Result
    ) throws -> Result {
        while true {
            do {
                return try body()
            } catch let error as EngineError {
                guard let definition = error.missingDefinition, !has(definition) else { throw error }
                try add(definition)
                note(definition)
            }
        }
    }

    /// Returns true if a definition may name one of the placeholders: its text contains the name.
    func mayBeNamed(in sql: String) -> Bool {
        guard !collations.isEmpty || !functions.isEmpty else { return false }
        let text = sql.foldingASCIICase()
        return collations.union(functions).contains { text.contains($0.spelling.foldingASCIICase()) }
    }

    private func has(_ definition: EngineError.MissingDefinition) -> Bool {
        switch definition {
        case .collation(let name): collations.contains(CaseInsensitiveName(name))
        case .function(let name): functions.contains(CaseInsensitiveName(name))
        }
    }

    // MARK: Answering

    /// Returns true if one of the given collations is a placeholder.
    func replacesAny(of names: [String]) -> Bool {
        names.contains { collations.contains(CaseInsensitiveName($0)) }
    }

    /// Runs `body`, which inserts rows or index entries in the order of an existing b-tree.
    ///
    /// Each one then belongs after all existing ones, so every comparison has the same known result, even if
    /// only the application knows the order. This does not work if some keys ascend and others descend.
    func inOrder(of table: String, _ body: () throws -> Void) throws {
        defer { answers.order = nil }
        answers.order = try order(of: table)
        try body()
    }

    /// Runs `body`, which inserts rows without storing any results of functions.
    func withIdleFunctions(_ body: () throws -> Void) throws {
        answers.hasIdleFunctions = true
        defer { (answers.hasIdleFunctions, answers.idle) = (false, nil) }
        do {
            try body()
        } catch {
            // A constraint may have refused the placeholder's result, zero.
            answers.missing = answers.missing ?? answers.idle
            throw error
        }
    }

    /// Returns the result of comparing any entry with a later one.
    private func order(of table: String) throws -> CInt? {
        guard !collations.isEmpty else { return nil }
        var directions: Set<Bool> = []
        let indexes = "PRAGMA main.index_list(\(table.quotedDatabaseIdentifier))"
        for index in try connection.identifiers(1, trusted: indexes) {
            try connection.forEachRow(trusted: "PRAGMA main.index_xinfo(\(index.quotedDatabaseIdentifier))") {
                row in
                if row.int64(at: 5) == 1, replacesAny(of: [row.string(at: 4)]) {
                    directions.insert(row.int64(at: 3) == 1)
                }
            }
        }
        guard directions.count == 1, let isDescending = directions.first else { return nil }
        return isDescending ? 1 : -1
    }

    /// - Throws: the engine's error for the first missing definition that was called.
    func check() throws {
        if let missing = answers.missing { throw missing }
    }

    // MARK: Removing

    /// Removes all placeholders, so that later structure checks report missing definitions.
    func remove() {
        for name in collations { try? connection.removeCollation(name.spelling) }
        for name in functions { try? connection.removeFunction(name.spelling, argumentCount: -1) }
        if !collations.isEmpty { try? connection.forgetSchema() }
        (collations, functions) = ([], [])
    }
}
