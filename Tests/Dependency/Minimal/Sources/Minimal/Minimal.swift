import Coffer

/// The first program of a Coffer user: opens an encrypted file, writes, reads, and fails if it reads
/// something else.
@main
struct Minimal {
    struct Failure: Error { var message: String }

    static func main() throws {
        guard CommandLine.arguments.count == 3 else {
            throw Failure(message: "usage: Minimal <database> <text>")
        }
        let (path, text) = (CommandLine.arguments[1], CommandLine.arguments[2])

        var configuration = Configuration()
        configuration.key = .passphrase("correct horse battery staple")
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT NOT NULL)")
            try db.execute(sql: "INSERT INTO note (text) VALUES (?)", arguments: [text])
        }
        let found = try queue.read { db in try String.fetchAll(db, sql: "SELECT text FROM note") }
        guard found == [text] else { throw Failure(message: "read \(found), not what was written") }
        try queue.close()
        print("wrote and read one encrypted row")
    }
}
