internal import Dispatch

/// The queue on which waits end without a grant: tasks whose wait has failed resume here, and waits expire
/// here.
///
/// A serial queue of its own always gets a thread, even if all threads of the global queues and of tasks are
/// blocked by accesses. Nothing on it blocks.
enum WaitQueue {
    static let queue = DispatchQueue(label: "Coffer.Waits")

    /// Calls `body` at a time.
    static func schedule(at time: ContinuousClock.Instant, _ body: @escaping @Sendable () -> Void) {
        let delay = max(.zero, ContinuousClock.now.duration(to: time)).inSeconds
        queue.asyncAfter(deadline: .now() + delay, execute: body)
    }
}
