internal import Dispatch
internal import Glibc
internal import Synchronization

/// Threads outside the pools of Dispatch.
///
/// A pool has a limited number of threads. If all of them wait, work in the pool never begins, so work that
/// they may wait for needs a thread of its own. The global queues also open files now and then, and end the
/// process if it has no free descriptor.
package enum OwnThread {
    /// Calls `body` on a thread that does nothing else, or on this one if the system allows no other thread.
    package static func run(_ body: @escaping @Sendable () -> Void) {
        if let idle = Worker.takeIdle() { return idle.give(body) }
        let worker = unsafe Unmanaged.passRetained(Worker(body))
        var thread = pthread_t()
        let code = unsafe pthread_create(
            &thread, nil,
            { context in
                if let context = unsafe context {
                    unsafe Unmanaged<Worker>.fromOpaque(context).takeRetainedValue().run()
                }
                return nil
            }, worker.toOpaque())
        guard code == 0 else {
            unsafe worker.release()
            return body()
        }
        pthread_detach(thread)
    }
}

/// A thread. After its work, it waits for more for a short time, because starting a thread takes longer than
/// most of the work.
private final class Worker: Sendable {
    private static let idle = Mutex<[Worker]>([])
    private static let maximumIdleCount = 8
    private static let patience = DispatchTimeInterval.seconds(2)

    private let next: Mutex<(@Sendable () -> Void)?>
    private let hasNext = DispatchSemaphore(value: 0)

    init(_ body: @escaping @Sendable () -> Void) { next = Mutex(body) }

    /// Returns a thread that waits for work. The caller must give it some.
    static func takeIdle() -> Worker? { idle.withLock { $0.popLast() } }

    func give(_ body: @escaping @Sendable () -> Void) {
        next.withLock { $0 = body }
        hasNext.signal()
    }

    func run() {
        repeat { takeNext()?() } while waitForNext()
    }

    private func takeNext() -> (@Sendable () -> Void)? { next.withLock { $0.take() } }

    /// Returns false if the thread ends.
    private func waitForNext() -> Bool {
        let mayWait = Self.idle.withLock { idle in
            guard idle.count < Self.maximumIdleCount else { return false }
            idle.append(self)
            return true
        }
        guard mayWait else { return false }
        if hasNext.wait(timeout: .now() + Self.patience) == .success { return true }
        let wasTaken = Self.idle.withLock { idle in
            guard let index = idle.firstIndex(where: { $0 === self }) else { return true }
            idle.remove(at: index)
            return false
        }
        // Another thread is about to give it work.
        if wasTaken { hasNext.wait() }
        return wasTaken
    }
}
