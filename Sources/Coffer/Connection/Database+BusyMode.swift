public import Foundation
internal import SQLCipherBridge
internal import Synchronization

extension Database {
    /// A function that returns true to retry a lock, or false to fail with `SQLITE_BUSY`. Its argument is the
    /// number of previous tries for the same lock.
    public typealias BusyCallback = @Sendable (_ numberOfTries: Int) -> Bool

    /// The behavior of a statement that needs a lock held by another connection.
    public enum BusyMode: Sendable {
        /// The statement fails immediately with `SQLITE_BUSY`.
        case immediateError

        /// The statement fails with `SQLITE_BUSY` if the lock is not free after this number of seconds.
        case timeout(TimeInterval)

        /// A function decides.
        case callback(BusyCallback)
    }

    /// Makes a connection wait for locks as its configuration demands.
    ///
    /// - Returns: the handler, which its owner keeps alive; nil if there is none.
    static func installBusyMode(
        on handle: ConnectionHandle, configuration: Configuration, purpose: Purpose
    ) -> BusyHandler? {
        switch purpose == .reader ? configuration.readerBusyMode : configuration.busyMode {
        case .immediateError:
            handle.busyTimeout(seconds: configuration.hasReadersBesideWriter && purpose == .writer ? 0.05 : 0)
            return nil
        case .timeout(let seconds) where seconds > LockWait.longestTimeout:
            // Counts the pauses, as SQLite does.
            let pause = 0.01
            return BusyHandler(handle) { numberOfTries in
                guard !LockWait.isStopped, Double(numberOfTries) < seconds / pause else { return false }
                Thread.sleep(forTimeInterval: pause)
                return true
            }
        case .timeout(let seconds):
            handle.busyTimeout(seconds: seconds)
            return nil
        case .callback(let callback):
            return BusyHandler(handle) { numberOfTries in !LockWait.isStopped && callback(numberOfTries) }
        }
    }

    /// Runs `body` with a connection that does not wait for locks, and then lets it wait as before.
    func withoutWaiting<T>(_ body: () throws -> T) rethrows -> T {
        // The application may have set another timeout. With a handler, SQLite states 0.
        let timeout = (try? handle.integer(pragma: "busy_timeout")) ?? 0
        handle.busyTimeout(seconds: 0)
        defer {
            if timeout > 0 || busyHandler == nil {
                handle.busyTimeout(seconds: Double(timeout) / 1000)
            } else {
                busyHandler = Database.installBusyMode(
                    on: handle, configuration: configuration, purpose: purpose)
            }
        }
        return try body()
    }
}

extension Database.BusyMode {
    /// Polls for a lock after random pauses, until the time is over.
    ///
    /// A connection that commits without a pause releases the lock for only a few microseconds. Ten thousand
    /// attempts a second soon hit such a moment. After a second, the pauses become longer.
    static func asking(for seconds: Double) -> Database.BusyMode {
        let start = Mutex(ContinuousClock.now)
        return .callback { numberOfTries in
            let waited = start.withLock { start in
                if numberOfTries == 0 { start = .now }
                return ContinuousClock.now - start
            }
            guard waited.inSeconds <= seconds else { return false }
            Thread.sleep(
                forTimeInterval: .random(in: waited < .seconds(1) ? 0.000_01...0.000_1 : 0.000_1...0.002))
            return true
        }
    }
}
