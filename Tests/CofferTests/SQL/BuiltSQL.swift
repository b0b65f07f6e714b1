import Coffer

/// The SQL text and arguments of a literal.
struct BuiltSQL: Equatable, CustomStringConvertible {
    var sql: String
    var arguments: StatementArguments

    init(_ sql: String, _ arguments: StatementArguments = []) {
        self.sql = sql
        self.arguments = arguments
    }

    /// Builds a literal for an in-memory database.
    init(building literal: SQL) throws {
        (sql, arguments) = try DatabaseQueue().read { try literal.build($0) }
    }

    var description: String { "\(sql) \(arguments)" }
}

/// Texts that could end literals, identifiers, comments or statements.
let hostileTexts = [
    "O'Brien",
    "'; DROP TABLE canary; --",
    "\"; DROP TABLE canary; --",
    "\"\"; DROP TABLE canary; --",
    "a\" FROM canary; DELETE FROM canary; SELECT \"b",
    "x) ; DELETE FROM canary ; --",
    "]; DROP TABLE canary; --",
    "`; DROP TABLE canary; --",
    "*/ DROP TABLE canary; /*",
    "?1", ":name", "@name", "$name", "?",
    "\\", "\\\"", "%s", "\u{2019}", "\u{FF02}; DROP TABLE canary; --",
    "\"\u{301}; DROP TABLE canary; --",
    "line\nfeed\r\n--", "select", "", " ",
]

/// Makes a database with a table that must survive.
func makeCanaryQueue() throws -> DatabaseQueue {
    let queue = try DatabaseQueue()
    try queue.write { db throws in
        try db.execute(
            sql:
                "CREATE TABLE canary (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO canary VALUES (1, 'alive')"
        )
    }
    return queue
}

func isCanaryAlive(_ db: Database) throws -> Bool {
    try Row.fetchAll(db, sql: "SELECT * FROM canary") == [["id": 1, "name": "alive"]]
        && Row.fetchAll(db, sql: "SELECT name FROM sqlite_master WHERE name NOT LIKE 'hostile%'") == [
            ["name": "canary"]
        ]
}
