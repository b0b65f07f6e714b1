internal import Dispatch
internal import Synchronization

/// Has writes of a pool wait now and then, where they are faster than the copy of its file.
///
/// The connection that writes is held for a while; then those who wait have their turn, each once, and it is
/// held again, until the brake is released.
final class WriterBrake: Sendable {
    private let pool: DatabasePool
    private let delay: Double

    /// Signalled when the brake is released; nil while it is.
    private let end = Mutex<DispatchSemaphore?>(nil)

    /// - Parameter delay: how long a write waits at a time, in seconds.
    init(_ pool: DatabasePool, delay: Double) {
        self.pool = pool
        self.delay = delay
    }

    func set(_ isOn: Bool) {
        if isOn { pull() } else { release() }
    }

    private func pull() {
        let new = DispatchSemaphore(value: 0)
        let isOff = end.withLock { end in
            guard end == nil else { return false }
            end = new
            return true
        }
        if isOff { hold(until: new) }
    }

    private func hold(until end: DispatchSemaphore) {
        pool.writer.async { [delay] _ in
            if end.wait(timeout: .now() + delay) == .timedOut { self.hold(until: end) }
        }
    }

    func release() {
        end.withLock { end in
            end?.signal()
            end = nil
        }
    }
}

/// How much of its bound the log of a database may have taken when a part of the rotation is done.
///
/// What is left of the log lasts as long as what is left of the work, if writes go on as before.
struct LogPace {
    /// The sizes of the log at the beginning, and at most, in bytes.
    let start: Int64
    let end: Int64

    /// How much of the work is done when a phase of a round begins, and when it ends.
    private static func share(_ phase: DatabaseFile.Progress.Phase, round: Int) -> ClosedRange<Double> {
        switch (phase, round) {
        case (.copying, 0): 0...0.45
        case (.copying, 1): 0.45...0.5
        case (.verifying, 1): 0.5...0.8
        case (.checkingStructure, 1): 0.8...0.9
        default: 0.9...0.9
        }
    }

    /// Whether the log is larger than it should be at this step.
    ///
    /// A tenth of the bound is for everybody, at once.
    func isExceeded(by step: DatabaseFile.Progress) -> Bool {
        let share = LogPace.share(step.phase, round: step.round)
        let part =
            step.totalPageCount > 0 ? Double(step.completedPageCount) / Double(step.totalPageCount) : 0
        let done = share.lowerBound + (share.upperBound - share.lowerBound) * min(1, part)
        return Double(step.logSize - start) > Double(end - start) * (0.1 + done)
    }
}
