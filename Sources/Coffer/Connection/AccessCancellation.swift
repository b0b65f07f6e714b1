internal import Synchronization

/// An error that an interruption may have caused.
protocol InterruptibleError: Error {
    /// True if an interruption is the cause, and nothing was done.
    var isInterruptionError: Bool { get }
}

extension DatabaseError: InterruptibleError {}

/// The state of one access by a task, which may be cancelled at any time and from any thread.
///
/// The lock is held while the running statement is interrupted, so that the interruption cannot hit the next
/// access. One interruption has no effect on a statement that is about to begin, so it is repeated until the
/// access ends.
final class AccessCancellation: Sendable {
    private enum Phase {
        case waiting
        case running(Database.SharedState)
        case interrupted(Database.SharedState)
        /// Cancelled before it ran.
        case cancelled
        case ended
    }

    private let phase = Mutex(Phase.waiting)

    /// The time between two interruptions.
    private static let interval = Duration.milliseconds(10)

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
            switch phase {
            case .cancelled, .interrupted: true
            case .waiting, .running, .ended: false
            }
        }
    }

    func cancel() {
        phase.withLock { phase in
            switch phase {
            case .running(let state):
                state.cancel(.ofTask)
                phase = .interrupted(state)
            case .waiting: phase = .cancelled
            case .interrupted, .cancelled, .ended: break
            }
        }
        interrupt()
    }

    /// Interrupts the running statement, again and again until the access ends.
    private func interrupt() {
        let isRunning = phase.withLock { phase in
            guard case .interrupted(let state) = phase else { return false }
            state.interrupt(for: .ofTask)
            return true
        }
        guard isRunning else { return }
        WaitQueue.schedule(at: .now + AccessCancellation.interval) { self.interrupt() }
    }

    func end(_ state: Database.SharedState) {
        phase.withLock { phase in
            phase = .ended
            state.endCancellation(.ofTask)
        }
    }
}
