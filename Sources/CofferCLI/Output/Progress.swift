internal import Synchronization

/// How far a piece of work has come.
struct ProgressState: Sendable, Hashable {
    /// The file that is worked on.
    let path: String

    /// What is being done, in one word, such as "copy".
    let phase: String
    let completed: Int64
    let total: Int64

    /// Of what, in the plural: "pages", "files".
    let unit: String

    var fraction: Double { total > 0 ? min(1, Double(completed) / Double(total)) : 0 }
}

/// Decides which progress is worth showing: none for work that ends at once, and not more than a reader can take.
struct ProgressThrottle {
    let patience: Duration
    let interval: Duration
    /// Whether one thing of the work stands for all of it: no more than one line in each interval, whatever it is about.
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
        let isSame = last.map { isForLog || $0.state.phase == state.phase && $0.state.path == state.path } ?? false
        if let last, isSame, now - last.time < interval { return false }
        last = (state, now)
        return true
    }
}

// MARK: - Pictures

extension ProgressState {
    /// A line that fits a width: `app.db  copy  [#########           ]  45%`.
    func bar(width: Int) -> String {
        let path = TextLayout.harmless(path)
        let percent = String(Int(fraction * 100))
        // Where the engine does not tell how much there is, the phase has to do.
        let tail = total > 0 ? "  " + String(repeating: " ", count: max(0, 3 - percent.count)) + percent + "%" : "      "
        let head = "\(path)  \(phase)  "
        // A bar shorter than ten cells says less than the name of the file.
        let room = width - 1 - TextLayout.columns(head) - tail.count - 2
        guard room >= 10 else {
            let rest = max(0, width - 1 - phase.count - tail.count)
            return TextLayout.shortened(path, to: max(0, rest - 2)) + (rest >= 3 ? "  " : "") + phase + tail
        }
        let cells = min(room, 40)
        let full = Int(fraction * Double(cells))
        return head + "[" + String(repeating: "#", count: full) + String(repeating: " ", count: cells - full) + "]" + tail
    }

    var line: String {
        guard total > 0 else { return "\(path): \(phase)" }
        return "\(path): \(phase): \(TextLayout.grouped(completed)) of \(TextLayout.grouped(total)) \(unit) (\(Int(fraction * 100))%)"
    }

    var json: [JSONValue.Member] {
        [
            .init("path", .string(path)), .init("phase", .string(phase)), .init("completed", .int(completed)),
            .init("total", .int(total)), .init("unit", .string(unit)),
        ]
    }
}
