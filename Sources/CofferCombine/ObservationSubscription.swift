internal import Coffer
internal import Foundation
internal import OpenCombine

/// A function that starts an observation.
typealias ObservationStart<Output> =
    @Sendable (
        _ onError: @escaping @Sendable (any Error) -> Void, _ onChange: @escaping @Sendable (Output) -> Void
    ) -> AnyDatabaseCancellable

/// A subscriber of an observation, which starts at the first demand.
// @unchecked: `phase` is accessed only inside the lock, and the observation's serial scheduler calls the
// subscriber.
final class ObservationSubscription<Output>: Subscription, @unchecked Sendable {
    typealias Downstream = AnySubscriber<Output, any Error>

    private struct Observation {
        let downstream: Downstream
        var demand: Subscribers.Demand
        var cancellable: AnyDatabaseCancellable?

        /// The last value, if it has not been requested yet.
        var value: Output?
    }

    private enum Phase {
        case waitingForDemand(ObservationStart<Output>, Downstream)
        case observing(Observation)
        case ended
    }

    private let lock = NSLock()
    private var phase: Phase

    /// Runs an action on the scheduler on which values are published; nil if a value that was not requested
    /// is outdated at once.
    private let schedule: (@Sendable (@escaping @Sendable () -> Void) -> Void)?

    init(
        start: @escaping ObservationStart<Output>,
        schedule: (@Sendable (@escaping @Sendable () -> Void) -> Void)?,
        downstream: Downstream
    ) {
        phase = .waitingForDemand(start, downstream)
        self.schedule = schedule
    }

    func request(_ demand: Subscribers.Demand) {
        guard demand > .none else { return }
        let start = lock.withLock { () -> ObservationStart<Output>? in
            switch phase {
            case .waitingForDemand(let start, let downstream):
                phase = .observing(Observation(downstream: downstream, demand: demand))
                return start
            case .observing(var observation):
                observation.demand += demand
                phase = .observing(observation)
                return nil
            case .ended:
                return nil
            }
        }
        guard let start else {
            // The subscriber is called only on the scheduler on which values are published.
            schedule? { [self] in publishLastValue() }
            return
        }
        let cancellable = start({ [self] in fail($0) }, { [self] in publish($0) })
        let hasEnded = lock.withLock {
            guard case .observing(var observation) = phase else { return true }
            observation.cancellable = cancellable
            phase = .observing(observation)
            return false
        }
        if hasEnded { cancellable.cancel() }
    }

    func cancel() {
        // Objects that are deallocated here are released outside the lock.
        guard case .observing(let observation) = end() else { return }
        observation.cancellable?.cancel()
    }

    private func publish(_ value: Output) {
        let downstream = lock.withLock { () -> Downstream? in
            guard case .observing(var observation) = phase else { return nil }
            defer { phase = .observing(observation) }
            observation.value = nil
            guard observation.demand > .none else {
                if schedule != nil { observation.value = value }
                return nil
            }
            observation.demand -= 1
            return observation.downstream
        }
        guard let downstream else { return }
        let demand = downstream.receive(value)
        if demand > .none { request(demand) }
    }

    private func publishLastValue() {
        let value = lock.withLock { () -> Output? in
            guard case .observing(let observation) = phase, observation.demand > .none else { return nil }
            return observation.value
        }
        if let value { publish(value) }
    }

    private func fail(_ error: any Error) {
        guard case .observing(let observation) = end() else { return }
        observation.downstream.receive(completion: .failure(error))
    }

    private func end() -> Phase {
        lock.withLock {
            defer { phase = .ended }
            return phase
        }
    }
}
