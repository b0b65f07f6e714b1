internal import CSQLCipher
internal import Synchronization

/// An access whose wait for a lock may have to end early.
package protocol StoppableAccess: AnyObject, Sendable {
    /// True if the calling thread runs the access, and the access is to end.
    var stopsWaitingOnCurrentThread: Bool { get }
}

/// The pauses between the attempts of SQLite to get a lock that another process holds.
///
/// `sqlite3_interrupt` does not end these attempts. In a stopped access they follow each other without a
/// pause, so that SQLite's busy timeout passes at once. SQLite counts the pauses that it asked for, not the
/// time. Source: `sqliteDefaultBusyCallback` in SQLite's `main.c`.
package enum LockWait {
    private struct Stopped {
        weak let access: (any StoppableAccess)?
    }

    private static let stopped = Mutex<[ObjectIdentifier: Stopped]>([:])

    /// Adds an access that is to end.
    package static func stop(_ access: some StoppableAccess) {
        stopped.withLock { $0[ObjectIdentifier(access)] = Stopped(access: access) }
    }

    /// Removes an access that has ended, or is about to be released.
    package static func allow(_ access: some StoppableAccess) {
        stopped.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(access)) }
    }

    /// True if the calling thread is not to wait for a lock any longer.
    package static var isStopped: Bool {
        // An access may be released here for the last time, which takes the lock again.
        let accesses = stopped.withLock { $0.values.compactMap(\.access) }
        return accesses.contains { $0.stopsWaitingOnCurrentThread }
    }

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
