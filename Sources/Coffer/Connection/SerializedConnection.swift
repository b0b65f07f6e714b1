internal import Dispatch
internal import Foundation
internal import SQLCipherBridge
internal import Synchronization

/// A connection whose accesses run one after the other, and the serial dispatch queue of those that do not
/// run on the thread of their caller.
///
/// Each access has the turn of the line or, if it is the only user of a connection on loan, the loan. The
/// queue only lends its threads: it is in use only for accesses that have the turn or the loan.
final class SerializedConnection: Sendable {
    let configuration: Configuration
    let path: String
    let queue: DispatchQueue

    /// The limits within which accesses of the application wait.
    let bounds: WaitBounds

    /// The measurements of accesses; nil if they are not measured.
    private let recorder: AccessRecorder?

    private let line: AccessLine

    /// True if only accesses of this connection can keep its queue busy.
    private let hasQueueOfItsOwn: Bool

    /// The same connection as an actor, for tasks.
    private let actor: QueueActor

    // `database` is only used by the access that has the turn of `line`, or by the holder of a loan. `state`
    // is Sendable and holds the parts that other threads may access.
    private nonisolated(unsafe) let database: Database
    private let state: Database.SharedState

    /// The observations of the connection's writes.
    let regionWatch: RegionWatch

    /// Set once, at the end of `init`.
    private let suspensionListener = Mutex<SuspensionListener?>(nil)

