internal import SystemCalls

/// A connection whose side files are checked.
struct SideFileWatch {
    let judge: SideFileJudge
    /// The owner of the keys. Its connections do not repeat checks of each other.
    let owner: ObjectIdentifier
    let isReadOnly: Bool
    let database: FileIdentity?
    let report: ForeignOwnerReport

    /// The WAL file that passed the check, and the address of the file that SQLite has opened, while the
    /// connection has it open.
    fileprivate(set) var log: (file: FileIdentity, address: UInt)?
}

/// The watched connections, by the address of SQLite's open database file, which exists as long as its
/// connection.
///
/// All connections of a process share them, so each lookup is by a key.
struct SideFileWatches {
    private var watches: [UInt: SideFileWatch] = [:]
    /// The connections that have a WAL file open.
    private var users: [FileIdentity: Set<UInt>] = [:]

    subscript(database: UInt) -> SideFileWatch? { watches[database] }

    /// The connections that have a WAL file open.
    func users(ofLog log: FileIdentity) -> [SideFileWatch] { (users[log] ?? []).compactMap { watches[$0] } }

    mutating func insert(_ watch: SideFileWatch, _ database: UInt) {
        remove(database)
        watches[database] = watch
        if let log = watch.log { users[log.file, default: []].insert(database) }
    }

    @discardableResult
    mutating func remove(_ database: UInt) -> SideFileWatch? {
        let watch = watches.removeValue(forKey: database)
        if let log = watch?.log, users[log.file]?.remove(database) != nil, users[log.file]?.isEmpty == true {
            users[log.file] = nil
        }
        return watch
    }

    mutating func setLog(_ log: (file: FileIdentity, address: UInt)?, of database: UInt) {
        guard var watch = remove(database) else { return }
        watch.log = log
        insert(watch, database)
    }
}
