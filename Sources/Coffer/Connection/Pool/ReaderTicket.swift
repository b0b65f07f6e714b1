internal import Synchronization

/// The wait of one task for a reader, which may be cancelled from any thread at any time.
///
/// A ticket calls the pool while it holds its lock, and the pool never calls a ticket while it holds its own: there is one order of locks.
final class ReaderTicket: Sendable {
    private typealias Continuation = CheckedContinuation<ReaderPool.Grant, any Error>

    private enum Phase {
        case unused
        case cancelled
        case waiting(ReaderPool.RequestID, Continuation)
        case ended
    }

    private let phase = Mutex(Phase.unused)

    /// Asks for a reader, and resumes the continuation with it, or with an error.
    func begin(in pool: ReaderPool, continuation: CheckedContinuation<ReaderPool.Grant, any Error>) {
        let outcome: Result<ReaderPool.Grant, any Error>? = phase.withLock { phase in
            if case .cancelled = phase { return .failure(CancellationError()) }
            do {
                let request = try pool.request(.reader) { self.resume(with: $0) }
                if let grant = request.grant {
                    phase = .ended
                    return .success(grant)
                }
                phase = .waiting(request.id, continuation)
                return nil
            } catch {
                phase = .ended
                return .failure(error)
            }
        }
        if let outcome { continuation.resume(with: outcome) }
    }

    func cancel(in pool: ReaderPool) {
        let (continuation, others): (Continuation?, [@Sendable () -> Void]) = phase.withLock { phase in
            switch phase {
            case .unused:
                phase = .cancelled
            case .waiting(let id, let continuation):
                // Without an answer the grant is on its way, and will be given back by the access that finds itself cancelled.
                if let others = pool.cancel(id) {
                    phase = .ended
                    return (continuation, others)
                }
            case .cancelled, .ended:
                break
            }
            return (nil, [])
        }
        others.forEach { $0() }
        continuation?.resume(throwing: CancellationError())
    }

    private func resume(with grant: ReaderPool.Grant) {
        let continuation: Continuation? = phase.withLock { phase in
            guard case .waiting(_, let continuation) = phase else { return nil }
            phase = .ended
            return continuation
        }
        continuation?.resume(returning: grant)
    }
}
