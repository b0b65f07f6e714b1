internal import Foundation

/// The results of runs, as samples in the Prometheus text format.
///
/// Each kind of work on each target has its own samples. A failed run replaces all of them except the time of
/// the last successful run.
struct RunMetrics: Sendable {
    enum Work: String, Sendable, CaseIterable {
        case verify, backup, rotate
    }

    /// A kind of work on a target. Targets are compared by their bytes.
    struct Subject: Hashable, Sendable {
        let work: Work
        let target: String

        static func == (one: Subject, other: Subject) -> Bool {
            one.work == other.work && one.target.utf8.elementsEqual(other.target.utf8)
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(work)
            for byte in target.utf8 { hasher.combine(byte) }
        }
    }

    /// The result of one run.
    struct Run: Sendable {
        var status: ExitStatus
        /// In seconds since 1970.
        var end: Int64
        var seconds: Double
        var files: Int
        var failedFiles: Int
        var bytes: Int64
    }

    enum Metric: String, CaseIterable, Sendable {
        case runs = "coffer_runs_total"
        case failedRuns = "coffer_failed_runs_total"
        case lastRun = "coffer_last_run_timestamp_seconds"
        case lastSuccess = "coffer_last_success_timestamp_seconds"
        case exitCode = "coffer_last_run_exit_code"
        case files = "coffer_last_run_files"
        case failedFiles = "coffer_last_run_failed_files"
        case duration = "coffer_last_run_duration_seconds"
        case bytes = "coffer_last_run_size_bytes"

        fileprivate var type: String { self == .runs || self == .failedRuns ? "counter" : "gauge" }

        fileprivate var help: String {
            switch self {
            case .runs: "Runs that came to their end."
            case .failedRuns: "Runs whose exit code was not 0."
            case .lastRun: "When the last run ended."
            case .lastSuccess: "When the last run ended that did all of its work."
            case .exitCode: "The exit code of the last run."
            case .files: "Files that the last run was for."
            case .failedFiles: "Files that failed in the last run."
            case .duration: "How long the last run took."
            case .bytes: "The size of the files that the last run did its work on."
            }
        }

        fileprivate var head: [String] { ["# HELP \(rawValue) \(help)", "# TYPE \(rawValue) \(type)"] }
    }

    /// In seconds since 1970.
    static var now: Int64 { Int64(Date().timeIntervalSince1970) }

    private(set) var samples: [Subject: [Metric: Double]] = [:]

    mutating func add(_ run: Run, of subject: Subject) {
        let before = samples[subject] ?? former(subject).flatMap { samples.removeValue(forKey: $0) } ?? [:]
        let isGood = run.status == .done
        var next: [Metric: Double] = [
            .runs: (before[.runs] ?? 0) + 1, .failedRuns: (before[.failedRuns] ?? 0) + (isGood ? 0 : 1),
            .lastRun: Double(run.end),
            .exitCode: Double(run.status.rawValue), .files: Double(run.files),
            .failedFiles: Double(run.failedFiles),
            .duration: (run.seconds * 1000).rounded() / 1000, .bytes: Double(run.bytes),
        ]
        next[.lastSuccess] = isGood ? Double(run.end) : before[.lastSuccess]
        samples[subject] = next
    }

    /// Returns the subject that an earlier version named by a path with links.
    private func former(_ subject: Subject) -> Subject? {
        samples.keys.first {
            $0.work == subject.work && $0.target.hasPrefix("/")
                && FileNames.canonical($0.target) == subject.target
        }
    }

    /// The subjects, sorted by the kind of work and then by the bytes of the target.
    var subjects: [Subject] {
        samples.keys.sorted {
            $0.work == $1.work
                ? $0.target.utf8.lexicographicallyPrecedes($1.target.utf8)
                : $0.work.rawValue < $1.work.rawValue
        }
    }
}

// MARK: - Text

