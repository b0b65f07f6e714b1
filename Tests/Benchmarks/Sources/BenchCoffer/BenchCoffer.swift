import BenchKit
import Coffer
import Foundation

@main
enum BenchCoffer {
    static func main() async throws {
        try await Runner.main { assignment in
            try Files.run(assignment) ?? Tuning.run(assignment) ?? Alone.run(assignment)
                ?? Values.run(assignment)
        }
    }
}

/// Coffer's connections, with the same key and settings as the other runners.
enum Engine {
    @TaskLocal static var fileLocking = Configuration.FileLocking.shared

    static func rawKeyed(_ pragmas: String = Equal.pragmas) -> Configuration {
        configuration(.rawKey(Equal.rawKey), pragmas)
    }
    static func withPassphrase() -> Configuration {
        configuration(.passphrase(Equal.passphrase), Equal.pragmas)
    }

    private static func configuration(_ key: DatabaseKey, _ pragmas: String) -> Configuration {
        var configuration = Configuration()
        configuration.key = key
        configuration.fileLocking = fileLocking
        configuration.prepareDatabase { db in try db.execute(sql: pragmas) }
        return configuration
    }
}
