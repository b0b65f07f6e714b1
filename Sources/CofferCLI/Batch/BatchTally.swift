/// The counts of a batch's results.
struct BatchTally: Sendable {
    private(set) var succeeded = 0
    private(set) var changed = 0
    var skipped = 0
    /// The total size of the files that were done.
    private(set) var bytes: Int64 = 0
    private let began = ContinuousClock.now

    /// The number of files of each kind, or of files that the key of each option opened.
    private var groups: [String: Int] = [:]

    private struct Failures {
        let status: ExitStatus
        var count = 0
        /// The first few paths.
        var paths: [String] = []
    }

    /// The failures by reason.
    private var failures: [String: Failures] = [:]

    /// The number of failures after which the work on the file is done, but the state does not say so.
    private(set) var unrecorded = 0
    /// True if the state of the batch could not be written.
    private(set) var isStateLost = false

    /// True if statements stay that were run before one that failed.
    private(set) var hasPartialChange = false

    var failed: Int { failures.values.reduce(0) { $0 + $1.count } }

    mutating func addDone(_ effect: BatchJob.Effect, size: Int64) {
        succeeded += 1
        if effect.isChanged { changed += 1 }
        bytes += size
        if let group = effect.group { groups[group, default: 0] += 1 }
    }

    mutating func add(_ failure: Failure, path: String) {
        var same = failures[failure.reason] ?? Failures(status: failure.status)
        same.count += 1
        if same.paths.count < 3 { same.paths.append(path) }
        failures[failure.reason] = same
        if failure.done == .some { hasPartialChange = true }
    }

    /// - Parameter isDone: true if the work on the file is done.
    mutating func noteLostState(isDone: Bool) {
        isStateLost = true
        if isDone { unrecorded += 1 }
    }

    private func notBegun(of total: Int) -> Int { max(0, total - succeeded - failed - skipped) }

    /// Returns the summary as text.
    func lines(of total: Int) -> [String] {
        let rest = notBegun(of: total)
        let time = TextLayout.seconds(ContinuousClock.now - began)
        var lines = [
            "\(grouped: succeeded) of \(counted: total, "file") done, "
                + "\(grouped: failed) failed, \(grouped: skipped) done before"
                + (rest > 0 ? ", \(grouped: rest) not begun" : "")
                + " (\(size: bytes), \(time))"
        ]
        if unrecorded > 0 {
            lines.append(
                "  \(grouped: unrecorded) of the failed: the work is done, and only its record is missing")
        }
        if groups.count > 1 || failures["wrong_key"] != nil {
            for (name, count) in groups.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
                lines.append("  \(harmless: name): \(counted: count, "file")")
            }
        }
        for (reason, same) in failures.sorted(by: { ($1.value.count, $0.key) < ($0.value.count, $1.key) }) {
            let words = reason == "wrong_key" ? "opened by no key" : reason.replacing("_", with: " ")
            let paths =
                same.paths.map { TextLayout.harmless($0) }.joined(separator: ", ")
                + (same.count > same.paths.count ? ", ..." : "")
            lines.append("  \(words) (\(same.status.rawValue)): \(counted: same.count, "file"): \(paths)")
        }
        return lines
    }

    /// Returns the summary as members of the last JSON line.
    func json(of total: Int) -> JSONObject {
        [
            "files": total, "done": succeeded, "changed": changed, "failed": failed, "done_before": skipped,
            "done_unrecorded": unrecorded, "not_begun": notBegun(of: total),
            "opened_by_no_key": failures["wrong_key"]?.count ?? 0,
            "bytes": bytes,
            "groups": BatchTally.sorted(groups), "reasons": BatchTally.sorted(failures.mapValues(\.count)),
        ]
    }

    private static func sorted(_ counts: [String: Int]) -> JSONObject {
        JSONObject(counts.sorted { $0.key < $1.key }.map { JSONValue.Member($0.key, .int(Int64($0.value))) })
    }
}
