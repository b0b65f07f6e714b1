internal import SQLCipherBridge

/// The connections of a snapshot pool, on their way into one and the same state of the database.
struct SnapshotReaders {
    let connections: [SerializedConnection]
    private let path: String

    init(_ factory: ConnectionFactory) throws {
        connections = try (0..<max(1, factory.configuration.maximumReaderCount)).map { _ in try factory.makeSnapshotConnection() }
        path = factory.location.path
        guard try connections[0].sync({ try $0.journalMode() }) == "wal" else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE, message: "A snapshot pool needs a database in WAL mode: \(path) is not. Open it with a pool.")
        }
    }

    /// Has all connections enter their transactions while `db` holds the write lock.
    ///
    /// The lock is held for an empty transaction, which is rolled back, and of which no observer hears: it is not one of the application.
    func enterTogether(under db: Database) throws {
        try db.observerNotifier.unobserved {
            try db.inTransaction(.immediate) {
                try enter()
                return .rollback
            }
        }
    }

    /// Has all connections enter their transactions, again and again until nobody has committed meanwhile.
    func enterTogether(watchedBy watcher: SerializedConnection) throws {
        for _ in 0..<1000 {
            let version = try watcher.sync { try $0.dataVersion() }
            try enter()
            guard try watcher.sync({ try $0.dataVersion() }) != version else { return }
            for connection in connections {
                try connection.sync { db in
                    db.transactions.leaveSnapshot()
                    try db.rollback()
                }
            }
        }
        throw isBusy()
    }

    /// Has `db` and then all connections enter their transactions. It can be tried only once, as `db` keeps what it has entered.
    func enter(with db: Database, watchedBy watcher: SerializedConnection) throws {
        let version = try watcher.sync { try $0.dataVersion() }
        try db.enterReadTransaction()
        try enter()
        guard try watcher.sync({ try $0.dataVersion() }) == version else { throw isBusy() }
    }

    private func enter() throws {
        for connection in connections {
            try connection.sync { try $0.beginSnapshot(mayBeginAnother: false) }
        }
    }

    private func isBusy() -> DatabaseError {
        DatabaseError(
            resultCode: .SQLITE_BUSY,
            message: "Others have committed to \(path) while the connections of a snapshot entered their transactions. Try again.")
    }
}

extension Database {
    /// A number that changes when another connection, of any process, has committed; to be compared on one connection only.
    fileprivate func dataVersion() throws -> String? {
        return try DatabaseError.converting { try handle.firstText(trusted: "PRAGMA data_version") }
    }
}
