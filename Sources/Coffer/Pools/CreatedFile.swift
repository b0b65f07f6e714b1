internal import SystemCalls

/// An empty file that ``DatabasePools/create(_:)`` has made, and removes again if it fails.
///
/// Other processes may open the file as soon as it exists. It is not removed if one of them uses it or may
/// have committed something to it.
struct CreatedFile {
    /// The origin of the commits in the file.
    enum Content {
        /// The file could not be opened, or not prepared for use.
        case unknown
        /// Only this creation has committed.
        case own
        case ofOthers
    }

    private let path: String
    private let identity: FileIdentity

    /// SQLite's files next to the database, without those that existed before.
    private let sideFiles: [String]

    private let pageSize: Int64

    /// Makes the file, which only its owner can access. Returns nil if the path is taken.
    init?(_ path: String, configuration: Configuration) throws(DatabaseError) {
        sideFiles = ReplacementNames.companions(of: path).filter { (try? FileStatus($0)) == nil }
        guard let identity = try Database.makeFile(at: path) else { return nil }
        self.path = path
        self.identity = identity
        self.pageSize = Int64(configuration.cipher.pageSize)
    }

    /// Removes the file and SQLite's files next to it. Does nothing if that is not safe.
    ///
    /// - Precondition: the creation has closed its connections, or cannot.
    /// - Throws: ``DatabaseFileError``, for example `busy`, if that is not safe or not possible.
    func remove(_ content: Content) throws(DatabaseFileError) {
        let status = try SystemFile.regularFile(path)
        guard status.identity == identity else { return }
        try FileUsers.waitForNone(of: status, path, timeout: 0)
        try FileUsers.checkIsNotOpenHere(status, path)
        // From here on, no other connection can commit.
        let lock = try FileDescriptor.open(path, forWriting: true)
        try lock.checkIsOnly(status)
        guard lock.lockAsDatabase() else { return }
        // A process, or this one, may have opened the file before the lock was taken, and be waiting for it.
        try FileUsers.checkIsNotOpenHere(status, path)
        try FileUsers.waitForNoneElse(of: status, path, timeout: 0, countsOwn: false)
        guard try canLose(content, lock.status()) else { return }
        // The database is removed last: without it, the others would count as those of a foreign database.
        for path in sideFiles { try SystemFile.remove(path) }
        try SystemFile.remove(path)
        withExtendedLifetime(lock) {}
    }

    private func canLose(_ content: Content, _ status: FileStatus) throws(DatabaseFileError) -> Bool {
        // The creation has closed its connections, so a log or journal with content is of a process that
        // ended without closing the file.
        for path in sideFiles where !path.hasSuffix("-shm") {
            if let side = try SystemFile.status(path), side.size > 0 { return false }
        }
        return switch content {
        case .own: true
        case .ofOthers: false
        // The setup of a connection writes the first page. The first table needs another one.
        case .unknown: status.size <= pageSize
        }
    }
}

extension CreatedFile {
    /// The state of a database that was just created.
    struct State {
        private let version: Int?
        private let isEmpty: Bool

        init(of pool: DatabasePool) throws {
            (version, isEmpty) = try pool.writeWithoutTransaction { db in
                let pageCount = try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0
                return (try State.version(db), pageCount <= 1)
            }
        }

        /// Returns true if no other connection than the writer of the pool has committed anything.
        func isUnchangedByOthers(in pool: DatabasePool) -> Bool {
            guard isEmpty, let version, let current = try? pool.writeWithoutTransaction(State.version) else {
                return false
            }
            return current == version
        }

        /// A number that changes with each commit of another connection.
        private static func version(_ db: Database) throws -> Int? {
            try Int.fetchOne(db, sql: "PRAGMA data_version")
        }
    }
}
