internal import Foundation
internal import SQLCipherBridge
internal import Synchronization

/// Which accesses by tasks run at once, on the thread that the task runs on, instead of on a thread of the
/// connection's queue.
///
/// A task that goes to another thread and comes back pays several times what a short read costs. But tasks
/// share a few threads, and an access waits for the disk, or runs for long. So some of these threads, and at
/// least one, are always left to other tasks, and no thread is ever used that is not of the default executor:
/// neither the main thread, nor an event loop.
enum ImmediateAccess {
    /// How many accesses may run at once on the threads of tasks.
    static let limit = max(0, ProcessInfo.processInfo.activeProcessorCount - 1)

    private static let count = Atomic<Int>(0)

    /// Returns whether an access may run on the current thread. If so, ``end()`` has to follow it.
    static func begin() -> Bool {
        guard CurrentQueue.runsTasks else { return false }
        if count.add(1, ordering: .relaxed).newValue <= limit { return true }
        end()
        return false
    }

    static func end() { count.subtract(1, ordering: .relaxed) }
}
