/// A database in memory where patterns and tokenizers are tried, which need no connection of the program.
///
/// It is empty but for its full-text tables. Texts that are tokenized, and patterns that are tried, are
/// arguments of statements: they are never stored. It calls nothing of the program, so that it can be used
/// inside of any database access.
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

    /// A column for tables that have to have one. A pattern that names it is not meant to be accepted, and
    /// nobody would write it.
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

    /// The words of a text that is searched for, without synonyms.
    static func fts5Tokens(of string: String) throws -> [String] {
        try queue.get().inDatabase { db in
            try db.makeTokenizer(.ascii()).tokenize(query: string).filter { !$0.flags.contains(.colocated) }
                .map(\.token)
        }
    }

    // MARK: Patterns

    /// - Throws: a ``DatabaseError`` if the pattern cannot be searched for.
    static func checkFTS3(_ pattern: String) throws {
        try queue.get().inDatabase { db in try check(pattern, in: "fts3", db) }
    }

    /// - Parameter columns: those that the pattern may name.
    /// - Throws: a ``DatabaseError`` if the pattern cannot be searched for, or the table cannot have such
    ///   columns.
    static func checkFTS5(_ pattern: String, columns: [String]) throws {
        try queue.get().inDatabase { db in
            guard !columns.isEmpty else { return try check(pattern, in: "fts5", db) }
            try temporarily(db) {
                // No column of a full-text table has the name of the table.
                let names = Set(columns.map(CaseInsensitiveName.init))
                var table = "other"
                while names.contains(CaseInsensitiveName(table)) { table += "_" }
                try db.create(virtualTable: table, using: FTS5()) { t in columns.forEach { t.column($0) } }
                try check(pattern, in: table, db)
            }
        }
    }

    private static func check(_ pattern: String, in table: String, _ db: Database) throws {
        // SQLite would search for what is before it, and ignore the rest.
        guard !pattern.utf8.contains(0) else {
            throw DatabaseError(message: "A pattern must not contain a NUL character.")
        }
        let table = table.quotedDatabaseIdentifier
        do {
            let statement = try db.checkOut("SELECT 1 FROM \(table) WHERE \(table) MATCH ?", for: .request)
            _ = try Row.fetchOne(statement, arguments: [pattern])
        } catch let error as DatabaseError {
            // The statement is none of the program's.
            throw DatabaseError(resultCode: error.extendedResultCode, message: error.message)
        }
    }

    /// Runs `body`, and takes back what it has created.
    private static func temporarily<T>(_ db: Database, _ body: () throws -> T) throws -> T {
        try db.transaction(endingWith: .rollback, body)
    }
}
