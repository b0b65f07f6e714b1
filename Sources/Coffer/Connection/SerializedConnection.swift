internal import Dispatch
internal import Foundation
internal import SQLCipherBridge
internal import Synchronization

/// A connection and the serial dispatch queue that its accesses run on, unless it is on loan: see
/// ``syncOnLoan(_:)``.
final class SerializedConnection: Sendable {
    let configuration: Configuration
    let path: String
    let queue: DispatchQueue

    /// Whether nobody but accesses of the connection can keep its queue busy.
    private let hasQueueOfItsOwn: Bool

    /// The same connection as an actor, for tasks.
    private let actor: QueueActor

    // The connection is used on `queue` only, and what other threads may touch is in `state`, which is
    // Sendable.
    private nonisolated(unsafe) let database: Database
    private let state: Database.SharedState

    /// The observations of what the connection writes.
    let regionWatch: RegionWatch

    /// Set once, at the end of `init`.
    private let suspensionListener = Mutex<SuspensionListener?>(nil)

    init(
        opening location: DatabaseLocation, configuration: Configuration, purpose: Database.Purpose,
        label: String, keys: ConnectionKeys
    ) throws {
        self.configuration = configuration
        self.path = location.path
        self.queue = configuration.makeDispatchQueue(label: label, purpose: purpose)
        let database = try SerializedConnection.open(
            location, configuration: configuration, purpose: purpose, label: label, keys: keys)
        unsafe self.database = database
        self.state = database.sharedState
        self.regionWatch = database.observerNotifier.watch
        self.hasQueueOfItsOwn = configuration.targetQueue == nil
        self.actor = QueueActor(queue: queue)
        if configuration.observesSuspensionNotifications, purpose == .writer, location.isFile,
            !configuration.readonly
        {
            listenToSuspensions()
        }
    }

    private func listenToSuspensions() {
        let listener = SuspensionListener(
            suspend: { [weak self, state] in
                state.suspend()
                // A transaction that outlives its access has no next statement to end it.
                self?.async { $0.rollBackForSuspension() }
            },
            resume: { [state] in state.resume() })
        suspensionListener.withLock { $0 = listener }
    }

    /// How long opening tries again. Connections that are opened at the same time lock the file for moments,
    /// to create it or to change its journal mode, and SQLite does not ask the busy handler where waiting
    /// would be a deadlock.
    private static func patience(_ configuration: Configuration) -> Duration {
        guard case .timeout(let seconds) = configuration.busyMode else { return .milliseconds(500) }
        return .seconds(max(0.5, seconds))
    }

    /// Whether the error is what a connection meets that took a file for empty, which another one has given
    /// content meanwhile: its pages, and those of a log beside it, are not authentic under the salt that this
    /// connection had chosen.
    private static func isOfAnotherSalt(_ error: any Error) -> Bool {
        switch error {
        case let error as EngineError:
            error.primaryCode == EngineCode.notADatabase || error.code == EngineCode.refusedSideFile
        case let error as DatabaseError:
            error.extendedResultCode.rawValue == EngineCode.refusedSideFile && error.encryptionFailure == nil
        default: false
        }
    }

    private static func isBusy(_ error: any Error) -> Bool {
        switch error {
        case let error as EngineError: error.primaryCode == EngineCode.busy
        case let error as DatabaseError: error.resultCode == .SQLITE_BUSY
        default: false
        }
    }

    /// Opens the connection on the current thread: no other thread knows it yet.
    private static func open(
        _ location: DatabaseLocation, configuration: Configuration, purpose: Database.Purpose, label: String,
        keys: ConnectionKeys
    ) throws -> Database {
        var remainingTries = 3
        let end = ContinuousClock.now + patience(configuration)
        while true {
            do {
                return try Database(
                    opening: location, configuration: configuration, purpose: purpose, description: label,
                    keys: keys)
            } catch  where isOfAnotherSalt(error) && remainingTries > 0 {
                // Another connection gave the empty file its salt first: its key may be ours all the same.
                remainingTries -= 1
                keys.didLoseEmptyFile()
            } catch  where isBusy(error) && ContinuousClock.now < end {
                Thread.sleep(forTimeInterval: 0.002)
            } catch {
                throw DatabaseError.publicError(error)
            }
        }
    }

    deinit {
        // No access can be running or waiting: each of them keeps the connection alive.
        closeUnused()
    }
}

// MARK: - Accesses

extension SerializedConnection {
    /// Whether the current thread is inside of an access of this connection.
    var isAccessedByCurrentThread: Bool {
        state.accessingThread.load(ordering: .relaxed) == currentThreadID()
    }

