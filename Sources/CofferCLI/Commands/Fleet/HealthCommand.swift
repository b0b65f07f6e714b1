internal import ArgumentParser

struct HealthCommand: Operation {
    static let configuration = CommandConfiguration.coffer(
        "health <metrics> [options]", abstract: "Check the metrics of earlier runs for problems.",
        discussion: """
            Reads the results of runs with --metrics, and needs no key and no database. Exit code 0 if the \
            last run of each kind on each target succeeded, and is not older than the given age; 1 if one \
            failed, is too old, is dated in the future, or is missing. An age is a number with h, d or w. A \
            killed run records nothing: only an age shows it. Remove the file to forget a target that no \
            longer exists.

            EXAMPLES
              coffer health /var/lib/metrics/coffer.prom --verified-within 26h
              coffer health coffer.prom --verified-within 26h --backed-up-within 26h
              coffer health coffer.prom --target /srv/app.db --rotated-within 52w
            """)

    @Argument(help: "The metrics file.", completion: .file())
    var metrics: String

    @Option(help: .value("age", "Maximum age of the last good verification."), transform: Age.init)
    var verifiedWithin: Age?

    @Option(help: .value("age", "Maximum age of the last good backup."), transform: Age.init)
    var backedUpWithin: Age?

    @Option(help: .value("age", "Maximum age of the last good rotation."), transform: Age.init)
    var rotatedWithin: Age?

    @Option(help: .value("name", "Check this target only, which must exist (repeatable)."))
    var target: [String] = []

    @OptionGroup(title: "Output and waiting")
    var output: OutputOptions

    /// The maximum age of a good run.
    struct Age: Sendable {
        let text: String
        let seconds: Int64

        init(_ text: String) throws {
            let units: [Character: Int64] = ["h": 3600, "d": 86_400, "w": 604_800]
            // Digits only: `Int64` would also accept a sign.
            guard let unit = text.last.flatMap({ units[$0] }),
                text.dropLast().allSatisfy({ ("0"..."9").contains($0) }),
                let number = Int64(text.dropLast()), (1...100_000).contains(number)
            else { throw ValidationError("'\(text)' is not an age: give a number with h, d or w: 26h.") }
            (self.text, seconds) = (text, number * unit)
        }
    }

    var subject: String? { metrics }

    var readsDefaults: Bool { false }

    func run(in session: Session) throws -> ExitStatus {
        try FileNames.checkIsNoDash(metrics, "the metrics file")
        session.reporter.start(["files": [metrics]])
        let known = try MetricsFile(path: metrics).read()
        let findings = findings(known, now: RunMetrics.now)
        for finding in findings { finding.tell(session.reporter) }
        let count = findings.count { $0.problem != nil }
        session.reporter.note(count == 0 ? "all is well" : "\(counted: count, "problem")")
        return count == 0 ? .done : .answerIsNo
    }

    private func limit(_ work: RunMetrics.Work) -> Age? {
        switch work {
        case .verify: verifiedWithin
        case .backup: backedUpWithin
        case .rotate: rotatedWithin
        }
    }

    /// Returns the given targets. A path is also found under the name that the metrics have for its file.
    private func targets(_ known: RunMetrics) -> [String] {
        let names = Set(known.subjects.map { Array($0.target.utf8) })
        return target.map { name in
            let file = FileNames.canonical(name)
            return !names.contains(Array(name.utf8)) && names.contains(Array(file.utf8)) ? file : name
        }
    }

    private func findings(_ known: RunMetrics, now: Int64) -> [Verdict] {
        let target = targets(known)
        let wanted = Set(target.map { Array($0.utf8) })
        let subjects = known.subjects.filter { wanted.isEmpty || wanted.contains(Array($0.target.utf8)) }
        var findings = subjects.map { subject in
            let samples = known.samples[subject] ?? [:]
            return Verdict(
                work: subject.work.rawValue, target: subject.target, samples: samples,
                problem: problem(subject.work, samples, now))
        }
        func missing(_ work: RunMetrics.Work?, _ target: String?) -> Verdict {
            Verdict(work: work?.rawValue, target: target, samples: [:], problem: "no run is recorded")
        }
        // Work or a target that was asked for and has no samples counts as a problem too.
        for work in RunMetrics.Work.allCases where limit(work) != nil {
            if target.isEmpty, !subjects.contains(where: { $0.work == work }) {
                findings.append(missing(work, nil))
            }
            for name in target where !subjects.contains(.init(work: work, target: name)) {
                findings.append(missing(work, name))
            }
        }
        if findings.isEmpty {
            findings = target.isEmpty ? [missing(nil, nil)] : target.map { missing(nil, $0) }
        }
        let named = Set(findings.compactMap { finding in finding.target.map { Array($0.utf8) } })
        findings += target.filter { !named.contains(Array($0.utf8)) }.map { missing(nil, $0) }
        return findings
    }

    /// Returns the problem with one kind of work on one target, or nil if all is well.
    private func problem(_ work: RunMetrics.Work, _ samples: [RunMetrics.Metric: Double], _ now: Int64)
        -> String?
    {
        guard let success = samples[.lastSuccess].flatMap({ Int64(exactly: $0.rounded()) }) else {
            return "no run has succeeded so far"
        }
        let code = Int32(exactly: samples[.exitCode] ?? 0) ?? -1
        guard code == 0 else {
            return
                "the last run failed (exit code \(code)); the last success was "
                + "\(TextLayout.ago(now - success))"
        }
        // Allow a minute for clock adjustments.
        guard success <= now + 60 else {
            return "the last good run is dated in the future: check the clock"
        }
        guard let limit = limit(work), now - success > limit.seconds else { return nil }
        return "the last good run was \(TextLayout.ago(now - success)), more than \(limit.text)"
    }

    /// The state of one kind of work on one target.
    private struct Verdict {
        let work: String?
        let target: String?
        let samples: [RunMetrics.Metric: Double]
        let problem: String?

        func tell(_ reporter: Reporter) {
            let place = [work, target].compactMap { $0 }.joined(separator: " ")
            func time(_ metric: RunMetrics.Metric) -> Int64? { samples[metric].map { Int64($0) } }
            reporter.result(
                [
                    "work": work, "target": target, "good": problem == nil, "finding": problem,
                    "last_success": time(.lastSuccess), "last_run": time(.lastRun), "files": time(.files),
                    "failed_files": time(.failedFiles),
                ],
                text: [
                    "\(problem == nil ? "good" : "BAD ")  \(place.isEmpty ? "metrics" : place): "
                        + "\(problem ?? "the last run succeeded")"
                ], isAnswer: problem != nil)
        }
    }
}

extension TextLayout {
    /// Returns an age as text: in minutes below two hours, in hours below two days, and in days beyond.
    fileprivate static func ago(_ seconds: Int64) -> String {
        switch seconds {
        case ..<7200: "\(counted(Int(max(0, seconds) / 60), "minute")) ago"
        case ..<172_800: "\(counted(Int(seconds / 3600), "hour")) ago"
        default: "\(counted(Int(seconds / 86_400), "day")) ago"
        }
    }
}
