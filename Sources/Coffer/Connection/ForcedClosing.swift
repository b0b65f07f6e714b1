internal import Dispatch
internal import Synchronization

/// A queue or a pool whose accesses can be ended from outside.
protocol ClosableDatabase: AnyObject, Sendable {
    /// Closes the connections if all accesses end in time.
    ///
    /// - Throws: ``DatabaseWaitError`` if they do not, and `SQLITE_BUSY` if statements are still alive. The
    ///   database remains usable then.
    func close(within bounds: WaitBounds) throws

    /// Aborts the running statements.
    func interrupt()

    /// Makes the statements of the current accesses and of later ones throw `CancellationError`.
    func cancelAccesses()

    /// Ends the effect of ``cancelAccesses()`` for accesses that begin later. The current ones remain
    /// cancelled until they end.
    func allowAccesses()

    /// Aborts the running statements of accesses that are cancelled although later ones are allowed. Returns
    /// false if there are none.
    func interruptCancelledAccesses() -> Bool

    /// The closings that cancel accesses now.
    var cancellingClosings: CancellingClosings { get }
}

/// The number of closings of one database that cancel its accesses at the same time.
final class CancellingClosings: Sendable {
    private let count = Mutex(0)

    /// Counts a closing, and calls `cancel`.
    func begin(_ cancel: () -> Void) {
        count.withLock { count in
            count += 1
            cancel()
        }
    }

    /// Ends a closing, and calls `allow` if it was the last one.
    func end(_ allow: () -> Void) {
        count.withLock { count in
            count -= 1
            if count == 0 { allow() }
        }
    }
}

/// Closes a database, and cancels the accesses that do not end in time.
final class ForcedClosing: Sendable {
    private enum Phase {
        case waiting, cancelling, ended
    }

    /// Held while accesses are cancelled and interrupted, so that no later access is interrupted.
    private let phase = Mutex(Phase.waiting)
    private let database: any ClosableDatabase

    /// A queue of its own, so that the time does not depend on other work, and because an interruption waits
    /// for a connection that is just being closed.
    private let queue = DispatchQueue(label: "Coffer.ForcedClosing")

    /// The time between two interruptions. One of them has no effect on a statement that is about to begin.
    private static let interval = DispatchTimeInterval.milliseconds(10)

    private init(_ database: any ClosableDatabase) { self.database = database }

    /// Closes a database on the current thread.
    ///
    /// - Parameters:
    ///   - limit: the time after which accesses are cancelled; nil for no limit.
    ///   - grace: the further time for them to end.
    /// - Throws: the errors of ``ClosableDatabase/close(within:)``.
    static func close(_ database: any ClosableDatabase, within limit: Duration?, grace: Duration) throws {
        guard let seconds = limit?.limitInSeconds else { return try database.close(within: .none) }
        let closing = ForcedClosing(database)
        defer { closing.end() }
        if seconds > 0 {
            closing.queue.asyncAfter(deadline: .now() + seconds) { [weak closing] in
                closing?.cancelAccesses()
            }
        } else {
            closing.cancelAccesses()
        }
        do {
            try database.close(within: WaitBounds(timeout: seconds + max(.zero, grace).inSeconds))
        } catch let error as DatabaseWaitError {
            // The timer may be late if there is little grace.
            closing.cancelAccesses()
            throw error
        }
    }

    /// Cancels the accesses, again and again until the database is closed.
    private func cancelAccesses() {
        let hasEnded = phase.withLock { phase in
            switch phase {
            case .ended: return true
            case .waiting:
                phase = .cancelling
                database.cancellingClosings.begin(database.cancelAccesses)
            case .cancelling: break
            }
            database.interrupt()
            return false
        }
        guard !hasEnded else { return }
        queue.asyncAfter(deadline: .now() + Self.interval) { self.cancelAccesses() }
    }

    private func end() {
        let hasCancelled = phase.withLock { phase in
            defer { phase = .ended }
            guard case .cancelling = phase else { return false }
            database.cancellingClosings.end(database.allowAccesses)
            return true
        }
        if hasCancelled { interruptCancelledAccesses() }
    }

    /// Interrupts the accesses that are still cancelled, again and again until they end.
    private func interruptCancelledAccesses() {
        guard database.interruptCancelledAccesses() else { return }
        queue.asyncAfter(deadline: .now() + Self.interval) { self.interruptCancelledAccesses() }
    }
}

