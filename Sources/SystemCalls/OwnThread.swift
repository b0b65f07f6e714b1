internal import Glibc

/// Threads outside the pools of Dispatch.
///
/// A pool has a limited number of threads. If all of them wait, work in the pool never begins, so work that
/// they may wait for needs a thread of its own. The global queues also open files now and then, and end the
/// process if it has no free descriptor.
package enum OwnThread {
    private final class Work: Sendable {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// Calls `body` on a new thread, or on this one if the system allows no other thread.
    package static func run(_ body: @escaping @Sendable () -> Void) {
        let work = unsafe Unmanaged.passRetained(Work(body))
        var thread = pthread_t()
        let code = unsafe pthread_create(
            &thread, nil,
            { context in
                if let context = unsafe context {
                    unsafe Unmanaged<Work>.fromOpaque(context).takeRetainedValue().body()
                }
                return nil
            }, work.toOpaque())
        guard code == 0 else { return unsafe work.takeRetainedValue().body() }
        pthread_detach(thread)
    }
}
