internal import Coffer
internal import Foundation

/// Other keyrings next to a database that have its data key, such as the keyring of an old file that a
/// restore has kept. They open the database after its own keyring was destroyed.
struct SameKeyrings {
    /// The databases that the keyrings are named for, which may have been moved.
    let databases: [String]

    /// - Parameter path: the database, whose keyring still exists.
    init(as path: String) {
        guard let id = try? DatabaseKeyring(databasePath: path).inspect().id else {
            databases = []
            return
        }
        let (name, folder) = (FileNames.name(of: path), FileNames.folder(of: path))
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        databases = names.sorted().filter { $0.hasSuffix(".keys") && $0 != "\(name).keys" }
            .map { String(path.dropLast(name.count) + $0.dropLast(".keys".count)) }
            .filter { (try? DatabaseKeyring(databasePath: $0).inspect().id) == id }
    }

    /// Names the keyrings, or only those of databases that were moved.
    func tell(onlyMoved: Bool = false, _ reporter: Reporter) {
        for database in databases where !onlyMoved || !NewFile.exists(database) {
            reporter.warning(
                "'\(database).keys' has the same data key, and stays. To destroy it: coffer key destroy "
                    + "\(CommandWords.quoted(database)) --yes-destroy "
                    + CommandWords.quoted(FileNames.name(of: database)))
        }
    }
}
