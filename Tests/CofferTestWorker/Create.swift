import Coffer
import CofferTestSupport
import Foundation

/// Creates a file with the passphrase on standard input, concurrently with other processes, and writes a row.
enum Create {
    static func run(path: String, access: String) throws {
        var configuration = Configuration()
        configuration.key = .passphrase(FileHandle.standardInput.readDataToEndOfFile())
        configuration.cipher.kdfIterations = 1000
        configuration.busyMode = .timeout(Patience.seconds)
        do {
            let writer: any DatabaseWriter =
                if access == Access.pool.rawValue {
                    try DatabasePool(path: path, configuration: configuration)
                } else {
                    try DatabaseQueue(path: path, configuration: configuration)
                }
            try writer.write {
                try $0.execute(sql: "CREATE TABLE IF NOT EXISTS t (a); INSERT INTO t VALUES (1)")
            }
            print("created")
        } catch let error as DatabaseError where error.encryptionFailure == .wrongKey {
            print("wrong key")
        }
    }
}
