internal import ArgumentParser

struct HealthCommand: Operation {
    static let configuration = CommandConfiguration(
        commandName: "health",
        abstract: "Tell by the metrics of earlier runs whether all is well.",
        usage: "coffer health <metrics> [options]",
        discussion: """
            Reads what runs with --metrics have left, and needs no key and no database. Exit code 0 when the \
            last run of each kind on each target was good, and no older than you say; 1 when one failed, is \
            too old, dated in the future, or was never there. An age is a number with h, d or w. A run that \
            was killed leaves nothing: only an age shows it. A target that is gone for good is forgotten by \
            removing the file.

            EXAMPLES
              coffer health /var/lib/metrics/coffer.prom --verified-within 26h
              coffer health coffer.prom --verified-within 26h --backed-up-within 26h
              coffer health coffer.prom --target /srv/app.db --rotated-within 52w
            """)

    @Argument(help: "The file of metrics.", completion: .file())
    var metrics: String

    @Option(
        help: ArgumentHelp("How old the last good verification may be.", valueName: "age"),
        transform: Age.init)
    var verifiedWithin: Age?

    @Option(help: ArgumentHelp("How old the last good backup may be.", valueName: "age"), transform: Age.init)
    var backedUpWithin: Age?

    @Option(
        help: ArgumentHelp("How old the last good rotation may be.", valueName: "age"), transform: Age.init)
    var rotatedWithin: Age?

    @Option(
        help: ArgumentHelp("Look at this target only, which has to be there (repeatable).", valueName: "name")
    )
    var target: [String] = []

    @OptionGroup(title: "Output and waiting")
    var output: OutputOptions

    /// How long ago something may be.
    struct Age: Sendable {
        let text: String
        let seconds: Int64

        init(_ text: String) throws {
            let units: [Character: Int64] = ["h": 3600, "d": 86_400, "w": 604_800]
            // Digits only: `Int64` would also take a sign.
            guard let unit = text.last.flatMap({ units[$0] }),
                text.dropLast().allSatisfy({ ("0"..."9").contains($0) }),
                let number = Int64(text.dropLast()), (1...100_000).contains(number)
            else { throw ValidationError("'\(text)' is no age: give a number with h, d or w, such as 26h.") }
            (self.text, seconds) = (text, number * unit)
        }
    }

    var subject: String? { metrics }

    func run(in session: Session) throws -> ExitStatus {
        try FileNames.checkIsNoDash(metrics, "the file of metrics")
        session.reporter.start([.init("files", .strings([metrics]))])
        let known = try MetricsFile(path: metrics).read()
        let findings = findings(known, now: RunMetrics.now)
        for finding in findings { finding.tell(session.reporter) }
        let count = findings.count { $0.problem != nil }
        session.reporter.note(
            count == 0 ? "all is well" : "\(TextLayout.counted(count, "thing is", "things are")) not well")
        return count == 0 ? .done : .answerIsNo
    }

    private func limit(_ work: RunMetrics.Work) -> Age? {
        switch work {
        case .verify: verifiedWithin
        case .backup: backedUpWithin
        case .rotate: rotatedWithin
        }
    }

    private func findings(_ known: RunMetrics, now: Int64) -> [Finding] {
        let wanted = Set(target.map { Array($0.utf8) })
        let subjects = known.subjects.filter { wanted.isEmpty || wanted.contains(Array($0.target.utf8)) }
        var findings = subjects.map { subject in
            let samples = known.samples[subject] ?? [:]
            return Finding(
                work: subject.work.rawValue, target: subject.target, samples: samples,
                problem: problem(subject.work, samples, now))
        }
        func missing(_ work: RunMetrics.Work?, _ target: String?) -> Finding {
            Finding(work: work?.rawValue, target: target, samples: [:], problem: "no run is recorded")
        }
        // What was asked for, and has no samples at all, is not well either.
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

    /// What is wrong with the runs of one kind on one target; nil if nothing is.
    private func problem(_ work: RunMetrics.Work, _ samples: [RunMetrics.Metric: Double], _ now: Int64)
        -> String?
    {
        guard let success = samples[.lastSuccess].flatMap({ Int64(exactly: $0.rounded()) }) else {
            return "no run was good so far"
        }
        let code = Int32(exactly: samples[.exitCode] ?? 0) ?? -1
        guard code == 0 else {
            return
                "the last run failed (exit code \(code)); the last good one was "
                + "\(TextLayout.ago(now - success))"
        }
        // A minute is for clocks that were set meanwhile.
        guard success <= now + 60 else {
            return "the last good run is dated in the future: look at the clock"
        }
        guard let limit = limit(work), now - success > limit.seconds else { return nil }
        return "the last good run was \(TextLayout.ago(now - success)), which is more than \(limit.text)"
    }

    private struct Finding {
        let work: String?
        let target: String?
        let samples: [RunMetrics.Metric: Double]
        let problem: String?

        func tell(_ reporter: Reporter) {
            let place = [work, target].compactMap { $0 }.joined(separator: " ")
            func time(_ metric: RunMetrics.Metric) -> JSONValue {
                samples[metric].map { .count(Int64($0)) } ?? .null
            }
            reporter.result(
                [
                    .init("work", .optional(work)), .init("target", .optional(target)),
                    .init("good", .bool(problem == nil)),
                    .init("finding", .optional(problem)), .init("last_success", time(.lastSuccess)),
                    .init("last_run", time(.lastRun)),
                    .init("files", time(.files)), .init("failed_files", time(.failedFiles)),
                ],
                text: [
                    "\(problem == nil ? "good" : "BAD ")  \(place.isEmpty ? "metrics" : place): "
                        + "\(problem ?? "the last run was good")"
                ],
                isAnswer: problem != nil)
        }
    }
}

extension TextLayout {
    /// How long ago something was, in whole hours where it was today, and in days before.
    fileprivate static func ago(_ seconds: Int64) -> String {
        switch seconds {
        case ..<7200: "\(counted(Int(max(0, seconds) / 60), "minute", "minutes")) ago"
        case ..<172_800: "\(counted(Int(seconds / 3600), "hour", "hours")) ago"
        default: "\(counted(Int(seconds / 86_400), "day", "days")) ago"
        }
    }
}
