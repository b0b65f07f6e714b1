internal import SQLCipherBridge

/// The connections of a new snapshot pool, which must all enter the same state of the database.
struct SnapshotReaders {
    let connections: [SerializedConnection]
    private let path: String

    init(_ factory: ConnectionFactory) throws {
        connections = try (0..<max(1, factory.configuration.maximumReaderCount)).map { _ in
            try factory.makeSnapshotConnection()
        }
        path = factory.location.path
        guard try connections[0].sync({ try $0.journalMode() }) == "wal" else {
            throw DatabaseError.misuse(
                "A snapshot pool needs a database in WAL mode, and \(path) is not. Open it with a "
                    + "DatabasePool.")
        }
    }

    /// Makes all connections enter their transactions while `db` holds the write lock.
    ///
    /// An empty transaction holds the lock, and is rolled back. Observers are not notified of it, because it
    /// is not a transaction of the application.
    func enterTogether(under db: Database) throws {
        try db.observerNotifier.unobserved {
            try db.inTransaction(.immediate) {
                try enter()
                return .rollback
            }
        }
    }

    /// Makes all connections enter their transactions, and repeats this until no other connection has
    /// committed in between.
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

    /// Makes `db`, then all connections, enter their transactions. It cannot be repeated, because `db` keeps
    /// the state that it has entered.
    func enter(with db: Database, watchedBy watcher: SerializedConnection) throws {
        let version = try watcher.sync { try $0.dataVersion() }
        try db.enterReadTransaction()
        try enter()
        guard try watcher.sync({ try $0.dataVersion() }) == version else { throw isBusy() }
    }

    /// Makes all connections enter the state that `db` reads, even if other connections commit in the
    /// meantime.
    ///
    /// The WAL file cannot be restarted before they have entered it, because `db` reads it. Requires
    /// ``Engine/hasSnapshots``.
    func enterState(readBy db: Database) throws {
        let snapshot: SnapshotHandle
        do {
            snapshot = try SnapshotHandle(readBy: db.handle)
        } catch {
            throw DatabaseError.misuse(
                "The state of this transaction cannot be shared with a snapshot pool, because the "
                    + "write-ahead log of \(path) is empty: \(error.message ?? "no reason"). Make the "
                    + "snapshot pool before or after the transaction.")
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
                "Another connection committed to \(path) while the connections of a snapshot were starting "
                + "their transactions. Try again."
        )
    }
}

extension Database {
    /// Returns a number that changes when another connection, in any process, has committed. Compare only
    /// values from the same connection.
    fileprivate func dataVersion() throws -> String? {
        return try DatabaseError.converting { try handle.firstText(trusted: "PRAGMA data_version") }
    }
}
