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
        let resumptions = Mutex<[@Sendable () -> Void]>([])

        init(handle: ConnectionHandle) {
            self.handle = Mutex(InterruptHandle(handle))
        }

        /// What is interrupted from now on; nothing, for nil.
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

    /// Runs `body` as the access of the current thread.
    func withAccess<T>(_ body: () throws -> T) rethrows -> T {
        let previous = sharedState.accessingThread.exchange(currentThreadID(), ordering: .relaxed)
        defer { sharedState.accessingThread.store(previous, ordering: .relaxed) }
        return try body()
    }

    /// Whether the current thread is inside of an access of this connection.
    var isAccessedByCurrentThread: Bool { sharedState.accessingThread.load(ordering: .relaxed) == currentThreadID() }

    /// Traps when the connection has escaped from its access.
    @usableFromInline
    func checkIsUsedInItsAccess() {
        precondition(isAccessedByCurrentThread, "Database was not used on the correct thread.")
    }
}
