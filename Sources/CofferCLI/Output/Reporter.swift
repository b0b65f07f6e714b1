internal import Synchronization

/// The tool's output, from any thread: text for people, or JSON lines.
///
/// In text, results go to standard output and messages to standard error. With `--json`, standard output has
/// one object a line, of the types start, progress, result, error and summary. The `code` in the last line is
/// the exit code.
final class Reporter: Sendable {
    let style: OutputStyle
    let command: String
    private let output: OutputFile
    private let errors: OutputFile

    private struct State {
        var throttle: ProgressThrottle
        var meter = ProgressMeter()
        /// True if a bar is on the last line of the terminal.
        var hasBar = false
        var isFinished = false
        let began = ContinuousClock.now
        var resultCount = 0
        /// The number of failures with each status.
        var failures: [ExitStatus: Int] = [:]
        /// The members that a command adds to the last line.
        var summary: JSONObject = [:]
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
        // A log keeps every line, and cron mails it, so only long work is reported there.
        let patience: Duration = style.progress == .lines ? .seconds(10) : .milliseconds(500)
        let throttle = ProgressThrottle(
            patience: style.showsProgressAtOnce ? .zero : patience, interval: interval,
            isForLog: style.progress == .lines)
        state = Mutex(State(throttle: throttle))
    }

    /// The failure of the output itself, if any text was lost.
    var outputFailure: Failure? {
        output.lostText.map { Failure($0, "The output could not be written", missing: .inputOutput) }
    }

    /// Throws the failure of the output itself.
    func checkOutput() throws(Failure) {
        if let lost = outputFailure { throw lost }
    }

    /// True if the reader has closed the output.
    var isOutputClosed: Bool { output.isClosed }

    /// True if the output goes to a terminal.
    var isOutputShown: Bool { output.isShown }

    /// The width for tables: the columns of the terminal, or nil for files and pipes.
    var outputWidth: Int? { output.terminalWidth }
}

// MARK: - Reporting

extension Reporter {
    func start(_ details: JSONObject...) {
        guard style.isJSON else { return }
        object("start", JSONObject(joining: details).hidingKeys)
    }

    /// Reports the result for one file, or the answer to a question.
    ///
    /// - Parameters:
    ///   - text: the lines of text to print.
    ///   - isAnswer: true if the user asked for this output. `--quiet` omits other results, which only
    ///     confirm success.
    ///   - keepsLines: true if a line may contain line breaks, as statements do. Otherwise they are escaped,
    ///     so a file name cannot look like another line.
    func result(
        _ details: JSONObject..., text: [String], isAnswer: Bool = false, keepsLines: Bool = false
    ) {
        state.withLock { $0.resultCount += 1 }
        if style.isJSON {
            object("result", JSONObject(joining: details))
        } else if isAnswer || !style.isQuiet {
            line(
                text.map { TextLayout.harmless($0, keepingLines: keepsLines) }.joined(separator: "\n"),
                on: output)
        }
    }

    /// Returns the members of a result's JSON line, for ``results(_:lines:)``.
    func resultLine(_ details: JSONObject...) -> JSONObject { line("result", JSONObject(joining: details)) }

    /// Reports results by their whole JSON lines.
    func results(_ count: Int, lines: [UInt8]) {
        state.withLock { $0.resultCount += count }
        raw(bytes: lines)
    }

    /// Reports a failure of one file or of the command.
    ///
    /// - Parameter isNamed: true if the message names the file, which the line of text then does not repeat.
    func failure(_ failure: Failure, path: String? = nil, isNamed: Bool = false) {
        state.withLock { $0.failures[failure.status, default: 0] += 1 }
        // Some messages start with the file name, which would appear twice.
        let prefix = path.map { $0 + ": " } ?? ""
        let name = path.map { HiddenKeys.hiding(inName: $0) + ": " } ?? ""
        let message = HiddenKeys.hiding(
            in: failure.message.hasPrefix(prefix)
                ? String(failure.message.dropFirst(prefix.count)) : failure.message)
        if style.isJSON {
            var details: JSONObject = [:]
            if let path { details += ["path": path] }
            details += ["code": failure.status.rawValue, "reason": failure.reason, "message": message]
            object("error", details.hidingKeys)
        }
        let words = Color.red.paint("error:", if: style.colorsErrors)
        talk("coffer: \(isNamed ? "" : TextLayout.harmless(name))\(words)", message)
    }

