internal import Foundation
internal import SQLCipherBridge
internal import Synchronization

/// Decides which accesses of tasks run immediately on the thread of the task, instead of on a thread of the
/// connection's queue.
///
/// Switching to another thread and back costs a task several times as much as a short read. But tasks share a
/// few threads, and an access may wait for the disk or take a long time. Therefore at least one of these
/// threads is always left to other tasks, and only threads of the default executor are used, not the main
/// thread or an event loop.
enum ImmediateAccess {
    /// The maximum number of accesses that may run on threads of tasks at the same time.
    static let limit = max(0, ProcessInfo.processInfo.activeProcessorCount - 1)

    private static let count = Atomic<Int>(0)

    /// Returns true if an access may run on the current thread. In this case, the caller must call ``end()``
    /// afterwards.
    static func begin() -> Bool {
        guard CurrentQueue.runsTasks else { return false }
        if count.add(1, ordering: .relaxed).newValue <= limit { return true }
        end()
        return false
    }

    static func end() { count.subtract(1, ordering: .relaxed) }
}