extension RunMetrics {
    /// The first line of every file that this tool writes. Only files that begin with it are replaced.
    private static let start = "# Written by coffer, and replaced as a whole at each run."

    var text: String {
        var lines = [RunMetrics.start]
        let subjects = subjects
        for metric in Metric.allCases {
            let values = subjects.compactMap { subject in samples[subject]?[metric].map { (subject, $0) } }
            guard !values.isEmpty else { continue }
            lines += metric.head
            for (subject, value) in values {
                let labels =
                    "{work=\"\(subject.work.rawValue)\",target=\"\(RunMetrics.escaped(subject.target))\"}"
                lines.append(
                    "\(metric.rawValue)\(labels) \(Int64(exactly: value).map { String($0) } ?? String(value))"
                )
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Escapes the value of a label.
    private static func escaped(_ text: String) -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\\"): bytes += Array("\\\\".utf8)
            case UInt8(ascii: "\""): bytes += Array("\\\"".utf8)
            case UInt8(ascii: "\n"): bytes += Array("\\n".utf8)
            default: bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Parses the format that ``text`` writes, and nothing else. An empty file has no samples.
    init?(_ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return }
        guard bytes.last == UInt8(ascii: "\n"), String(validating: bytes, as: UTF8.self) != nil else {
            return nil
        }
        var lines = bytes.dropLast().split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        guard lines.removeFirst().elementsEqual(RunMetrics.start.utf8) else { return nil }
        let heads = Set(Metric.allCases.flatMap(\.head).map { Array($0.utf8) })
        for line in lines where !heads.contains(Array(line)) {
            var reader = SampleReader(rest: line)
            guard let sample = reader.sample(), samples[sample.subject]?[sample.metric] == nil else {
                return nil
            }
            samples[sample.subject, default: [:]][sample.metric] = sample.value
        }
        let required = Set(Metric.allCases).subtracting([.lastSuccess])
        guard samples.values.allSatisfy({ required.isSubset(of: $0.keys) }) else { return nil }
    }

    private struct SampleReader {
        /// The highest number up to which `Double` represents all integers. All times, sizes and counts are
        /// below it, and every number below it fits an `Int64`.
        private let highestValue: Double = 9_007_199_254_740_992

        var rest: ArraySlice<UInt8>

        mutating func sample() -> (subject: Subject, metric: Metric, value: Double)? {
            guard let name = text(before: "{work=\""), let metric = Metric(rawValue: name),
                let word = text(before: "\",target=\""),
                let work = Work(rawValue: word), let target = label(), rest.first == UInt8(ascii: " "),
                let value = Double(String(decoding: rest.dropFirst(), as: UTF8.self)),
                (0...highestValue).contains(value)
            else { return nil }
            return (Subject(work: work, target: target), metric, value)
        }

        /// Consumes and returns the text before a mark, and consumes the mark. Neither contains escapes.
        private mutating func text(before mark: String) -> String? {
            let mark = Array(mark.utf8)
            guard let end = rest.firstIndex(of: mark[0]), rest[end...].starts(with: mark) else { return nil }
            defer { rest = rest[end...].dropFirst(mark.count) }
            return String(decoding: rest[..<end], as: UTF8.self)
        }

        /// Consumes the value of the last label and the end of the labels, and returns the value.
        private mutating func label() -> String? {
            var value: [UInt8] = []
            while let byte = rest.popFirst() {
                switch byte {
                case UInt8(ascii: "\""):
                    guard rest.popFirst() == UInt8(ascii: "}") else { return nil }
                    return String(decoding: value, as: UTF8.self)
                case UInt8(ascii: "\\"):
                    switch rest.popFirst() {
                    case UInt8(ascii: "n"): value.append(UInt8(ascii: "\n"))
                    case let next? where next == UInt8(ascii: "\\") || next == UInt8(ascii: "\""):
                        value.append(next)
                    default: return nil
                    }
                default: value.append(byte)
                }
            }
            return nil
        }
    }
}
