/// An in-memory database for checking patterns and tokenizers without a connection of the application.
///
/// It contains only empty full-text tables. Texts and patterns are passed as arguments of statements and are
/// never stored. It calls no code of the application, so it can be used inside any database access.
enum FullTextLaboratory {
    private static let queue = Result {
        let queue = try DatabaseQueue()
        try queue.inDatabase { db in
            try db.create(virtualTable: "fts3", using: "fts3(\(noColumn))")
            try db.create(virtualTable: "fts5", using: "fts5(\(noColumn))")
            try db.create(virtualTable: "simple", using: "fts3tokenize(simple)")
        }
        return queue
    }

    /// The column of tables that must have one. Its name is unlikely to occur in a pattern, and a pattern
    /// that names it should be rejected.
    private static let noColumn = "coffer_no_column"

    // MARK: Tokens

    static func fts3Tokens(of string: String, _ tokenizer: FTS3TokenizerDescriptor) throws -> [String] {
        try queue.get().inDatabase { db in
            guard tokenizer.name != "simple" || !tokenizer.arguments.isEmpty else {
                return try fts3Tokens(of: string, in: "simple", db)
            }
            return try temporarily(db) {
                let arguments = [tokenizer.name] + tokenizer.arguments.map(\.quotedDatabaseIdentifier)
                try db.create(
                    virtualTable: "other", using: VirtualTableSQL.module("fts3tokenize", arguments: arguments)
                )
                return try fts3Tokens(of: string, in: "other", db)
            }
        }
    }

    private static func fts3Tokens(of string: String, in table: String, _ db: Database) throws -> [String] {
        let statement = try db.checkOut(
            "SELECT token FROM \(table) WHERE input = ? ORDER BY position", for: .request)
        return try String.fetchAll(statement, arguments: [string])
    }

    /// Returns the words of a searched text, without synonyms.
    static func fts5Tokens(of string: String) throws -> [String] {
        try queue.get().inDatabase { db in
            try db.makeTokenizer(.ascii()).tokenize(query: string).filter { !$0.flags.contains(.colocated) }
                .map(\.token)
        }
    }

    // MARK: Patterns

    /// - Throws: a ``DatabaseError`` if the pattern is not valid.
    static func checkFTS3(_ pattern: String) throws {
        // Only engines with the extended query syntax reject an operator without operands. With the others,
        // the pattern would search for the word "not", which is hardly intended.
        guard pattern.split(separator: " ") != ["NOT"] else {
            throw DatabaseError(message: "malformed MATCH expression: [\(pattern)]")
        }
        try queue.get().inDatabase { db in try check(pattern, in: "fts3", db) }
    }

    /// - Parameter columns: the columns that the pattern may name.
    /// - Throws: a ``DatabaseError`` if the pattern is not valid, or a table cannot have such columns.
    static func checkFTS5(_ pattern: String, columns: [String]) throws {
        try queue.get().inDatabase { db in
            guard !columns.isEmpty else { return try check(pattern, in: "fts5", db) }
            try temporarily(db) {
                // A full-text table must not have a column with the table's own name.
                let table = "other".unique(among: Set(columns.map(CaseInsensitiveName.init)))
                try db.create(virtualTable: table, using: FTS5()) { t in columns.forEach { t.column($0) } }
                try check(pattern, in: table, db)
            }
        }
    }

    private static func check(_ pattern: String, in table: String, _ db: Database) throws {
        // SQLite would search for the text before the NUL character, and ignore the rest.
        guard !pattern.utf8.contains(0) else {
            throw DatabaseError(message: "A pattern must not contain a NUL character.")
        }
        let table = table.quotedDatabaseIdentifier
        do {
            let statement = try db.checkOut("SELECT 1 FROM \(table) WHERE \(table) MATCH ?", for: .request)
            _ = try Row.fetchOne(statement, arguments: [pattern])
        } catch let error as DatabaseError {
            // The SQL of the error is left out, as the application did not write it.
            throw DatabaseError(resultCode: error.extendedResultCode, message: error.message)
        }
    }

    /// Runs `body`, and rolls back its changes.
    private static func temporarily<T>(_ db: Database, _ body: () throws -> T) throws -> T {
        try db.transaction(endingWith: .rollback, body)
    }
}
