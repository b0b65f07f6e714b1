public import Dispatch

/// A type that decides when and where an observation delivers its values.
public protocol ValueObservationScheduler: Sendable {
    /// Returns a Boolean value that indicates whether the first value is delivered before the start of the
    /// observation returns.
    ///
    /// If true, start the observation on the thread or actor on which values are delivered. The first value,
    /// or the error in place of it, is not passed to ``schedule(_:)``.
    func immediateInitialValue() -> Bool

    /// Runs `action` later. Actions run one at a time, in the order in which they were scheduled.
    func schedule(_ action: @escaping @Sendable () -> Void)
}

/// A scheduler that delivers on the main actor.
public protocol ValueObservationMainActorScheduler: ValueObservationScheduler {
    /// Runs `action` later on the main actor, as ``ValueObservationScheduler/schedule(_:)`` does.
    func scheduleOnMainActor(_ action: @escaping @MainActor @Sendable () -> Void)
}

extension ValueObservationMainActorScheduler {
    public func schedule(_ action: @escaping @Sendable () -> Void) {
        scheduleOnMainActor(action)
    }
}

// MARK: - A dispatch queue

/// A scheduler that delivers on a dispatch queue: see ``ValueObservationScheduler/async(onQueue:)``.
public struct AsyncValueObservationScheduler: ValueObservationScheduler {
    let queue: DispatchQueue

    /// Creates a scheduler that delivers on a serial dispatch queue: see
    /// ``ValueObservationScheduler/async(onQueue:)``.
    public init(queue: DispatchQueue) { self.queue = queue }

    public func immediateInitialValue() -> Bool { false }

    public func schedule(_ action: @escaping @Sendable () -> Void) {
        queue.async(execute: action)
    }
}

extension ValueObservationScheduler where Self == AsyncValueObservationScheduler {
    /// Delivers values and errors on a dispatch queue. The queue must be serial: on a concurrent queue,
    /// values could overtake each other.
    public static func async(onQueue queue: DispatchQueue) -> AsyncValueObservationScheduler {
        AsyncValueObservationScheduler(queue: queue)
    }
}

// MARK: - The main actor

/// A scheduler that delivers on the main actor: see ``ValueObservationMainActorScheduler/mainActor``.
public struct DelayedMainActorValueObservationScheduler: ValueObservationMainActorScheduler {
    public func immediateInitialValue() -> Bool { false }

    public func scheduleOnMainActor(_ action: @escaping @MainActor @Sendable () -> Void) {
        MainQueue.run(action)
    }
}

extension ValueObservationMainActorScheduler where Self == DelayedMainActorValueObservationScheduler {
    /// Delivers all values and errors on the main actor, after the start of the observation has returned.
    public static var mainActor: DelayedMainActorValueObservationScheduler {
        DelayedMainActorValueObservationScheduler()
    }
}

extension ValueObservationScheduler where Self == DelayedMainActorValueObservationScheduler {
    /// Delivers all values and errors on the main actor: see
    /// ``ValueObservationMainActorScheduler/mainActor``.
    public static var mainActor: DelayedMainActorValueObservationScheduler {
        DelayedMainActorValueObservationScheduler()
    }
}

/// A scheduler that delivers the first value immediately: see
/// ``ValueObservationMainActorScheduler/immediate``.
public struct ImmediateValueObservationScheduler: ValueObservationMainActorScheduler {
    /// Creates a scheduler that delivers the first value immediately.
    public init() {}

    public func immediateInitialValue() -> Bool {
        precondition(
            MainQueue.isCurrent,
            "An observation with the scheduler .immediate must be started on the main actor.")
        return true
    }

    public func scheduleOnMainActor(_ action: @escaping @MainActor @Sendable () -> Void) {
        MainQueue.run(action)
    }
}

extension ValueObservationMainActorScheduler where Self == ImmediateValueObservationScheduler {
    /// Delivers the first value before the start of the observation returns, and all others later, on the
    /// main actor.
    ///
    /// The main actor waits for the first value, so use it for values that are fetched quickly.
    ///
    /// - Precondition: the observation is started on the main actor.
    public static var immediate: ImmediateValueObservationScheduler { ImmediateValueObservationScheduler() }
}

extension ValueObservationScheduler where Self == ImmediateValueObservationScheduler {
    /// Delivers the first value before the start of the observation returns: see
    /// ``ValueObservationMainActorScheduler/immediate``.
    public static var immediate: ImmediateValueObservationScheduler { ImmediateValueObservationScheduler() }
}

/// The main dispatch queue, on which the main actor runs. On Linux that is not always the main thread.
private enum MainQueue {
    private static let key: DispatchSpecificKey<Bool> = {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        return key
    }()

    static var isCurrent: Bool { DispatchQueue.getSpecific(key: key) == true }

    static func run(_ action: @escaping @MainActor @Sendable () -> Void) {
        DispatchQueue.main.async { MainActor.assumeIsolated(action) }
    }
}

// MARK: - Tasks

/// A scheduler that delivers on the threads of Swift's tasks: see ``ValueObservationScheduler/task``.
public final class TaskValueObservationScheduler: ValueObservationScheduler {
    private let actions: AsyncStream<@Sendable () -> Void>.Continuation

    init(priority: TaskPriority?) {
        let (stream, continuation) = AsyncStream.makeStream(of: (@Sendable () -> Void).self)
        actions = continuation
        Task(priority: priority) {
            for await action in stream { action() }
        }
    }

    deinit {
        actions.finish()
    }

    public func immediateInitialValue() -> Bool { false }

    public func schedule(_ action: @escaping @Sendable () -> Void) {
        actions.yield(action)
    }
}

extension ValueObservationScheduler where Self == TaskValueObservationScheduler {
    /// Delivers from a task, in order, on any thread of Swift's concurrency pool.
    public static var task: TaskValueObservationScheduler { TaskValueObservationScheduler(priority: nil) }

    /// Delivers from a task of the given priority, like ``task``.
    public static func task(priority: TaskPriority) -> TaskValueObservationScheduler {
        TaskValueObservationScheduler(priority: priority)
    }
}
