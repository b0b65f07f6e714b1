internal import Dispatch
internal import Synchronization

/// The wait of one thread or of one task for a reader or for exclusive access, which any thread may end at
/// any time. A ticket serves once.
///
/// A ticket calls the pool while it holds its lock, and the pool never calls a ticket while it holds its own:
/// there is one order of locks.
final class PoolTicket: Sendable {
    typealias Answer = Result<ReaderPool.Grant, any Error>

    private enum Phase {
        case unused
        case cancelled
        case waiting(ReaderPool.RequestID, wake: @Sendable (Answer) -> Void)
        case ended
    }

    private let phase = Mutex(Phase.unused)

    /// Asks the pool, and calls `wake` once with its answer: before the return, or later on the thread of an
    /// access that ends or cancels.
    func begin(_ kind: ReaderPool.Kind, in pool: ReaderPool, wake: @escaping @Sendable (Answer) -> Void) {
        let answer: Answer? = phase.withLock { phase in
            if case .cancelled = phase { return .failure(CancellationError()) }
            do {
                let request = try pool.request(kind) { self.end(with: $0) }
                phase = request.grant == nil ? .waiting(request.id, wake: wake) : .ended
                return request.grant.map { .success($0) }
            } catch {
                phase = .ended
                return .failure(error)
            }
        }
        if let answer { wake(answer) }
    }

    /// Blocks the current thread until the pool has answered.
    ///
    /// - Throws: `CancellationError` if the ticket is cancelled before there is a grant.
    func wait(for kind: ReaderPool.Kind, in pool: ReaderPool) throws -> ReaderPool.Grant {
        let inbox = Inbox()
        begin(kind, in: pool, wake: inbox.put)
        return try inbox.take().get()
    }

    /// Room for one answer, which a thread waits for.
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

    /// Ends the wait with a `CancellationError`, unless a grant is there or on its way: then the access finds
    /// out that it is cancelled.
    func cancel(in pool: ReaderPool) {
        let calls: [@Sendable () -> Void] = phase.withLock { phase in
            switch phase {
            case .unused:
                phase = .cancelled
            case .waiting(let id, let wake):
                guard let others = pool.cancel(id) else { break }
                phase = .ended
                return others + [{ wake(.failure(CancellationError())) }]
            case .cancelled, .ended:
                break
            }
            return []
        }
        calls.forEach { $0() }
    }

    private func end(with grant: ReaderPool.Grant) {
        let wake: (@Sendable (Answer) -> Void)? = phase.withLock { phase in
            guard case .waiting(_, let wake) = phase else { return nil }
            phase = .ended
            return wake
        }
        wake?(.success(grant))
    }
}
