internal import Coffer

/// What is in this program: the versions that a report of a fault has to name.
struct EngineVersions {
    static let coffer = "0.1.0"

    let sqlcipher: String
    let sqlite: String
    let provider: String

    init() throws {
        // A key, so that there is a codec to ask.
        var configuration = Configuration()
        configuration.key = .random()
        let queue = try DatabaseQueue(configuration: configuration)
        (sqlcipher, sqlite, provider) = try queue.read { db in
            let sqlite = try String.fetchOne(db, sql: "SELECT sqlite_version()") ?? "unknown"
            let provider = try [db.cipherProvider, db.cipherProviderVersion].compactMap { $0 }
            return (try db.cipherVersion, sqlite, provider.joined(separator: ", "))
        }
    }

    var lines: [String] { ["coffer \(EngineVersions.coffer)", "SQLCipher \(sqlcipher)", "SQLite \(sqlite)", "crypto \(provider)"] }

    var json: [JSONValue.Member] {
        [
            .init("version", .string(EngineVersions.coffer)), .init("sqlcipher", .string(sqlcipher)), .init("sqlite", .string(sqlite)),
            .init("crypto", .string(provider)),
        ]
    }
}
