public import Foundation
internal import SystemCalls

/// Many database files of one folder, such as one for each tenant of a server, of which a limited number is
/// open.
///
/// A database is opened when it is first used. If the limit is reached, the database that was used least
/// recently is closed, but never one in use. Opening and closing never block a thread of the Swift executor.
///
/// ```swift
/// let tenants = DatabasePools(folder: "/srv/notes") { tenant in
///     var configuration = Configuration()
///     configuration.setKey(KeyGenerations(of: tenant, from: master), generation: 3)
///     return configuration
/// }
/// let count = try await tenants.withPool("7") { pool in
///     try await pool.read { db in try Note.fetchCount(db) }
/// }
/// ```
///
/// Create one object for a folder, and keep it for as long as the process runs. Two objects on one folder
/// work, but each has a limit of its own, and neither can rotate a key of a file that the other has open.
public final class DatabasePools: Sendable {
    /// The limits of the resources that the open databases may use together.
    public struct Limits: Sendable, Hashable {
        /// The maximum number of databases that are open at the same time. 100 by default.
        public var poolCount = 100

        /// The maximum number of reader connections of each database. 2 by default. It replaces
        /// ``Configuration/maximumReaderCount``.
        public var readerCount = 2

        /// The maximum number of file descriptors of all open databases. Nil, the default, is three quarters
        /// of the number that the process may open (`RLIMIT_NOFILE`).
        ///
        /// Each database counts with the descriptors that it needs when all its readers are open: see
        /// ``descriptorCountOfPool``.
        public var descriptorCount: Int?

        /// The maximum time that a request waits for a database, in seconds. It includes the time to open the
        /// database, but not the time to look for its file before, or to create it. Nil by default: there is
        /// no limit.
        public var maximumWait: TimeInterval?

        /// The maximum number of requests that wait at the same time. Nil by default: there is no limit.
        public var maximumWaiterCount: Int?

        /// Creates the default limits.
        public init() {}

        /// The number of file descriptors that a database needs at most: two for each connection, and one for
        /// the index of the log.
        public var descriptorCountOfPool: Int { 2 * (1 + readerCount) + 1 }

        /// The number of databases that may be open at the same time, at least one.
        var slotCount: Int {
            let descriptorCount = descriptorCount ?? Descriptor.limit / 4 * 3
            return max(1, min(poolCount, descriptorCount / descriptorCountOfPool))
        }
    }

    /// The number of databases at one moment.
    public struct Statistics: Sendable, Hashable {
        /// The number of open databases.
        public let openCount: Int

        /// The number of open databases in use.
        public let leasedCount: Int

        /// The number of databases that are open, or are being opened, created or closed, at most
        /// ``maximumOpenCount``.
        public let usedSlotCount: Int

        /// The number of requests that wait for a database.
        public let waitingCount: Int

        /// The number of databases that may be open at the same time, according to the limits.
        public let maximumOpenCount: Int
    }

    /// The folder of the files.
    public let folder: String

    /// The extension of the files, without a dot.
    public let fileExtension: String

    /// The limits.
    public let limits: Limits

    let opener: Opener
    private let shelf: PoolShelf

    /// Prepares the use of a folder. Opens no file.
    ///
    /// - Parameters:
    ///   - folder: an existing folder.
    ///   - fileExtension: the extension of all files, without a dot.
    ///   - limits: the limits of resources.
    ///   - configuration: returns the configuration and the key of a database. It is called each time that
    ///     the database is opened, on a thread of its own, and may wait.
    ///   - prepare: called with each database that was opened, before it is used, for example to migrate it.
    ///     If it throws, the database is closed, and its requests throw the error.
    /// - Precondition: the limits allow at least one database, and each database a reader.
    public init(
        folder: String, fileExtension: String = "db", limits: Limits = Limits(),
        configuration: @escaping @Sendable (_ name: String) throws -> Configuration,
        prepare: @escaping @Sendable (DatabasePool) throws -> Void = { _ in }
    ) {
        precondition(
            limits.poolCount > 0 && limits.readerCount > 0,
            "The limits must allow a database and a reader. Set poolCount and readerCount to 1 or more.")
        self.folder = folder
        self.fileExtension = fileExtension
        self.limits = limits
        opener = Opener(
            folder: folder, fileExtension: fileExtension, readerCount: limits.readerCount,
            configuration: configuration, prepare: prepare)
        shelf = PoolShelf(slotCount: limits.slotCount) { [opener] name in
            try opener.checkExists(name)
        } open: { [opener] name in
            try opener.open(name)
        }
    }

    // There are no requests. Leases may outlive this object.
    deinit { shelf.close() }
}

// MARK: - Using databases

extension DatabasePools {
    /// The use of one database. The database stays open until the lease is released.
    public final class Lease: Sendable {
        /// The name of the database.
        public let name: String

