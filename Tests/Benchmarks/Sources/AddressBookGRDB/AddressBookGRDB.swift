import GRDB
import SQLCipherKey

/// The address book with GRDB. Arguments: the folder of its files.
@main
enum AddressBookGRDB {
    struct KeyFailure: Error {}

    static func main() throws {
        let folder = CommandLine.arguments.dropFirst().first ?? "."
        var configuration = Configuration()
        configuration.prepareDatabase { db in
            let key = "address book"
            let connection = UnsafeMutableRawPointer(db.sqliteConnection)
            guard sqlcipher_set_key(connection, key, Int32(key.utf8.count)) == 0 else { throw KeyFailure() }
        }
        try AddressBook(writer: DatabaseQueue(path: folder + "/grdb-queue.db", configuration: configuration)) { print($0) }.run()
        try AddressBook(writer: DatabasePool(path: folder + "/grdb-pool.db", configuration: configuration)) { print($0) }.run()
    }
}
