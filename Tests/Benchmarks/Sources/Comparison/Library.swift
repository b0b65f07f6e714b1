import Foundation
// Exported to all files of the comparison, so that no other file depends on the library.
#if GRDB
@_exported import GRDB
import SQLCipherKey
#else
@_exported import Coffer
#endif

/// The parts that differ between the libraries: the name, and the key.
enum Library {
    #if GRDB
    static let name = "grdb"
    static let module = "GRDB."
    #else
    static let name = "coffer"
    static let module = "Coffer."
    #endif

    /// A raw key, so that opening a file derives no key.
    private static let key = [UInt8](0..<32)

    struct KeyFailure: Error {}

    /// Returns the configuration of a database with or without a key. Errors contain the arguments of
    /// statements.
    static func configuration(encrypted: Bool) -> Configuration {
        var configuration = Configuration()
        configuration.publicStatementArguments = true
        #if GRDB
        if encrypted {
            configuration.prepareDatabase { db in
                let text = "x'" + key.map { String(format: "%02x", $0) }.joined() + "'"
                let connection = UnsafeMutableRawPointer(db.sqliteConnection)
                guard sqlcipher_set_key(connection, text, Int32(text.utf8.count)) == 0 else {
                    throw KeyFailure()
                }
            }
        }
        #else
        if encrypted {
            configuration.key = .rawKey(key)
        } else {
            configuration.allowsPlaintext = true
        }
        #endif
        return configuration
    }
}
