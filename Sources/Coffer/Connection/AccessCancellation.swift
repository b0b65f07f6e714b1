internal import Synchronization

/// The life of one access by a task that may be cancelled at any time, from any thread.
///
/// The lock is held while the running statement is interrupted, so that the interruption never hits the next
/// access.
final class AccessCancellation: Sendable {
    private enum Phase {
        case waiting
        case running(Database.SharedState)
        case cancelled
        case ended
    }

    private let phase = Mutex(Phase.waiting)

    /// Returns false if the task was cancelled before.
    ///
    /// - Parameter state: that of the connection which the access has.
    func begin(_ state: Database.SharedState) -> Bool {
        phase.withLock { phase in
            guard case .waiting = phase else { return false }
            phase = .running(state)
            return true
        }
    }

    var isCancelled: Bool {
        phase.withLock { phase in
            if case .cancelled = phase { true } else { false }
        }
    }

    func cancel() {
        phase.withLock { phase in
            switch phase {
            case .running(let state):
                state.isCancelled.store(true, ordering: .relaxed)
                state.interrupt()
                phase = .cancelled
            case .waiting: phase = .cancelled
            case .cancelled, .ended: break
            }
        }
    }

    func end(_ state: Database.SharedState) {
        phase.withLock { phase in
            phase = .ended
            state.isCancelled.store(false, ordering: .relaxed)
        }
    }
}
