internal import SQLCipherBridge
internal import Synchronization

extension Database {
    /// The state of a connection that other threads may touch.
    final class SharedState: Sendable {
        private let handle: Mutex<InterruptHandle?>

        /// The thread that uses the connection now, or zero.
        let accessingThread = Atomic<UInt>(0)

        /// Whether the task that uses the connection was cancelled.
        let isCancelled = Atomic<Bool>(false)

        /// Whether the connection must not take locks: see ``Database/suspendNotification``.
        let isSuspended = Atomic<Bool>(false)

        /// What waits for the end of the suspension.
        private let resumptions = Mutex<[@Sendable () -> Void]>([])

        init(handle: ConnectionHandle) {
            self.handle = Mutex(InterruptHandle(handle))
        }

        /// Sets the connection that ``interrupt()`` acts on.
        func replace(_ newHandle: ConnectionHandle?) {
            let newHandle = newHandle.map(InterruptHandle.init)
            handle.withLock { $0 = newHandle }
        }

        /// Closes the connection, which nobody can interrupt meanwhile, nor afterwards if it succeeds.
        func close(_ body: () -> CInt) -> CInt {
            handle.withLock { handle in
                let code = body()
                if code == EngineCode.ok { handle = nil }
                return code
            }
        }

        /// The lock keeps the connection from being closed during the call.
        func interrupt() { handle.withLock { $0?.interrupt() } }
    }
}

// MARK: - Suspension

extension Database.SharedState {
    /// Refuses locks from now on, and aborts the running statement.
    func suspend() {
        isSuspended.store(true, ordering: .sequentiallyConsistent)
        interrupt()
    }

    func resume() {
        isSuspended.store(false, ordering: .sequentiallyConsistent)
        runResumptions()
    }

    private func runResumptions() {
        let actions = resumptions.withLock { actions in
            defer { actions = [] }
            return actions
        }
        for action in actions { action() }
    }

    /// Calls `action` once the suspension is over: at once if it is already.
    func afterResumption(_ action: @escaping @Sendable () -> Void) {
        resumptions.withLock { $0.append(action) }
        if !isSuspended.load(ordering: .sequentiallyConsistent) { runResumptions() }
    }
}
