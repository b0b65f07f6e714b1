internal import ArgumentParser

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
        let session = Session(reporter: reporter, interruption: .shared, lockTimeout: output.lockTimeout, keyTimeout: output.keyTimeout)
        var status: ExitStatus
        do {
            try FailPoint.pass()
            status = try run(in: session)
        } catch {
            let failure = session.failure(error)
            reporter.failure(failure, path: place(of: failure))
            status = failure.status
        }
        if let lost = reporter.outputFailure, status == .done {
            reporter.failure(lost)
            status = lost.status
        }
        reporter.summary(status)
        return status
    }

    /// The file, unless the message has its name already or is not about it.
    private func place(of failure: Failure) -> String? {
        guard let subject, failure.status != .usage, failure.reason != "interrupted" else { return nil }
        return failure.message.hasPrefix("\(subject): ") || !failure.message.contains("'\(subject)'") ? subject : nil
    }
}