        /// The database. Do not use it after the lease is released.
        public let pool: DatabasePool

        private let shelf: PoolShelf

        fileprivate init(name: String, pool: DatabasePool, shelf: PoolShelf) {
            self.name = name
            self.pool = pool
            self.shelf = shelf
        }

        deinit { shelf.release(ExactText(name)) }
    }

    /// Runs `body` with a database, which stays open during the call.
    ///
    ///     let total = try await tenants.withPool(name) { pool in
    ///         try await pool.read { db in try Note.fetchCount(db) }
    ///     }
    ///
    /// - Parameters:
    ///   - name: the name of the database.
    ///   - timeout: the maximum time to wait for the database, in seconds. Nil means ``Limits/maximumWait``.
    /// - Returns: the result of `body`.
    /// - Throws: the errors of `body` and of ``lease(_:timeout:)``.
    public func withPool<T: Sendable>(
        _ name: String, timeout: TimeInterval? = nil,
        _ body: @Sendable (DatabasePool) async throws -> T
    ) async throws -> T {
        let lease = try await lease(name, timeout: timeout)
        defer { withExtendedLifetime(lease) {} }
        return try await body(lease.pool)
    }

    /// Returns a lease of a database, for a use that does not end with a closure, such as a stream of events.
    ///
    /// If the file of an open database was deleted or replaced, the first lease after its use has ended
    /// closes it, and opens the file that has its name now.
    ///
    /// ```swift
    /// let lease = try await tenants.lease(name)
    /// let counts = ValueObservation.tracking { db in try Note.fetchCount(db) }.values(in: lease.pool)
    /// ```
    ///
    /// - Parameters:
    ///   - name: the name of the database.
    ///   - timeout: the maximum time to wait for the database, in seconds. Nil means ``Limits/maximumWait``.
    ///     Zero or less means that the call throws unless the database is open.
    /// - Throws:
    ///   - ``DatabaseFileError`` with the reason `missing` if there is no such file: see ``create(_:)``. The
    ///     call does not wait for other databases then, and closes none.
    ///   - ``DatabaseError`` with the reason in ``DatabaseError/encryptionFailure``: `wrongKey`, `damaged`
    ///     and so on; with `SQLITE_MISUSE` after ``close(within:grace:)``, or for a name that is no file
    ///     name.
    ///   - ``DatabaseWaitError`` if the database was not available in time, because it takes long to open, or
    ///     because as many databases as are allowed are in use.
    ///   - The errors of the closures that were given to the initializer; `CancellationError` if the task is
    ///     cancelled.
    public func lease(_ name: String, timeout: TimeInterval? = nil) async throws -> Lease {
        try opener.check(name)
        let pool = try await shelf.lease(ExactText(name), within: bounds.with(timeout: timeout))
        let lease = Lease(name: name, pool: pool, shelf: shelf)
        try Task.checkCancellation()
        return lease
    }

    private var bounds: WaitBounds {
        WaitBounds(timeout: limits.maximumWait, maximumWaiterCount: limits.maximumWaiterCount)
    }

    /// The current number of databases, for metrics and overload protection.
    ///
    ///     print(tenants.statistics.waitingCount)
    ///
    /// The statistics of each database are in ``DatabasePool/statistics``.
    public var statistics: Statistics { shelf.statistics }
}

// MARK: - Files

extension DatabasePools {
    /// Returns the path of a database. The file may not exist.
    ///
    /// - Throws: ``DatabaseError`` with `SQLITE_MISUSE` for a name that is not a file name.
    public func path(of name: String) throws -> String {
        try opener.check(name)
        return opener.path(of: name)
    }

    /// Creates an encrypted file with an empty database, prepares it, and closes it.
    ///
    ///     try await tenants.create("7")
    ///
    /// Meanwhile, the database counts as one of those that may be open at the same time. If as many are in
    /// use, the call waits like a lease. Leases of this database wait until it is created.
    ///
    /// If an error is thrown, the file is removed, and the call can be repeated. It is kept if a table was
    /// committed to it, for example by the first of several migrations, or if another connection uses it. The
    /// next call throws `exists` then, and a lease opens and prepares the file.
    ///
    /// A database that is open although its file was deleted is closed first.
    ///
    /// - Throws: ``DatabaseFileError`` with the reason `exists` if there is a file with this name, or the
    ///   journal or log of a former one, or another call is creating it; with the reason `busy` if the
    ///   database is in use although its file was deleted; ``DatabaseWaitError`` if the limits do not allow
    ///   the wait; `SQLITE_MISUSE` after ``close(within:grace:)``; the errors of
    ///   ``DatabasePool/init(path:configuration:)`` and of the closures that were given to the initializer;
    ///   `CancellationError` if the task is cancelled while it waits.
    public func create(_ name: String) async throws {
        try opener.check(name)
        try shelf.checkIsOpen()
        try await BlockingWork.run("Coffer.Opening") { [opener] _ in try opener.checkIsFree(name) }
        try shelf.closeDeleted(ExactText(name), at: opener.path(of: name))
        try await shelf.create(ExactText(name), at: opener.path(of: name), within: bounds) { [opener] in
            try opener.create(name)
        }
    }

