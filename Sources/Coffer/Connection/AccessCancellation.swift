internal import Synchronization

/// The state of one access by a task, which may be cancelled at any time and from any thread.
///
/// The lock is held while the running statement is interrupted, so that the interruption cannot hit the next
/// access.
final class AccessCancellation: Sendable {
    private enum Phase {
        case waiting
        case running(Database.SharedState)
        case cancelled
        case ended
    }

    private let phase = Mutex(Phase.waiting)

    /// Marks the access as running, or returns false if the task was cancelled before.
    ///
    /// - Parameter state: the state of the connection that the access uses.
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
                state.cancel(.ofTask)
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
            state.endCancellation(.ofTask)
        }
    }
}