    init(
        opening location: DatabaseLocation, configuration: Configuration, purpose: Database.Purpose,
        label: String, keys: ConnectionKeys, recorder: AccessRecorder? = nil
    ) throws {
        self.configuration = configuration
        self.recorder = recorder
        self.path = location.path
        self.bounds = WaitBounds(configuration)
        self.line = AccessLine(
            for: purpose == .writer && configuration.hasReadersBesideWriter ? .writer : .connection)
        self.queue = configuration.makeDispatchQueue(label: label, purpose: purpose)
        let database = try SerializedConnection.open(
            location, configuration: configuration, purpose: purpose, label: label, keys: keys)
        unsafe self.database = database
        self.state = database.sharedState
        self.regionWatch = database.observerNotifier.watch
        self.hasQueueOfItsOwn = configuration.targetQueue(for: purpose) == nil
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
                // A transaction that outlives its access may have no further statement that would end it.
                self?.async { $0.rollBackForSuspension() }
            },
            resume: { [state] in state.resume() })
        suspensionListener.withLock { $0 = listener }
    }

    /// Returns the time for which opening is retried. Connections that are opened at the same time briefly
    /// lock the file to create it or to change its journal mode, and SQLite does not call the busy handler if
    /// waiting would be a deadlock.
    private static func patience(_ configuration: Configuration) -> Duration {
        guard case .timeout(let seconds) = configuration.busyMode else { return .milliseconds(500) }
        // No clock can represent the end of any number of seconds.
        return .seconds(min(max(0.5, seconds), 1e9))
    }

    /// Returns true for the error of a connection that found an empty file to which another connection has
    /// written in the meantime: the pages of the file and of its WAL file are not authentic under the salt
    /// that this connection has chosen.
    private static func isOfAnotherSalt(_ error: any Error) -> Bool {
        switch error {
        case let error as EngineError:
            error.primaryCode == EngineCode.notADatabase || error.code == EngineCode.refusedSideFile
        case let error as DatabaseError:
            error.extendedResultCode.rawValue == EngineCode.refusedSideFile && error.encryptionFailure == nil
        default: false
        }
    }

    /// Returns true for the error of a connection whose file may be about to be replaced, or was replaced
    /// while it was opened. A file that will be kept has two names for a moment.
    private static func isOfReplacedFile(_ error: any Error) -> Bool {
        switch error {
        case let error as EngineError: return error.code == EngineCode.databaseMoved
        case let error as DatabaseError:
            if case .severalNames(_, .hardLinks) = error.encryptionFailure { return true }
            return error.extendedResultCode == .SQLITE_READONLY_DBMOVED
        default: return false
        }
    }

    private static func isBusy(_ error: any Error) -> Bool {
        switch error {
        case let error as EngineError: error.primaryCode == EngineCode.busy
        case let error as DatabaseError: error.resultCode == .SQLITE_BUSY
        default: false
        }
    }

    /// Opens the connection on the current thread. No other thread has access to it yet.
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
                // Another connection has given the empty file its salt first, but possibly with the same key.
                remainingTries -= 1
                keys.didLoseEmptyFile()
            } catch  where isOfReplacedFile(error) && remainingTries > 0 {
                remainingTries -= 1
                Thread.sleep(forTimeInterval: 0.02)
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
    /// True if the current thread is inside an access of this connection.
    var isAccessedByCurrentThread: Bool {
        state.accessingThread.load(ordering: .relaxed) == currentThreadID()
    }

    /// The current time, for an access that is about to wait; nil if accesses are not measured.
    var timeOfRequest: MonotonicTime? { recorder == nil ? nil : .now }

    /// True while an access has the turn, and the number of accesses that wait for it.
    var turns: (isTaken: Bool, waiting: Int) { line.turns }

    /// Waits for the earlier accesses, then runs `body` and returns its result.
    ///
    /// - Precondition: the current thread is not inside an access of this connection.
    func sync<T>(_ body: (Database) throws -> T) rethrows -> T {
        checkIsOutsideAccess()
        let request = timeOfRequest
        line.enter()
        defer { line.leave() }
        return try accessInTurn(since: request, body)
    }

    /// Waits for the earlier accesses within bounds, then runs `body` and returns its result.
    ///
    /// - Parameter readsOnly: true if `body` itself prevents the connection from writing, so that the
    ///   connection may still reject writes from the last read-only access.
    /// - Throws: the error of `body`, or ``DatabaseWaitError``.
    /// - Precondition: the current thread is not inside an access of this connection.
    func sync<T>(readsOnly: Bool = false, within bounds: WaitBounds, _ body: (Database) throws -> T) throws
        -> T
    {
        checkIsOutsideAccess()
        let request = timeOfRequest
        try line.enter(within: bounds)
        defer { line.leave() }
        return try accessInTurn(readsOnly: readsOnly, since: request, body)
    }

    private func checkIsOutsideAccess() {
        precondition(
            !isAccessedByCurrentThread,
            "This thread is already inside a database access. Use the Database of that access.")
    }

    /// Runs `body` on the current thread, which has the turn or the loan. Dispatching to an idle queue would
    /// only add latency, a tenth of a short read.
    private func accessInTurn<T>(
        readsOnly: Bool = false, since request: MonotonicTime?, _ body: (Database) throws -> T
    ) rethrows -> T {
        if hasQueueOfItsOwn { return try access(readsOnly: readsOnly, since: request, body) }
        return try queue.sync { try access(readsOnly: readsOnly, since: request, body) }
    }

    /// Runs `body` on the thread that has the connection on loan: no other caller can use the connection
    /// until the access has ended.
    ///
    /// - Precondition: the current thread is not inside an access of this connection.
    func syncOnLoan<T>(since request: MonotonicTime? = nil, _ body: (Database) throws -> T) rethrows -> T {
        checkIsOutsideAccess()
        return try accessInTurn(since: request, body)
    }

    /// Runs `body` after the earlier accesses, or immediately inside an access of this connection.
    func reentrantSync<T>(_ body: (Database) throws -> T) rethrows -> T {
        if isAccessedByCurrentThread {
            return unsafe try body(database)
        }
        return try sync(body)
    }

    /// Schedules `body` after the earlier accesses, and returns immediately.
    ///
    /// - Parameter end: a function that is called after the access, when the connection is no longer in use.
    func async(_ body: @escaping @Sendable (Database) -> Void, end: (@Sendable () -> Void)? = nil) {
        let request = timeOfRequest
        let turn: @Sendable () -> Void = {
            self.access(since: request, body)
            self.line.leave()
            end?()
        }
        if line.takeTurn() {
            queue.async(execute: turn)
        } else {
            line.enter { self.queue.async(execute: turn) }
        }
    }

    /// Runs `body` after the earlier accesses, for a task.
    ///
    /// The task resumes on the queue, and gives its turn back there. It never waits for one of the threads
    /// that tasks share, because all of them may be blocked by calls that wait for this very turn. If the
    /// wait fails, the task resumes on another queue, immediately.
    ///
    /// - Parameter readsOnly: see ``sync(readsOnly:within:_:)``.
    /// - Throws: the error of `body`; `CancellationError` if the task is cancelled while it waits, or during
    ///   a statement of `body`; ``DatabaseWaitError`` if the bounds do not allow the wait.
    func perform<T: Sendable>(
        readsOnly: Bool = false, within bounds: WaitBounds, _ body: @Sendable (Database) throws -> T
    ) async throws -> T {
        let request = timeOfRequest
        if line.takeTurn() {
            return try await performOnQueue(readsOnly: readsOnly, since: request, body, AccessCancellation())
            {
                line.leave()
            }
        }
        let (ticket, cancellation) = (AccessTicket<AccessLine>(), AccessCancellation())
        let answer = Mutex(Result<Void, any Error>.failure(CancellationError()))
        let turn = QueueActor { [line, queue] job in
            ticket.begin(.turn, in: line, within: bounds) { result in
                answer.withLock { $0 = result }
                let isGranted = if case .success = result { true } else { false }
                (isGranted ? queue : WaitQueue.queue).async(execute: job)
            }
        }
        return try await withTaskCancellationHandler {
            try await turn.run {
                try answer.withLock { $0 }.get()
                defer { line.leave() }
                return try accessOnQueue(readsOnly: readsOnly, since: request, body, cancellation)
            }
        } onCancel: {
            ticket.cancel(in: line)
            cancellation.cancel()
        }
    }

    /// Runs `body` for a task that has the connection on loan, on the task's thread or on the queue.
    ///
    /// - Parameter end: a function that is called after the access and on its thread, when the connection is
    ///   no longer in use. It is called before the task resumes.
    /// - Throws: the error of `body`; `CancellationError` if the task is cancelled before `body` runs, or
    ///   during one of its statements.
    func performOnLoan<T: Sendable>(
        _ body: @Sendable (Database) throws -> T, end: @Sendable () -> Void
    ) async throws -> T {
        let cancellation = AccessCancellation()
        let request = timeOfRequest
        guard hasQueueOfItsOwn, ImmediateAccess.begin() else {
            return try await performOnQueue(readsOnly: false, since: request, body, cancellation, end: end)
        }
        return try await withTaskCancellationHandler {
            defer {
                ImmediateAccess.end()
                end()
            }
            return try access(readsOnly: false, since: request, body, cancellation)
        } onCancel: {
            cancellation.cancel()
        }
    }

    private func performOnQueue<T: Sendable>(
        readsOnly: Bool, since request: MonotonicTime?, _ body: @Sendable (Database) throws -> T,
        _ cancellation: AccessCancellation, end: @Sendable () -> Void
    ) async throws -> T {
        try await withTaskCancellationHandler {
            try await actor.run {
                defer { end() }
                return try self.access(readsOnly: readsOnly, since: request, body, cancellation)
            }
        } onCancel: {
            cancellation.cancel()
        }
    }

    /// Runs `body` for a task that has the turn or the loan.
    ///
    /// - Precondition: called on the queue of the connection.
    func accessOnQueue<T>(
        readsOnly: Bool = false, since request: MonotonicTime?, _ body: (Database) throws -> T,
        _ cancellation: AccessCancellation
    ) throws -> T {
        dispatchPrecondition(condition: .onQueue(queue))
        return try access(readsOnly: readsOnly, since: request, body, cancellation)
    }

    private func access<T>(
        readsOnly: Bool, since request: MonotonicTime?, _ body: (Database) throws -> T,
        _ cancellation: AccessCancellation
    ) throws -> T {
        guard cancellation.begin(state) else { throw CancellationError() }
        defer { cancellation.end(state) }
        do {
            return try access(readsOnly: readsOnly, since: request, body)
        } catch let error as any InterruptibleError
            where error.isInterruptionError && (cancellation.isCancelled || state.isCancelled)
        {
            // The cancellation, or the closing, is the reason for any interrupted statement or aborted
            // transaction.
            throw CancellationError()
        }
    }

    /// Returns the connection, for use in the current access only.
    ///
    /// - Precondition: the current thread is inside an access of this connection.
    func currentDatabase(_ message: @autoclosure () -> String) -> Database {
        precondition(isAccessedByCurrentThread, message())
        return unsafe database
    }

    /// Aborts the running statement.
    func interrupt() { state.interrupt() }

    /// Makes the statements of the current access and of later ones throw `CancellationError`.
    func cancelAccesses() { state.cancel(.ofConnection) }

    /// Ends the effect of ``cancelAccesses()`` for later accesses.
    func allowAccesses() { state.endCancellationOfLaterAccesses() }

    /// Aborts the running statement if the current access is cancelled although later ones are allowed.
    /// Returns false if there is no such access.
    func interruptCancelledAccess() -> Bool { state.interruptCancelledAccess() }

    /// Closes the connection after the earlier accesses.
    func close(within bounds: WaitBounds = .none) throws {
        try sync(within: bounds) { try $0.closeOrThrow() }
    }

    /// Closes the connection on the current thread, even if statements are still alive.
    ///
    /// - Precondition: no access is running, and no other will begin, for example in `deinit`.
    func closeUnused() {
        state.beginAccess()
        unsafe database.close()
    }

    private func access<T>(
        readsOnly: Bool = false, since request: MonotonicTime?, _ body: (Database) throws -> T
    ) rethrows -> T {
        guard let recorder else { return try access(readsOnly: readsOnly, body) }
        let database = unsafe self.database
        let measurement = recorder.begin(database, since: request)
        let kind: DatabaseAccessReport.Kind = readsOnly || database.purpose == .reader ? .read : .write
        do {
            let value = try access(readsOnly: readsOnly, body)
            recorder.end(measurement, database, kind, error: nil)
            return value
        } catch {
            recorder.end(measurement, database, kind, error: error)
            throw error
        }
    }

    private func access<T>(readsOnly: Bool, _ body: (Database) throws -> T) rethrows -> T {
        let database = unsafe self.database
        state.beginAccess()
        return try database.withAccess {
            database.finishWork()
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
