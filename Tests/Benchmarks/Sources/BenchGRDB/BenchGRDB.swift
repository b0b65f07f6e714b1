import BenchKit
import CSQLCipher
import GRDB

@main
enum BenchGRDB {
    static func main() async throws {
        try await Runner.main { _ in nil }
    }
}

/// GRDB's connections, with a key. GRDB's calls resolve to SQLCipher's functions, which are linked before
/// those in the plain library.
enum Engine {
    static func rawKeyed(_ pragmas: String = Equal.pragmas) -> Configuration {
        configuration(Equal.rawKeyText, pragmas)
    }
    static func withPassphrase() -> Configuration { configuration(Equal.passphrase, Equal.pragmas) }

    private static func configuration(_ key: String, _ pragmas: String) -> Configuration {
        var configuration = Configuration()
        configuration.prepareDatabase { db in
            guard sqlite3_key(db.sqliteConnection, key, Int32(key.utf8.count)) == SQLITE_OK else {
                throw Mistake(description: "key")
            }
            try db.execute(sql: pragmas)
        }
        return configuration
    }
}
