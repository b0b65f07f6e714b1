/// Combines all progress reports, of the phases of one file or of the files of a batch, into one measure that
/// never decreases.
///
/// A pure state machine: the caller passes the time with each event.
struct ProgressMeter: Sendable {
    /// A progress event of a batch.
    enum BatchEvent: Sendable {
        /// A phase begins.
        ///
        /// - Parameters:
        ///   - through: the number of files that the phase skips.
        ///   - start: the fraction of all work that precedes the phase.
        case phase(String, files: Int, through: Int, start: Double)
        /// Work on a file begins. `share` is its fraction of all work.
        case began(String, share: Double)
        case ended(String)
    }

    private struct Batch {
        var phase: String
        var files: Int
        var through: Int
        var done: Double
        /// The files in progress, with their shares and completed fractions.
        var running: [String: (share: Double, fraction: Double)] = [:]

        var state: ProgressState {
            ProgressState(
                path: "batch", phase: phase, completed: Int64(through), total: Int64(files), unit: "files")
        }

        var fraction: Double { done + running.values.reduce(0) { $0 + $1.share * $1.fraction } }
    }

    private var batch: Batch?
    private var began: ContinuousClock.Instant?
    private var highest = 0.0
    /// The first phase of each file, which determines the phases that follow.
    private var firstPhases: [String: String] = [:]
    /// The phase that the rate is measured for, and the completed count at its start.
    private var pace: (phase: String, completed: Int64, time: ContinuousClock.Instant)?

    mutating func take(_ event: BatchEvent, at now: ContinuousClock.Instant) -> ProgressState? {
        began = began ?? now
        switch event {
        case .phase(let phase, let files, let through, let start):
            batch = Batch(phase: phase, files: files, through: through, done: max(start, batch?.done ?? 0))
            return nil
        case .began(let path, let share):
            batch?.running[path] = (share, 0)
            return nil
        case .ended(let path):
            guard let share = batch?.running.removeValue(forKey: path)?.share else { return nil }
            firstPhases[path] = nil
            batch?.done += share
            batch?.through += 1
            return batch.map { measured($0.state, $0.fraction, now) }
        }
    }

    mutating func take(_ state: ProgressState, at now: ContinuousClock.Instant) -> ProgressState {
        began = began ?? now
        let first = firstPhases[state.path] ?? state.phase
        firstPhases[state.path] = first
        let fraction = ProgressMeter.fraction(of: state, first: first)
        guard let batch, let running = batch.running[state.path] else {
            return measured(state, fraction ?? highest, now)
        }
        self.batch?.running[state.path]?.fraction = max(running.fraction, fraction ?? 0)
        return measured(batch.state, self.batch?.fraction ?? highest, now)
    }

    private mutating func measured(_ state: ProgressState, _ fraction: Double, _ now: ContinuousClock.Instant)
        -> ProgressState
    {
        highest = min(1, max(highest, fraction))
        if pace?.phase != state.phase { pace = (state.phase, state.completed, now) }
        let elapsed = (now - (began ?? now)) / .seconds(1)
        var state = state
        state.overall = highest
        state.elapsed = elapsed
        if let pace {
            let seconds = (now - pace.time) / .seconds(1)
            if seconds >= 0.5, state.completed > pace.completed {
                state.rate = Double(state.completed - pace.completed) / seconds
            }
        }
        // Earlier, the estimate would be a guess.
        if elapsed >= 1, highest >= 0.02 { state.secondsLeft = elapsed * (1 - highest) / highest }
        return state
    }

    /// Returns the completed fraction of the work on a file, or nil if it is unknown.
    private static func fraction(of state: ProgressState, first: String) -> Double? {
        guard let span = span(of: state.phase, first: first) else { return nil }
        return span.lowerBound + (span.upperBound - span.lowerBound) * state.fraction
    }

    /// Returns the part of the total time that a phase takes, depending on the first phase of the work.
    private static func span(of phase: String, first: String) -> ClosedRange<Double>? {
        switch (first, phase) {
        case ("verifying", "verifying"): 0...0.9
        case ("verifying", "checking structure"): 0.9...1
        case ("copying", "copying"): 0...0.55
        case ("loading", "loading"): 0...0.6
        case (_, "verifying"): 0.6...0.9
        case (_, "checking structure"): 0.9...0.98
        case (_, "publishing"): 0.98...1
        default: first == phase ? 0...1 : nil
        }
    }
}
