import Coffer
import CofferTestSupport
import Foundation

/// Applies the migrations of ``MigrationHistory``. Writes a line at the beginning of each, and one at the
/// end.
enum Migrate {
    static func run(path: String, access: String) throws {
        let configuration = Configuration.rawKeyed.with {
            $0.busyMode = .timeout(Patience.seconds)
            // Transactions that exceed the cache are written to the file before they are committed.
            $0.pageCacheSize = 64 * 1024
        }
        let writer: any DatabaseWriter =
            if access == Access.pool.rawValue {
                try DatabasePool(path: path, configuration: configuration)
            } else {
                try DatabaseQueue(path: path, configuration: configuration)
            }
        try MigrationHistory.migrator(willRun: { tell("m\($0)") }).migrate(writer)
        tell("end")
    }

    /// Writes a line with a single `write`, so the output survives if the process is killed.
    private static func tell(_ line: String) {
        FileHandle.standardOutput.write(Data("\(line)\n".utf8))
    }
}