    func warning(_ text: String) {
        let word = Color.yellow.paint("warning:", if: style.colorsErrors)
        talk("coffer: \(word)", HiddenKeys.hiding(in: text))
    }

    /// Runs `body`, and reports its failure as a warning.
    func warn(of body: () throws(Failure) -> Void) {
        do throws(Failure) { try body() } catch { warning(error.message) }
    }

    /// Prints a note, unless `--quiet` was given.
    func note(_ text: String) {
        if !style.isQuiet { talk(nil, text) }
    }

    /// Prints a detail if `--verbose` was given.
    func detail(_ text: String) {
        if style.isVerbose { talk("coffer:", text) }
    }

    func progress(_ progress: ProgressState) {
        guard style.progress != .none else { return }
        state.withLock { state in show(state.meter.take(progress, at: .now), &state) }
    }

    /// Reports a progress event of a batch.
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
            // Return to the start of the line, draw the bar, and erase the rest.
            errors.write("\r" + progress.bar(width: width) + "\u{1b}[K")
            state.hasBar = true
        case .lines: errors.writeLine("coffer: " + TextLayout.harmless(progress.line))
        case .objects: output.writeLine(text("progress", progress.json))
        case .none: break
        }
    }

    /// Writes the last line, from which programs read the exit code. Later calls do nothing.
    func summary(_ status: ExitStatus) {
        let summary: String? = state.withLock { state in
            guard !state.isFinished else { return nil }
            state.isFinished = true
            eraseBar(&state)
            guard style.isJSON else { return nil }
            let elapsed = (ContinuousClock.now - state.began).components
            return text(
                "summary",
                JSONObject(
                    [
                        "results": state.resultCount, "failures": state.failures.values.reduce(0, +),
                        "failure_codes": Reporter.counts(state.failures),
                        "elapsed_ms": elapsed.seconds * 1000 + elapsed.attoseconds / 1_000_000_000_000_000,
                    ], state.summary, ["code": status.rawValue]))
        }
        if let summary { output.writeLine(summary) }
    }

    /// Adds members to the last JSON line.
    func addToSummary(_ members: JSONObject) {
        state.withLock { $0.summary += members }
    }

    /// Writes text to standard output verbatim, for example rows of a query or a key.
    func raw(_ text: String) {
        state.withLock {
            eraseBar(&$0)
            output.write(text)
        }
    }

    /// Writes bytes to standard output verbatim. They need not be text.
    func raw(bytes: [UInt8]) {
        state.withLock {
            eraseBar(&$0)
            output.write(bytes: bytes)
        }
    }
}

// MARK: - Writing

extension Reporter {
    private func object(_ type: String, _ details: JSONObject) {
        line(text(type, details), on: output)
    }

    private func text(_ type: String, _ details: JSONObject) -> String { line(type, details).text }

    private func line(_ type: String, _ details: JSONObject) -> JSONObject {
        JSONObject(["schema": 1, "type": type, "command": command], details)
    }

    private static func counts(_ failures: [ExitStatus: Int]) -> JSONObject {
        JSONObject(
            failures.sorted { $0.key.rawValue < $1.key.rawValue }.map {
                JSONValue.Member(String($0.key.rawValue), .int(Int64($0.value)))
            })
    }

    /// Writes a message as one line, so a name in it cannot look like another message.
    private func talk(_ start: String?, _ message: String) {
        line((start.map { $0 + " " } ?? "") + TextLayout.harmless(message), on: errors)
    }

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
