import CSQLCipher
import Coffer

/// Calls the engine directly on a connection that Coffer opened and keyed.
@main
struct RawEngine {
    struct Failure: Error { var message: String }

    static func main() throws {
        guard CommandLine.arguments.count == 3 else {
            throw Failure(message: "usage: RawEngine <database> <text>")
        }
        let (path, text) = (CommandLine.arguments[1], CommandLine.arguments[2])

        var configuration = Configuration()
        configuration.key = .rawKey(Array(repeating: 0x5A, count: 32))
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        let changes = try queue.write { db in
            try db.execute(sql: "CREATE TABLE note (text TEXT NOT NULL)")
            try db.execute(sql: "INSERT INTO note VALUES (?), (?)", arguments: [text, text])
            return sqlite3_changes(db.sqliteConnection)
        }
        guard changes == 2 else { throw Failure(message: "the engine counted \(changes) changes, not 2") }
        try queue.close()
        print(
            "SQLite", String(cString: sqlite3_libversion()), "counted", changes,
            "changes on Coffer's connection")
    }
}
