internal import Dispatch
internal import Synchronization

/// An object that grants requests in the order of their arrival.
protocol AccessGranter: AnyObject, Sendable {
    associatedtype Kind: Sendable
    associatedtype Grant: Sendable

    typealias RequestID = UInt64
    typealias Resumption = @Sendable (Result<Grant, any Error>) -> Void

    /// Sends a request. If it waits, its answer is passed to a later call of `resume` on another thread,
    /// unless the request is cancelled before.
    ///
    /// - Throws: the error of a request that may not wait.
    func request(_ kind: Kind, within bounds: WaitBounds, _ resume: @escaping Resumption) throws
        -> AccessRequest<Grant>

    /// Cancels a waiting request.
    ///
    /// - Returns: nil if the request is not waiting any more; otherwise functions that resume other requests.
    ///   Call them outside all locks.
    func cancel(_ id: RequestID) -> [@Sendable () -> Void]?
}

/// The state of a request that was sent to an ``AccessGranter``.
enum AccessRequest<Grant: Sendable>: Sendable {
    case granted(Grant)
    case waiting(UInt64)
}

/// The wait of a thread or a task for a grant, such as a reader or exclusive access. Any thread may cancel it
/// at any time. A ticket is used once.
///
/// A ticket calls the granter while it holds its own lock. The granter never calls a ticket while it holds
/// its lock, so there is a single lock order.
final class AccessTicket<Granter: AccessGranter>: Sendable {
    typealias Answer = Result<Granter.Grant, any Error>

    private enum Phase {
        case unused
        case cancelled
        case waiting(UInt64, wake: @Sendable (Answer) -> Void)
        case ended
    }

    private let phase = Mutex(Phase.unused)

    /// Sends a request to the granter, and calls `wake` once with the answer: before this function returns,
    /// or later on the thread of an access that ends or cancels.
    func begin(
        _ kind: Granter.Kind, in granter: Granter, within bounds: WaitBounds,
        wake: @escaping @Sendable (Answer) -> Void
    ) {
        let answer: Answer? = phase.withLock { phase in
            if case .cancelled = phase { return .failure(CancellationError()) }
            do {
                switch try granter.request(kind, within: bounds, { self.end(with: $0) }) {
                case .granted(let grant):
                    phase = .ended
                    return .success(grant)
                case .waiting(let id):
                    phase = .waiting(id, wake: wake)
                    return nil
                }
            } catch {
                phase = .ended
                return .failure(error)
            }
        }
        if let answer { wake(answer) }
    }

    /// Blocks the current thread until the granter has answered.
    ///
    /// - Throws: `CancellationError` if the ticket is cancelled before the request is granted;
    ///   ``DatabaseWaitError`` if the bounds do not allow the wait.
    func wait(
        for kind: Granter.Kind, in granter: Granter, within bounds: WaitBounds
    ) throws -> Granter.Grant {
        let inbox = Inbox()
        begin(kind, in: granter, within: bounds, wake: inbox.put)
        return try inbox.take().get()
    }

    /// A place for one answer that a thread waits for.
    private final class Inbox: Sendable {
        private let answer = Mutex<Answer?>(nil)
        private let semaphore = DispatchSemaphore(value: 0)

        @Sendable func put(_ answer: Answer) {
            self.answer.withLock { $0 = answer }
            semaphore.signal()
        }

        func take() -> Answer {
            semaphore.wait()
            guard let answer = answer.withLock({ $0 }) else {
                preconditionFailure("A ticket was woken without an answer.")
            }
            return answer
        }
    }

    /// Ends the wait with a `CancellationError`. If the request has already been granted, the access itself
    /// detects the cancellation.
    func cancel(in granter: Granter) {
        let calls: [@Sendable () -> Void] = phase.withLock { phase in
            switch phase {
            case .unused:
                phase = .cancelled
            case .waiting(let id, let wake):
                guard let others = granter.cancel(id) else { break }
                phase = .ended
                return others + [{ wake(.failure(CancellationError())) }]
            case .cancelled, .ended:
                break
            }
            return []
        }
        calls.forEach { $0() }
    }

    private func end(with answer: Answer) {
        let wake: (@Sendable (Answer) -> Void)? = phase.withLock { phase in
            guard case .waiting(_, let wake) = phase else { return nil }
            phase = .ended
            return wake
        }
        wake?(answer)
    }
}
