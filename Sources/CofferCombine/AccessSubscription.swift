internal import Foundation
internal import OpenCombine

/// A function that starts a database access with one result.
typealias AccessStart<Output> =
    @Sendable (_ completion: @escaping @Sendable (Result<Output, any Error>) -> Void) -> Void

/// A publisher of the result of one access, which starts at the demand of each subscriber.
///
/// The value and the completion are published in one action of the scheduler. The operator `receive(on:)`
/// would use two actions. With a scheduler that runs actions concurrently, such as a concurrent queue, the
/// completion could come first, and the value would be lost.
struct AccessPublisher<Output>: Publisher {
    typealias Failure = any Error

    /// Runs an action on the scheduler on which the result is published.
    let schedule: (@escaping () -> Void) -> Void
    let start: AccessStart<Output>

    func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == any Error {
        subscriber.receive(
            subscription: AccessSubscription(
                start: start, schedule: schedule, downstream: AnySubscriber(subscriber)))
    }
}

/// A subscriber that waits for the result of one access.
// @unchecked: `phase` is accessed only inside the lock, the end of the access calls `schedule`, and one
// action of the scheduler calls the subscriber.
private final class AccessSubscription<Output>: Subscription, @unchecked Sendable {
    typealias Downstream = AnySubscriber<Output, any Error>

    private enum Phase {
        case waitingForDemand(AccessStart<Output>, Downstream)
        case running(Downstream)
        case ended
    }

    private let lock = NSLock()
    private var phase: Phase
    private let schedule: (@escaping () -> Void) -> Void

    init(
        start: @escaping AccessStart<Output>, schedule: @escaping (@escaping () -> Void) -> Void,
        downstream: Downstream
    ) {
        phase = .waitingForDemand(start, downstream)
        self.schedule = schedule
    }

    func request(_ demand: Subscribers.Demand) {
        guard demand > .none else { return }
        let start = lock.withLock { () -> AccessStart<Output>? in
            guard case .waitingForDemand(let start, let downstream) = phase else { return nil }
            phase = .running(downstream)
            return start
        }
        start? { [self] result in
            schedule { [self] in publish(result) }
        }
    }

    func cancel() {
        // The subscriber may be deallocated with the last reference, so this happens outside the lock.
        let last = end()
        withExtendedLifetime(last) {}
    }

    private func publish(_ result: Result<Output, any Error>) {
        switch result {
        case .success(let value):
            guard case .running(let downstream) = lock.withLock({ phase }) else { return }
            _ = downstream.receive(value)
            complete(.finished)
        case .failure(let error):
            complete(.failure(error))
        }
    }

    /// Publishes the completion, unless the subscriber has canceled, which it may do when it receives the
    /// value.
    private func complete(_ completion: Subscribers.Completion<any Error>) {
        guard case .running(let downstream) = end() else { return }
        downstream.receive(completion: completion)
    }

    private func end() -> Phase {
        lock.withLock {
            defer { phase = .ended }
            return phase
        }
    }
}
