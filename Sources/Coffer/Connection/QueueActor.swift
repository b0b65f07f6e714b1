internal import Dispatch

/// An actor that runs functions for tasks in a chosen place, usually on a dispatch queue, without blocking a
/// thread.
actor QueueActor {
    private let executor: SchedulingExecutor

    /// - Parameter schedule: a function that runs its argument once, later, on another thread or queue.
    init(schedule: @escaping @Sendable (_ job: @escaping @Sendable () -> Void) -> Void) {
        executor = SchedulingExecutor(schedule: schedule)
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    func run<T: Sendable>(_ body: @Sendable () throws -> T) throws -> T { try body() }
}

extension QueueActor {
    init(queue: DispatchQueue) {
        self.init { queue.async(execute: $0) }
    }
}

private final class SchedulingExecutor: SerialExecutor {
    private let schedule: @Sendable (@escaping @Sendable () -> Void) -> Void

    init(schedule: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) {
        self.schedule = schedule
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        schedule { unsafe job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}