    /// Runs `body` when its turn comes, and returns its result.
    ///
    /// - Parameter readsOnly: whether `body` keeps the connection from writing, so that it may be as the last
    ///   such access has left it.
    /// - Precondition: the current thread is not inside of an access of this connection.
    func sync<T>(readsOnly: Bool = false, _ body: (Database) throws -> T) rethrows -> T {
        precondition(
            !isAccessedByCurrentThread, "This thread is inside of an access already: pass its Database on.")
        return try queue.sync { try access(readsOnly: readsOnly, body) }
    }

    /// Runs `body` for the thread that has the connection on loan: no other caller can use it before the
    /// access has ended.
    ///
    /// Its turn has come already. The way over a queue that nobody else uses would only cost time, a tenth of
    /// a short read.
    ///
    /// - Precondition: the current thread is not inside of an access of this connection.
    func syncOnLoan<T>(_ body: (Database) throws -> T) rethrows -> T {
        guard hasQueueOfItsOwn else { return try sync(body) }
        precondition(
            !isAccessedByCurrentThread, "This thread is inside of an access already: pass its Database on.")
        return try access(body)
    }

    /// Runs `body` when its turn comes, or at once inside of an access of this connection.
    func reentrantSync<T>(_ body: (Database) throws -> T) rethrows -> T {
        if isAccessedByCurrentThread {
            return unsafe try body(database)
        }
        return try queue.sync { try access(body) }
    }

    /// Runs `body` when its turn comes, and returns at once.
    ///
    /// - Parameter end: called after the access: the connection is not in use any more.
    func async(_ body: @escaping @Sendable (Database) -> Void, end: (@Sendable () -> Void)? = nil) {
        queue.async {
            self.access(body)
            end?()
        }
    }

    /// Runs `body` when its turn comes.
    ///
    /// - Parameters:
    ///   - isOnLoan: whether no other caller can use the connection before the access has ended. Then a task
    ///     may stay on its thread.
    ///   - readsOnly: as in ``sync(readsOnly:_:)``.
    ///   - end: called after the access, on the thread that it ran on: the connection is not in use any more.
    ///     It does not wait for the task.
    /// - Throws: `CancellationError` if the task is cancelled, before `body` runs or while one of its
    ///   statements does.
    func perform<T: Sendable>(
        isOnLoan: Bool = false, readsOnly: Bool = false, _ body: @Sendable (Database) throws -> T,
        end: @Sendable () -> Void = {}
    ) async throws -> T {
        let cancellation = AccessCancellation()
        return try await withTaskCancellationHandler {
            if isOnLoan, hasQueueOfItsOwn, ImmediateAccess.begin() {
                defer {
                    ImmediateAccess.end()
                    end()
                }
                return try access(readsOnly: readsOnly, body, cancellation)
            }
            return try await actor.run {
                defer { end() }
                return try self.access(readsOnly: readsOnly, body, cancellation)
            }
        } onCancel: {
            cancellation.cancel()
        }
    }

    /// Runs `body` for a task.
    ///
    /// - Precondition: called on the queue of the connection.
    func accessOnQueue<T>(_ body: (Database) throws -> T, _ cancellation: AccessCancellation) throws -> T {
        dispatchPrecondition(condition: .onQueue(queue))
        return try access(readsOnly: false, body, cancellation)
    }

    private func access<T>(
        readsOnly: Bool, _ body: (Database) throws -> T, _ cancellation: AccessCancellation
    ) throws -> T {
        guard cancellation.begin(state) else { throw CancellationError() }
        defer { cancellation.end(state) }
        do {
            return try access(readsOnly: readsOnly, body)
        } catch let error as DatabaseError where error.isInterruptionError && cancellation.isCancelled {
            // Whatever was interrupted, or found its transaction gone: the reason is the cancellation.
            throw CancellationError()
        }
    }

    /// The connection, for the current access only.
    ///
    /// - Precondition: the current thread is inside of an access of this connection.
    func currentDatabase(_ message: @autoclosure () -> String) -> Database {
        precondition(isAccessedByCurrentThread, message())
        return unsafe database
    }

    /// Aborts the running statement.
    func interrupt() { state.interrupt() }

    /// Closes the connection once the accesses before it have ended.
    func close() throws {
        try sync { try $0.closeOrThrow() }
    }

    /// Closes the connection on the current thread, whatever statements are still alive.
    ///
    /// - Precondition: no access is running, and none will come: as at the end of the connection's life.
    func closeUnused() {
        unsafe database.close()
    }

    private func access<T>(readsOnly: Bool = false, _ body: (Database) throws -> T) rethrows -> T {
        let database = unsafe self.database
        return try database.withAccess {
            if !readsOnly { database.endReadingOnly() }
            defer { database.checkNoTransactionLeft() }
            do {
                return try body(database)
            } catch {
                database.rollBackAfterCancellation()
                throw error
            }
        }
    }
}
