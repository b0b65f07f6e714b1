internal import ArgumentParser
internal import Foundation

/// A command that may record what it does.
protocol RecordingOperation: Operation {
    var audit: AuditOptions { get }
}

/// A command that works on files, and records what it does to them.
protocol RecordedOperation: RecordingOperation {
    /// The files, as the user named them.
    var names: [String] { get }

    /// Does the work with its audit log at hand: see ``Operation/run(in:)``.
    func run(in session: Session, _ trail: AuditTrail) throws -> ExitStatus
}

/// One that can say what it would do, and do nothing.
protocol ChangingOperation: RecordedOperation {
    var dryRun: Bool { get }
}

extension RecordedOperation {
    func run(in session: Session) throws -> ExitStatus {
        let intent = (self as? any ChangingOperation).map { [JSONValue.Member("dry_run", .bool($0.dryRun))] }
        session.reporter.start([.init("files", .strings(names))] + (intent ?? []))
        return try run(in: session, audit.trail(session, command: Self.title))
    }
}

/// A command that does something, in the surroundings that all share.
protocol Operation: ParsableCommand {
    var output: OutputOptions { get }

    /// What the log and JSON call the command: its words.
    static var title: String { get }

    /// The one file that the command is about, to be named where it fails.
    var subject: String? { get }

    /// Does the work. A failure that is not thrown has been reported, and shows in the status.
    func run(in session: Session) throws -> ExitStatus
}

extension Operation {
    static var title: String { configuration.commandName ?? "" }

    var subject: String? { nil }

    func perform() -> ExitStatus { perform(Reporter(command: Self.title, style: OutputStyle(output))) }

    /// Does the work, and says what is to be said, the last line of JSON included.
    func perform(_ reporter: Reporter) -> ExitStatus {
        Interruption.shared.setFarewell { status in
            reporter.failure(Interruption.shared.failure(status))
            reporter.summary(status)
        }
        let session = Session(
            reporter: reporter, interruption: .shared, lockTimeout: output.lockTimeout,
            keyTimeout: output.keyTimeout)
        var status: ExitStatus
        do {
            try failForTests()
            status = try run(in: session)
        } catch {
            let failure = session.failure(error)
            reporter.failure(failure, path: place(of: failure))
            status = failure.status
        }
        do throws(Failure) {
            try (self as? any MeasuredOperation)?.writeMetrics(status, session)
        } catch {
            reporter.failure(error)
            // How the work itself ended says more.
            if status == .done { status = error.status }
        }
        if let lost = reporter.outputFailure, status == .done {
            reporter.failure(lost)
            status = lost.status
        }
        reporter.summary(status)
        return status
    }

    /// Fails where tests want the tool itself to fail, as no input is known to: `COFFER_FAIL_POINT=tool`.
    /// Does nothing in release builds.
    private func failForTests() throws {
        #if DEBUG
        if ProcessInfo.processInfo.environment["COFFER_FAIL_POINT"] == "tool" { throw Inconsistency() }
        #endif
    }

    /// The file, unless the message has its name already or is not about it.
    private func place(of failure: Failure) -> String? {
        guard let subject, failure.status != .usage, failure.reason != "interrupted" else { return nil }
        return failure.message.hasPrefix("\(subject): ") || !failure.message.contains("'\(subject)'")
            ? subject : nil
    }
}

#if DEBUG
private struct Inconsistency: Error {}
#endif
