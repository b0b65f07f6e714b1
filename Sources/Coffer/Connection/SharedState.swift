internal import SQLCipherBridge
internal import Synchronization

extension Database {
    /// The state of a connection that other threads may access.
    final class SharedState: Sendable {
        /// The connection that may be interrupted; nil once it is closed.
        private let interruptible: Mutex<InterruptHandle?>

        /// The reasons that have no effect now, as bits of ``Cancellation``. If all bits are set, nothing
        /// interrupts the connection. Changed under the lock of ``interruptible``.
        private let shield = Atomic<UInt8>(0)

        /// The thread that is using the connection, or zero.
        let accessingThread = Atomic<UInt>(0)

        /// The reasons why statements throw `CancellationError`, as bits of ``Cancellation``.
        private let cancellations = Atomic<UInt8>(0)

        /// True if the connection must not take locks: see ``Database/suspendNotification``.
        let isSuspended = Atomic<Bool>(false)

        /// The number of suspensions so far. Changed under the lock of ``interruptible``.
        private let suspensionCount = Atomic<UInt>(0)

        /// Functions to call when the suspension ends.
        private let resumptions = Mutex<[@Sendable () -> Void]>([])

        init(handle: ConnectionHandle) {
            interruptible = Mutex(InterruptHandle(handle))
        }

        /// Sets the connection that ``interrupt()`` acts on.
        func replace(_ newHandle: ConnectionHandle?) {
            let newHandle = newHandle.map(InterruptHandle.init)
            interruptible.withLock { $0 = newHandle }
        }

        /// Closes the connection. It cannot be interrupted during the call, nor after a successful one.
        func close(_ body: () -> CInt) -> CInt {
            interruptible.withLock { handle in
                let code = body()
                if code == EngineCode.ok { handle = nil }
                return code
            }
        }

        /// Aborts the running statement. The lock keeps the connection from being closed during the call.
        ///
        /// - Parameter reason: the cancellation that causes the interruption; nil for any other cause.
        func interrupt(for reason: Cancellation? = nil) {
            interruptible.withLock { interrupt($0, for: reason) }
        }

        private func interrupt(_ handle: InterruptHandle?, for reason: Cancellation? = nil) {
            let (shield, bits) = (shield.load(ordering: .relaxed), reason?.rawValue ?? .max)
            if shield & bits != bits { handle?.interrupt() }
        }

        /// Runs `body`, during which the connection, or the one that replaces it, cannot be interrupted.
        ///
        /// - Parameter reason: the only cancellation without effect during `body`; nil for all interruptions.
        func shielded<Result>(
            from reason: Cancellation? = nil, _ body: () throws -> Result
        ) rethrows -> Result {
            let outer = interruptible.withLock { _ in
                shield.bitwiseOr(reason?.rawValue ?? .max, ordering: .relaxed).oldValue
            }
            defer { interruptible.withLock { _ in shield.store(outer, ordering: .relaxed) } }
            return try body()
        }
    }
}

// MARK: - Cancellation

extension Database.SharedState {
    /// A reason to end accesses. Several may apply at the same time.
    enum Cancellation: UInt8 {
        /// The task of the current access was cancelled.
        case ofTask = 1
        /// The connection is about to be closed: see ``ForcedClosing``.
        case ofConnection = 2
        /// The connection was about to be closed during the current access. An access ignores this bit if it
        /// is set when the access begins.
        case ofAccess = 4
    }

    /// True if there is a reason to end the current access.
    var isCancelled: Bool { cancellations.load(ordering: .relaxed) != 0 }

    /// True if there is a reason to end the current statement: see ``shielded(from:_:)``.
    var endsStatements: Bool {
        let reasons = cancellations.load(ordering: .relaxed)
        return reasons != 0 && reasons & ~shield.load(ordering: .relaxed) != 0
    }

    func cancel(_ reason: Cancellation) {
        cancellations.bitwiseOr(reason.rawValue, ordering: .relaxed)
    }

    func endCancellation(_ reason: Cancellation) {
        cancellations.bitwiseAnd(~reason.rawValue, ordering: .relaxed)
    }

    /// Ends ``Cancellation/ofConnection`` for the accesses that begin from now on. The current access remains
    /// cancelled until it ends.
    func endCancellationOfLaterAccesses() {
        let (connection, access) = (Cancellation.ofConnection.rawValue, Cancellation.ofAccess.rawValue)
        var old = cancellations.load(ordering: .relaxed)
        while old & connection != 0 {
            let (wasChanged, current) = cancellations.weakCompareExchange(
                expected: old, desired: old & ~connection | access, ordering: .sequentiallyConsistent)
            if wasChanged { return }
            old = current
        }
    }

    /// Ends a cancellation that was meant for an earlier access.
    func beginAccess() {
        guard cancellations.load(ordering: .relaxed) & Cancellation.ofAccess.rawValue != 0 else { return }
        // The lock keeps an interruption of the earlier access from hitting this one.
        interruptible.withLock { _ in endCancellation(.ofAccess) }
    }

    /// Aborts the running statement of an access that is still cancelled although its connection is not
    /// about to be closed any more. Returns false if there is no such access.
    func interruptCancelledAccess() -> Bool {
        interruptible.withLock { handle in
            guard cancellations.load(ordering: .relaxed) & Cancellation.ofAccess.rawValue != 0,
                accessingThread.load(ordering: .relaxed) != 0
            else { return false }
            interrupt(handle, for: .ofAccess)
            return true
        }
    }
}

extension Database.SharedState: StoppableAccess {
    var stopsWaiting: Bool { endsStatements }
}

// MARK: - Suspension

extension Database.SharedState {
    /// Rejects locks from now on, and aborts the running statement.
    func suspend() {
        // One step for `suspensionMark`: a suspension has either not begun, or has interrupted the statement.
        interruptible.withLock { handle in
            suspensionCount.add(1, ordering: .relaxed)
            isSuspended.store(true, ordering: .sequentiallyConsistent)
            interrupt(handle)
        }
    }

    func resume() {
        isSuspended.store(false, ordering: .sequentiallyConsistent)
        runResumptions()
    }

    /// A moment, to find out whether a suspension has had an effect since then.
    struct SuspensionMark {
        fileprivate let count: UInt
        fileprivate let isSuspended: Bool
    }

    var suspensionMark: SuspensionMark {
        interruptible.withLock { _ in
            SuspensionMark(
                count: suspensionCount.load(ordering: .relaxed),
                isSuspended: isSuspended.load(ordering: .relaxed))
        }
    }

    /// Returns true if the connection was suspended at a moment, or later. The suspension may have ended.
    func wasSuspended(since mark: SuspensionMark) -> Bool {
        mark.isSuspended || suspensionMark.count != mark.count
    }

    private func runResumptions() {
        let actions = resumptions.withLock { actions in
            defer { actions = [] }
            return actions
        }
        for action in actions { action() }
    }

    /// Calls `action` when the suspension ends, or immediately if there is none.
    func afterResumption(_ action: @escaping @Sendable () -> Void) {
        resumptions.withLock { $0.append(action) }
        if !isSuspended.load(ordering: .sequentiallyConsistent) { runResumptions() }
    }
}
