internal import SQLCipherBridge

/// The connections of a snapshot pool, on their way into one and the same state of the database.
struct SnapshotReaders {
    let connections: [SerializedConnection]
    private let path: String

    init(_ factory: ConnectionFactory) throws {
        connections = try (0..<max(1, factory.configuration.maximumReaderCount)).map { _ in
            try factory.makeSnapshotConnection()
        }
        path = factory.location.path
        guard try connections[0].sync({ try $0.journalMode() }) == "wal" else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message: "A snapshot pool needs a database in WAL mode: \(path) is not. Open it with a pool.")
        }
    }

    /// Has all connections enter their transactions while `db` holds the write lock.
    ///
    /// The lock is held for an empty transaction, which is rolled back, and of which no observer is notified:
    /// it is not one of the application.
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

    /// Has `db` and then all connections enter their transactions. It can be tried only once, as `db` keeps
    /// what it has entered.
    func enter(with db: Database, watchedBy watcher: SerializedConnection) throws {
        let version = try watcher.sync { try $0.dataVersion() }
        try db.enterReadTransaction()
        try enter()
        guard try watcher.sync({ try $0.dataVersion() }) == version else { throw isBusy() }
    }

    /// Has all connections enter the state that `db` reads, whatever is committed meanwhile.
    ///
    /// The log cannot be begun anew before they have, because `db` reads it. Only where
    /// ``Engine/hasSnapshots``.
    func enterState(readBy db: Database) throws {
        let snapshot: SnapshotHandle
        do {
            snapshot = try SnapshotHandle(readBy: db.handle)
        } catch {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message:
                    "The state of this transaction cannot be handed to a snapshot pool, because the log of "
                    + "\(path) has nothing in it: \(error.message ?? "no reason"). Make the snapshot "
                    + "pool before or after the transaction."
            )
        }
        for connection in connections {
            try connection.sync { reader in
                try reader.beginSnapshot(mayBeginAnother: false) {
                    try DatabaseError.converting { try snapshot.enter(reader.handle) }
                }
            }
        }
    }

    private func enter() throws {
        for connection in connections {
            try connection.sync { try $0.beginSnapshot(mayBeginAnother: false) }
        }
    }

    private func isBusy() -> DatabaseError {
        DatabaseError(
            resultCode: .SQLITE_BUSY,
            message:
                "Others have committed to \(path) while the connections of a snapshot entered their "
                + "transactions. Try again."
        )
    }
}

extension Database {
    /// A number that changes when another connection, of any process, has committed; to be compared on one
    /// connection only.
    fileprivate func dataVersion() throws -> String? {
        return try DatabaseError.converting { try handle.firstText(trusted: "PRAGMA data_version") }
    }
}
