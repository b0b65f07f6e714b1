import BenchKit
import Coffer
import Foundation

@main
enum BenchCoffer {
    static func main() async throws {
        try await Runner.main(special: Files.run)
    }
}

/// Coffer's connections, with the same key and the same settings as those of the other runners.
enum Engine {
    static func rawKeyed() -> Configuration { configuration(key: .rawKey(Equal.rawKey)) }
    static func withPassphrase() -> Configuration { configuration(key: .passphrase(Equal.passphrase)) }

    private static func configuration(key: DatabaseKey) -> Configuration {
        var configuration = Configuration()
        configuration.key = key
        configuration.prepareDatabase { db in try db.execute(sql: Equal.pragmas) }
        return configuration
    }
}
