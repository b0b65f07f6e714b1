internal import CSQLCipher
internal import Glibc

/// An access whose wait for a lock may have to end early.
package protocol StoppableAccess: AnyObject, Sendable {
    /// True if the access is to end.
    var stopsWaiting: Bool { get }
}

/// The pauses between the attempts of SQLite to get a lock that another process holds.
///
/// `sqlite3_interrupt` does not end these attempts. In a stopped access they follow each other without a
/// pause, so that SQLite's busy timeout passes at once. SQLite counts the pauses that it asked for, not the
/// time. Source: `sqliteDefaultBusyCallback` in SQLite's `main.c`.
package enum LockWait {
    /// The longest busy timeout, in seconds, whose remaining attempts take less than a second.
    package static let longestTimeout = 10_000.0

    /// Runs `body` as an access of this thread. Only the innermost access of a thread can be waiting.
    package static func during<Result>(
        _ access: some StoppableAccess, _ body: () throws -> Result
    ) rethrows -> Result {
        let outer = unsafe pthread_getspecific(key)
        unsafe pthread_setspecific(key, Unmanaged.passUnretained(access).toOpaque())
        defer {
            unsafe pthread_setspecific(key, outer)
            withExtendedLifetime(access) {}
        }
        return try body()
    }

    /// True if the access of this thread is not to wait for a lock any longer.
    package static var isStopped: Bool {
        guard let current = unsafe pthread_getspecific(key) else { return false }
        let access = unsafe Unmanaged<AnyObject>.fromOpaque(current).takeUnretainedValue()
        return (access as? any StoppableAccess)?.stopsWaiting ?? false
    }

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        let code = unsafe pthread_key_create(&key, nil)
        precondition(code == 0, "a key for thread-local values could not be created")
        return key
    }()

    /// The longest time, in microseconds, until a wait notices that it is to stop.
    private static let slice: CInt = 10_000

    /// Makes the pauses of a file system end in stopped accesses.
    static func watch(_ system: UnsafeMutablePointer<sqlite3_vfs>) {
        unsafe system.pointee.xSleep = { system, microseconds in
            guard let sleep = unsafe FileLocking.shared.system?.pointee.xSleep else { return 0 }
            var rest = microseconds
            while rest > 0, !LockWait.isStopped {
                _ = unsafe sleep(system, min(rest, LockWait.slice))
                rest -= LockWait.slice
            }
            return microseconds
        }
    }
}
