import Coffer

/// The address book with Coffer. Arguments: the folder of its files.
@main
enum AddressBookCoffer {
    static func main() throws {
        let folder = CommandLine.arguments.dropFirst().first ?? "."
        var configuration = Configuration()
        configuration.key = .passphrase("address book")
        try AddressBook(writer: DatabaseQueue(path: folder + "/coffer-queue.db", configuration: configuration)) { print($0) }.run()
        try AddressBook(writer: DatabasePool(path: folder + "/coffer-pool.db", configuration: configuration)) { print($0) }.run()
    }
}
