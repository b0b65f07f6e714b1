import Foundation
import GRDB

/// Writes an encrypted database and, with the argument `kept` or `deleted`, a file with the header of a
/// plaintext one, which it leaves or deletes.
@main
struct Leaky {
    static func main() throws {
        let queue = try DatabaseQueue(path: "vault.db")
        try queue.write { db in try db.execute(sql: "CREATE TABLE note (text)") }
        try queue.close()
        let fate = CommandLine.arguments[1]
        guard fate != "encrypted" else { return }
        try Data("SQLite format 3\0".utf8).write(to: URL(fileURLWithPath: "copy.db"))
        if fate == "deleted" { unlink("copy.db") }
    }
}
