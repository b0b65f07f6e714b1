internal import Synchronization

/// Everything that the tool says, from any thread: people's text, or JSON lines.
///
/// In text, results go to the standard output and talk to the standard error. With `--json` the standard
/// output has one object a line, of the types start, progress, result, error and summary, and the last line's
/// `code` is the exit code.
final class Reporter: Sendable {
    let style: OutputStyle
    let command: String
    private let output: OutputFile
    private let errors: OutputFile

    private struct State {
        var throttle: ProgressThrottle
        var meter = ProgressMeter()
        /// Whether a bar stands on the last line of the terminal.
        var hasBar = false
        var isFinished = false
        let began = ContinuousClock.now
        var resultCount = 0
        /// How often each code of a failure came.
        var failures: [ExitStatus: Int] = [:]
        /// What a command adds to the last line.
        var summary: [JSONValue.Member] = []
    }

    private let state: Mutex<State>

    init(command: String, style: OutputStyle, output: OutputFile = .output, errors: OutputFile = .errors) {
        self.command = command
        self.style = style
        self.output = output
        self.errors = errors
        let interval: Duration =
            switch style.progress {
            case .bar: .milliseconds(100)
            case .objects: .milliseconds(500)
            case .lines, .none: .seconds(10)
            }
        // A log keeps each line, and cron sends it by mail: there, only long work is worth one.
        let patience: Duration = style.progress == .lines ? .seconds(10) : .milliseconds(500)
        let throttle = ProgressThrottle(
            patience: style.showsProgressAtOnce ? .zero : patience, interval: interval,
            isForLog: style.progress == .lines)
        state = Mutex(State(throttle: throttle))
    }

    /// The failure of the output itself, when something of it was lost.
    var outputFailure: Failure? {
        output.lostText.map { Failure($0, "The output could not be written", missing: .inputOutput) }
    }

    /// Whether nobody reads the output any more.
    var isOutputClosed: Bool { output.isClosed }

    /// Columns for tables: those of the terminal, or no limit in files and pipes.
    var outputWidth: Int? { output.terminalWidth }
}

// MARK: - Saying

extension Reporter {
    func start(_ details: [JSONValue.Member]) {
        guard style.isJSON else { return }
        object("start", details)
    }

    /// What became of one file, or the answer to a question.
    ///
    /// - Parameters:
    ///   - text: its lines for people.
    ///   - isAnswer: whether it is what was asked for, and not only word of success, which `--quiet` leaves
    ///     out.
    ///   - keepsLines: whether each of the lines may have several, as statements do; names of files must not
    ///     look like lines of their own.
    func result(
        _ details: [JSONValue.Member], text: [String], isAnswer: Bool = false, keepsLines: Bool = false
    ) {
        state.withLock { $0.resultCount += 1 }
        if style.isJSON {
            object("result", details)
        } else if isAnswer || !style.isQuiet {
            line(
                text.map { TextLayout.harmless($0, keepingLines: keepsLines) }.joined(separator: "\n"),
                on: output)
        }
    }

    /// A failure, of one file or of the command.
    func failure(_ failure: Failure, path: String? = nil) {
        state.withLock { $0.failures[failure.status, default: 0] += 1 }
        // Some messages name the file that they are about, which would be there twice.
        let prefix = path.map { $0 + ": " } ?? ""
        let message = HiddenKeys.hiding(
            in: failure.message.hasPrefix(prefix)
                ? String(failure.message.dropFirst(prefix.count)) : failure.message)
        if style.isJSON {
            var details: [JSONValue.Member] = []
            if let path { details.append(.init("path", .string(path))) }
            details += [
                .init("code", .count(failure.status.rawValue)), .init("reason", .string(failure.reason)),
                .init("message", .string(message)),
            ]
            object("error", details)
        }
        let words = Color.red.paint("error:", if: style.colorsErrors)
        let place = path.map { TextLayout.harmless($0) + ": " } ?? ""
        let named = path.map { message.replacing($0, with: TextLayout.harmless($0)) } ?? message
        talk("coffer: \(place)\(words) \(TextLayout.harmless(named, keepingLines: true))")
    }

