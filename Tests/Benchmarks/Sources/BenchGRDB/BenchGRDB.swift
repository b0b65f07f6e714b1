import BenchKit
import CSQLCipher
import GRDB

@main
enum BenchGRDB {
    static func main() async throws {
        try await Runner.main { _ in nil }
    }
}

/// GRDB's connections, with a key: its calls find SQLCipher's functions, which stand before those of the plain library.
enum Engine {
    static func rawKeyed() -> Configuration { configuration(key: Equal.rawKeyText) }
    static func withPassphrase() -> Configuration { configuration(key: Equal.passphrase) }

    private static func configuration(key: String) -> Configuration {
        var configuration = Configuration()
        configuration.prepareDatabase { db in
            guard sqlite3_key(db.sqliteConnection, key, Int32(key.utf8.count)) == SQLITE_OK else { throw Mistake(description: "key") }
            try db.execute(sql: Equal.pragmas)
        }
        return configuration
    }
}
