/// The progress of a piece of work.
struct ProgressState: Sendable, Hashable {
    /// The file that is being processed.
    let path: String

    /// The current activity in one word, such as "copy".
    let phase: String
    let completed: Int64
    let total: Int64

    /// The plural name of the unit, such as "pages" or "files".
    let unit: String

    /// The completed fraction of all work, which never decreases, or nil if it was not measured.
    var overall: Double?
    /// The number of units completed per second.
    var rate: Double?
    /// The estimated remaining time, in seconds.
    var secondsLeft: Double?
    var elapsed: Double?

    var fraction: Double { total > 0 ? min(1, Double(completed) / Double(total)) : 0 }
}

/// Decides which progress updates to show: none for work that completes quickly, and no more than a reader
/// can follow.
struct ProgressThrottle {
    let patience: Duration
    let interval: Duration
    /// True to show at most one line in each interval, even if the file or the phase changes.
    let isForLog: Bool
    private var began: ContinuousClock.Instant?
    private var last: (state: ProgressState, time: ContinuousClock.Instant)?

    init(patience: Duration, interval: Duration, isForLog: Bool = false) {
        self.isForLog = isForLog
        self.patience = patience
        self.interval = interval
    }

    mutating func shouldShow(_ state: ProgressState, at now: ContinuousClock.Instant) -> Bool {
        let began = began ?? now
        self.began = began
        guard now - began >= patience else { return false }
        if let last, last.state == state { return false }
        let isSame =
            last.map { isForLog || $0.state.phase == state.phase && $0.state.path == state.path } ?? false
        if let last, isSame, now - last.time < interval { return false }
        last = (state, now)
        return true
    }
}

// MARK: - Formatting

extension ProgressState {
    /// Returns a line that fits a width: `app.db  copy  [#########           ]  45%`.
    func bar(width: Int) -> String {
        let path = TextLayout.harmless(path)
        let fraction = overall ?? fraction
        let percent = String(Int(fraction * 100))
        // If the engine does not report a total, the line shows only the phase.
        var tail =
            total > 0
            ? "  " + String(repeating: " ", count: max(0, 3 - percent.count)) + percent + "%" : "      "
        // On a narrow terminal, the file name is more useful than the rate.
        if TextLayout.columns(path) + phase.count + tail.count + pace.count + 17 <= width { tail += pace }
        let head = "\(path)  \(phase)  "
        // The file name is more useful than a bar of fewer than ten cells.
        let room = width - 1 - TextLayout.columns(head) - tail.count - 2
        guard room >= 10 else {
            let rest = max(0, width - 1 - phase.count - tail.count)
            return TextLayout.shortened(path, to: max(0, rest - 2)) + (rest >= 3 ? "  " : "") + phase + tail
        }
        let cells = min(room, 40)
        let full = Int(fraction * Double(cells))
        return head + "[" + String(repeating: "#", count: full) + String(repeating: " ", count: cells - full)
            + "]" + tail
    }

    var line: String {
        guard total > 0 else { return "\(path): \(phase)" }
        let percent = Int((overall ?? fraction) * 100)
        return
            "\(path): \(phase): \(grouped: completed) of \(grouped: total) \(unit) (\(percent)%)"
            + pace.replacing("  ", with: ", ")
    }

    /// The rate and the remaining time.
    private var pace: String {
        var text = ""
        if let rate {
            text += "  \(rate < 10 ? ProgressState.tenths(rate) : TextLayout.grouped(Int(rate))) \(unit)/s"
        }
        if let secondsLeft {
            text += "  \(seconds: .milliseconds(Int64(min(secondsLeft, 1e9) * 1000))) left"
        }
        return text
    }

    private static func tenths(_ value: Double) -> String {
        "\(Int(value * 10) / 10).\(Int(value * 10) % 10)"
    }

    var json: JSONObject {
        [
            "path": path, "phase": phase, "completed": completed, "total": total, "unit": unit,
            "fraction": ProgressState.json(overall), "rate": ProgressState.json(rate),
            "seconds_left": ProgressState.json(secondsLeft), "elapsed_seconds": ProgressState.json(elapsed),
        ]
    }

    private static func json(_ value: Double?) -> Double? {
        value.map { ($0 * 1000).rounded() / 1000 }
    }
}