    /// Runs `body` with the file of a database while the database is closed: for example to restore a backup,
    /// to erase the file, or to move it.
    ///
    /// ```swift
    /// try await tenants.withFile(of: "7") { file in
    ///     try file.restore(from: backup, key: key)
    /// }
    /// ```
    ///
    /// The call waits until the database has no lease, and closes it. From then on, requests for the database
    /// wait until `body` has ended. A database in use keeps giving leases until then, so stop sending
    /// requests to it if it is never without one. Do not call this method while you have a lease of the
    /// database: it would wait for you.
    ///
    /// The file need not exist. Other databases are not affected, except that this one counts as one of those
    /// that may be open at the same time.
    ///
    /// - Parameters:
    ///   - name: the name of the database.
    ///   - timeout: the maximum time to wait for the beginning of `body`, in seconds. Nil means
    ///     ``Limits/maximumWait``.
    ///   - body: called on a thread of its own, and may block. It has neither the task-local values nor the
    ///     priority of the caller.
    /// - Returns: the result of `body`.
    /// - Throws: the error of `body`; ``DatabaseFileError`` with the reason `busy` if this process still has
    ///   the file open, because a statement was kept; ``DatabaseWaitError`` if the database was in use for
    ///   too long; ``DatabaseError`` with `SQLITE_MISUSE` after ``close(within:grace:)``, or for a name that
    ///   is no file name; `CancellationError` if the task is cancelled before `body` begins.
    @discardableResult
    public func withFile<T: Sendable>(
        of name: String, timeout: TimeInterval? = nil,
        _ body: @escaping @Sendable (DatabaseFile) throws -> T
    ) async throws -> T {
        let file = DatabaseFile(path: try path(of: name))
        return try await shelf.work(on: ExactText(name), within: bounds.with(timeout: timeout)) {
            // A statement that the application has kept keeps its connection open.
            if let status = try SystemFile.status(file.path, followsLinks: true) {
                try FileUsers.checkIsNotOpenHere(status, file.path)
            }
            return try body(file)
        }
    }

    /// Returns the names of all databases in the folder, in alphabetical order.
    ///
    ///     for name in try await tenants.names() { print(name) }
    ///
    /// - Throws: ``DatabaseFileError`` if the folder cannot be read.
    public func names() async throws -> [String] {
        try await BlockingWork.run("Coffer.Listing") { [opener] _ in try opener.names() }
    }
}

// MARK: - Closing

extension DatabasePools {
    /// Closes all databases, and makes later requests throw `SQLITE_MISUSE`. Requests that wait throw it
    /// immediately.
    ///
    ///     try await tenants.close(within: .seconds(5))
    ///
    /// Each database is closed when its last lease is released. After `limit`, the remaining ones are closed
    /// although they are leased, and their accesses are cancelled. The databases are closed at the same time.
    /// A database that is being opened is closed right after its opening. Work of ``withFile(of:timeout:_:)``
    /// that has begun is not interrupted; after `limit`, the call does not wait for it.
    ///
    /// - Parameters:
    ///   - limit: the time for leases to be released. Nil waits for them as long as necessary.
    ///   - grace: the further time for cancelled accesses to end: see ``DatabasePool/close(within:grace:)``.
    /// - Throws: the first error of ``DatabasePool/close(within:grace:)``, after all databases were tried;
    ///   ``DatabaseWaitError`` if a database is still being opened after `grace`.
    public func close(within limit: Duration? = nil, grace: Duration = .seconds(5)) async throws {
        shelf.close()
        let shelf = shelf
        let areClosed = try await BlockingWork.run("Coffer.Closing") { _ in shelf.waitUntilClosed(limit) }
        guard !areClosed else { return }
        let grace = max(.zero, grace)
        let areOpened = try await BlockingWork.run("Coffer.Closing") { _ in shelf.waitForOpenings(grace) }
        let errors = await withTaskGroup(of: (any Error)?.self, returning: [any Error].self) { group in
            for pool in shelf.openPools {
                group.addTask {
                    do {
                        try await pool.close(within: .zero, grace: grace)
                        return nil
                    } catch {
                        return error
                    }
                }
            }
            return await group.reduce(into: []) { errors, error in if let error { errors.append(error) } }
        }
        try await BlockingWork.run("Coffer.Closing") { _ in shelf.waitForClosings(grace) }
        if let error = errors.first { throw error }
        if !areOpened { throw DatabaseWaitError.timedOut(.openDatabase, waited: grace.inSeconds) }
    }
}
