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

    /// How much of all work is done, which never gets less; nil where that was not measured.
    var overall: Double?
    /// How many of the units are done in a second.
    var rate: Double?
    /// In seconds, as all numbers of this kind.
    var secondsLeft: Double?
    var elapsed: Double?

    var fraction: Double { total > 0 ? min(1, Double(completed) / Double(total)) : 0 }
}

/// Decides which progress is worth showing: none for work that ends at once, and not more than a reader can
/// take.
struct ProgressThrottle {
    let patience: Duration
    let interval: Duration
    /// Whether one thing of the work stands for all of it: no more than one line in each interval, whatever
    /// it is about.
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

// MARK: - Pictures

extension ProgressState {
    /// A line that fits a width: `app.db  copy  [#########           ]  45%`.
    func bar(width: Int) -> String {
        let path = TextLayout.harmless(path)
        let fraction = overall ?? fraction
        let percent = String(Int(fraction * 100))
        // Where the engine does not report how much there is, the phase has to do.
        var tail =
            total > 0
            ? "  " + String(repeating: " ", count: max(0, 3 - percent.count)) + percent + "%" : "      "
        // On a narrow terminal the name of the file says more.
        if TextLayout.columns(path) + phase.count + tail.count + pace.count + 17 <= width { tail += pace }
        let head = "\(path)  \(phase)  "
        // A bar shorter than ten cells says less than the name of the file.
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
            "\(path): \(phase): \(TextLayout.grouped(completed)) of \(TextLayout.grouped(total)) \(unit) "
            + "(\(percent)%)"
            + pace.replacing("  ", with: ", ")
    }

    /// The rate, and the time that is left.
    private var pace: String {
        var text = ""
        if let rate {
            text += "  \(rate < 10 ? ProgressState.tenths(rate) : TextLayout.grouped(Int(rate))) \(unit)/s"
        }
        if let secondsLeft {
            text += "  \(TextLayout.seconds(.milliseconds(Int64(min(secondsLeft, 1e9) * 1000)))) left"
        }
        return text
    }

    private static func tenths(_ value: Double) -> String {
        "\(Int(value * 10) / 10).\(Int(value * 10) % 10)"
    }

    var json: [JSONValue.Member] {
        [
            .init("path", .string(path)), .init("phase", .string(phase)), .init("completed", .int(completed)),
            .init("total", .int(total)), .init("unit", .string(unit)),
            .init("fraction", ProgressState.json(overall)),
            .init("rate", ProgressState.json(rate)), .init("seconds_left", ProgressState.json(secondsLeft)),
            .init("elapsed_seconds", ProgressState.json(elapsed)),
        ]
    }

    private static func json(_ value: Double?) -> JSONValue {
        value.map { .double(($0 * 1000).rounded() / 1000) } ?? .null
    }
}
