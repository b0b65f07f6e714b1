internal import Dispatch
internal import Synchronization

/// Delays the writes of a pool while they are faster than the copy of its file.
///
/// The writer connection is held for a while. Then each waiting write runs once, and the connection is held
/// again, until the brake is released.
final class WriterBrake: Sendable {
    private let pool: DatabasePool
    private let delay: Double

    /// Signaled when the brake is released; nil while the brake is off.
    private let end = Mutex<DispatchSemaphore?>(nil)

    /// - Parameter delay: the delay of a write, in seconds.
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

/// The share of its maximum size that the log may use at each step of a rotation.
///
/// If writes continue at the same rate, the remaining log space lasts as long as the remaining work.
struct LogPace {
    /// The sizes of the log at the beginning and at most, in bytes.
    let start: Int64
    let end: Int64

    /// Returns the share of the work that is done when a phase of a round begins, and when it ends.
    private static func share(_ phase: DatabaseFile.Progress.Phase, round: Int) -> ClosedRange<Double> {
        switch (phase, round) {
        case (.copying, 0): 0...0.45
        case (.copying, 1): 0.45...0.5
        case (.verifying, 1): 0.5...0.8
        case (.checkingStructure, 1): 0.8...0.9
        default: 0.9...0.9
        }
    }

    /// Returns true if the log is larger than it should be at this step.
    ///
    /// A tenth of the maximum may be used from the beginning.
    func isExceeded(by step: DatabaseFile.Progress) -> Bool {
        let share = LogPace.share(step.phase, round: step.round)
        let part =
            step.totalPageCount > 0 ? Double(step.completedPageCount) / Double(step.totalPageCount) : 0
        let done = share.lowerBound + (share.upperBound - share.lowerBound) * min(1, part)
        return Double(step.logSize - start) > Double(end - start) * (0.1 + done)
    }
}