    func warning(_ text: String) {
        let words = TextLayout.harmless(HiddenKeys.hiding(in: text), keepingLines: true)
        talk("coffer: \(Color.yellow.paint("warning:", if: style.colorsErrors)) \(words)")
    }

    /// What is worth knowing, unless `--quiet`.
    func note(_ text: String) {
        if !style.isQuiet { talk(TextLayout.harmless(text, keepingLines: true)) }
    }

    /// What only `--verbose` reports.
    func detail(_ text: String) {
        if style.isVerbose { talk("coffer: " + TextLayout.harmless(text, keepingLines: true)) }
    }

    func progress(_ progress: ProgressState) {
        guard style.progress != .none else { return }
        state.withLock { state in show(state.meter.take(progress, at: .now), &state) }
    }

    /// What a batch reports about itself.
    func batch(_ event: ProgressMeter.BatchEvent) {
        guard style.progress != .none else { return }
        state.withLock { state in
            if let progress = state.meter.take(event, at: .now) { show(progress, &state) }
        }
    }

    private func show(_ progress: ProgressState, _ state: inout State) {
        guard !state.isFinished, state.throttle.shouldShow(progress, at: .now) else { return }
        switch style.progress {
        case .bar:
            let width = errors.terminalWidth ?? 80
            // To the start of the line, the bar, and nothing after it.
            errors.write("\r" + progress.bar(width: width) + "\u{1b}[K")
            state.hasBar = true
        case .lines: errors.writeLine("coffer: " + TextLayout.harmless(progress.line))
        case .objects: output.writeLine(text("progress", progress.json))
        case .none: break
        }
    }

    /// The last line, of which a program reads the exit code. Later calls say nothing.
    func summary(_ status: ExitStatus) {
        let summary: String? = state.withLock { state in
            guard !state.isFinished else { return nil }
            state.isFinished = true
            eraseBar(&state)
            guard style.isJSON else { return nil }
            let elapsed = (ContinuousClock.now - state.began).components
            return text(
                "summary",
                [
                    .init("results", .count(state.resultCount)),
                    .init("failures", .count(state.failures.values.reduce(0, +))),
                    .init("failure_codes", .object(Reporter.counts(state.failures))),
                    .init(
                        "elapsed_ms",
                        .int(elapsed.seconds * 1000 + elapsed.attoseconds / 1_000_000_000_000_000)),
                ] + state.summary + [.init("code", .count(status.rawValue))])
        }
        if let summary { output.writeLine(summary) }
    }

    /// Adds to the last line of JSON.
    func addToSummary(_ members: [JSONValue.Member]) {
        state.withLock { $0.summary += members }
    }

    /// Text as it is, on the standard output: rows of a query, a key.
    func raw(_ text: String) {
        state.withLock {
            eraseBar(&$0); output.write(text)
        }
    }
}

extension Reporter {
    /// Bytes as they are, on the standard output, which may be no text.
    func raw(bytes: [UInt8]) {
        state.withLock {
            eraseBar(&$0)
            output.write(bytes: bytes)
        }
    }
}

// MARK: - Writing

extension Reporter {
    private func object(_ type: String, _ details: [JSONValue.Member]) {
        line(text(type, details), on: output)
    }

    private func text(_ type: String, _ details: [JSONValue.Member]) -> String {
        JSONValue.object(
            [.init("schema", 1), .init("type", .string(type)), .init("command", .string(command))] + details
        ).text
    }

    private static func counts(_ failures: [ExitStatus: Int]) -> [JSONValue.Member] {
        failures.sorted { $0.key.rawValue < $1.key.rawValue }.map {
            .init(String($0.key.rawValue), .count($0.value))
        }
    }

    private func talk(_ text: String) { line(text, on: errors) }

    private func line(_ text: String, on file: OutputFile) {
        state.withLock { state in
            eraseBar(&state)
            file.writeLine(text)
        }
    }

    private func eraseBar(_ state: inout State) {
        guard state.hasBar else { return }
        errors.write("\r\u{1b}[K")
        state.hasBar = false
    }
}
