import Foundation
// For all files of the comparison, so that none of them depends on the library that it is compiled with.
#if GRDB
@_exported import GRDB
import SQLCipherKey
#else
@_exported import Coffer
#endif

/// What each library needs in its own way: its name, and a key.
enum Library {
    #if GRDB
    static let name = "grdb"
    static let module = "GRDB."
    #else
    static let name = "coffer"
    static let module = "Coffer."
    #endif

    /// A raw key, so that no opening derives one.
    private static let key = [UInt8](0..<32)

    struct KeyFailure: Error {}

    /// The configuration of a database with or without a key. Errors show the arguments of statements.
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