// MARK: - Queues and pools

extension DatabaseQueue: ClosableDatabase {
    func cancelAccesses() { connection.cancelAccesses() }
    func allowAccesses() { connection.allowAccesses() }
    func interruptCancelledAccesses() -> Bool { connection.interruptCancelledAccess() }

    /// Opens or creates the database file at `path` with `configuration`, without blocking a thread of the
    /// Swift executor: see ``init(path:configuration:)``.
    ///
    ///     let queue = try await DatabaseQueue.open(path: path, configuration: configuration)
    ///
    /// - Throws: a ``DatabaseError``, or `CancellationError` if the task is cancelled.
    public static func open(
        path: String, configuration: Configuration = Configuration()
    ) async throws -> DatabaseQueue {
        try await BlockingWork.run("Coffer.Opening") { signal in
            try signal.check()
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            try signal.check()
            return queue
        }
    }

    /// Closes the connection like ``close()``, without blocking a thread of the Swift executor, and cancels
    /// the accesses that do not end within `limit`. They have a further `grace` to end.
    ///
    ///     try await queue.close(within: .seconds(2))
    ///
    /// - Parameters:
    ///   - limit: see ``DatabasePool/close(within:grace:)``.
    ///   - grace: the further time for cancelled accesses to end.
    /// - Throws: the errors of ``DatabasePool/close(within:grace:)``.
    public func close(within limit: Duration?, grace: Duration = .seconds(5)) async throws {
        try await BlockingWork.run("Coffer.Closing") { _ in
            try ForcedClosing.close(self, within: limit, grace: grace)
        }
    }
}

extension DatabasePool: ClosableDatabase {
    func cancelAccesses() {
        writer.cancelAccesses()
        readers.cancelAccesses()
    }

    func allowAccesses() {
        writer.allowAccesses()
        readers.allowAccesses()
    }

    func interruptCancelledAccesses() -> Bool {
        let isWriting = writer.interruptCancelledAccess()
        return readers.interruptCancelledAccesses() || isWriting
    }

    /// Opens or creates the database file at `path` with `configuration`, without blocking a thread of the
    /// Swift executor: see ``init(path:configuration:)``.
    ///
    ///     let pool = try await DatabasePool.open(path: path, configuration: configuration)
    ///
    /// - Throws: a ``DatabaseError``, or `CancellationError` if the task is cancelled.
    /// - Precondition: ``Configuration/maximumReaderCount`` is at least 1.
    public static func open(
        path: String, configuration: Configuration = Configuration()
    ) async throws -> DatabasePool {
        try await BlockingWork.run("Coffer.Opening") { signal in
            try signal.check()
            let pool = try DatabasePool(path: path, configuration: configuration)
            try signal.check()
            return pool
        }
    }

    /// Closes all connections like ``close()``, without blocking a thread of the Swift executor, and cancels
    /// the accesses that do not end in time.
    ///
    ///     try await pool.close(within: .seconds(2))
    ///
    /// After `limit`, the running statements are interrupted. The accesses that run or wait throw
    /// `CancellationError`, as if their tasks were cancelled, and their transactions are rolled back. An
    /// access can delay this only by code that runs no SQL, for at most `grace`.
    ///
    /// The task waits until the pool is closed, even if it is cancelled. The time to checkpoint the log is in
    /// addition to both limits. Any number of pools can be closed at the same time.
    ///
    /// - Parameters:
    ///   - limit: the time for accesses to end. Zero or less cancels them immediately; nil waits for them as
    ///     long as necessary, like ``close()``.
    ///   - grace: the further time for cancelled accesses to end.
    /// - Throws: ``DatabaseWaitError/timedOut(_:waited:)`` if an access has not ended after both times;
    ///   `SQLITE_BUSY` if statements are still alive. The pool remains usable then: the cancelled accesses
    ///   remain cancelled until they end, those that begin later run as usual, and its observations of values
    ///   continue.
    public func close(within limit: Duration?, grace: Duration = .seconds(5)) async throws {
        try await BlockingWork.run("Coffer.Closing") { _ in
            try ForcedClosing.close(self, within: limit, grace: grace)
        }
    }
}
