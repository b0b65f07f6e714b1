internal import Foundation

#if canImport(Combine)
internal import Combine
#else
internal import OpenCombine
#endif

/// What starts an access of a database that gives one result.
typealias AccessStart<Output> = @Sendable (_ completion: @escaping @Sendable (Result<Output, any Error>) -> Void) -> Void

/// A publisher of the result of one access, which begins with the demand of each subscriber.
struct AccessPublisher<Output>: Publisher {
    typealias Failure = any Error

    let start: AccessStart<Output>

    func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == any Error {
        subscriber.receive(subscription: AccessSubscription(start: start, downstream: AnySubscriber(subscriber)))
    }
}

/// One subscriber who waits for the result of one access.
// @unchecked: `phase` is touched inside of the lock only, and the subscriber hears from one access.
private final class AccessSubscription<Output>: Subscription, @unchecked Sendable {
    typealias Downstream = AnySubscriber<Output, any Error>

    private enum Phase {
        case waitingForDemand(AccessStart<Output>, Downstream)
        case running(Downstream)
        case ended
    }

    private let lock = NSLock()
    private var phase: Phase

    init(start: @escaping AccessStart<Output>, downstream: Downstream) {
        phase = .waitingForDemand(start, downstream)
    }

    func request(_ demand: Subscribers.Demand) {
        guard demand > .none else { return }
        let start = lock.withLock { () -> AccessStart<Output>? in
            guard case .waitingForDemand(let start, let downstream) = phase else { return nil }
            phase = .running(downstream)
            return start
        }
        start? { [self] in finish($0) }
    }

    func cancel() {
        // The subscriber may end its life with the last reference: outside of the lock.
        let last = end()
        withExtendedLifetime(last) {}
    }

    private func finish(_ result: Result<Output, any Error>) {
        guard case .running(let downstream) = end() else { return }
        switch result {
        case .success(let value):
            _ = downstream.receive(value)
            downstream.receive(completion: .finished)
        case .failure(let error):
            downstream.receive(completion: .failure(error))
        }
    }

    private func end() -> Phase {
        lock.withLock {
            defer { phase = .ended }
            return phase
        }
    }
}
