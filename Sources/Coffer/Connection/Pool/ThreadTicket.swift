internal import Dispatch
internal import Synchronization

/// The wait of one thread for a reader or for exclusive access, which another thread may end at any time.
///
/// As with a ``ReaderTicket``, a ticket calls the pool while it holds its lock, and never the reverse.
final class ThreadTicket: Sendable {
    private enum Phase {
        case unused
        case cancelled
        case waiting(ReaderPool.RequestID)
        case granted(ReaderPool.Grant)
    }

    private let phase = Mutex(Phase.unused)
    private let semaphore = DispatchSemaphore(value: 0)

    /// Blocks the current thread until there is a grant. A ticket serves once.
    ///
    /// - Throws: `CancellationError` if the ticket is cancelled before there is a grant.
    func wait(for kind: ReaderPool.Kind, in pool: ReaderPool) throws -> ReaderPool.Grant {
        let grant: ReaderPool.Grant? = try phase.withLock { phase in
            if case .cancelled = phase { throw CancellationError() }
            let request = try pool.request(kind) { self.resume(with: $0) }
            phase = request.grant.map { .granted($0) } ?? .waiting(request.id)
            return request.grant
        }
        if let grant { return grant }
        semaphore.wait()
        return try phase.withLock { phase in
            guard case .granted(let grant) = phase else { throw CancellationError() }
            return grant
        }
    }

    /// Ends the wait, unless the grant is there or on its way.
    func cancel(in pool: ReaderPool) {
        let others: [@Sendable () -> Void] = phase.withLock { phase in
            switch phase {
            case .unused:
                phase = .cancelled
            case .waiting(let id):
                guard let others = pool.cancel(id) else { break }
                phase = .cancelled
                semaphore.signal()
                return others
            case .cancelled, .granted:
                break
            }
            return []
        }
        others.forEach { $0() }
    }

    private func resume(with grant: ReaderPool.Grant) {
        phase.withLock { $0 = .granted(grant) }
        semaphore.signal()
    }
}
