internal import ArgumentParser
internal import Foundation

/// A command that can write to an audit log.
protocol RecordingOperation: Operation {
    var audit: AuditOptions { get }
}

extension RecordingOperation {
    /// Checks the log. If no record can be added to it, throws or continues without a log, depending on the
    /// options.
    func trail(_ session: Session) throws -> AuditTrail {
        var log: AuditLog?
        if let path = audit.path {
            let candidate = AuditLog(
                path: path, seal: try audit.secret.seal(session.keys),
                interruption: session.interruption)
            do throws(Failure) {
                try candidate.checkIsWritable()
                log = candidate
            } catch {
                if audit.auditRequired { throw error }
                session.reporter.warning(error.message)
            }
        }
        return AuditTrail(
            log: log, isRequired: audit.auditRequired, command: Self.title,
            site: try audit.site.secret(session.keys), reporter: session.reporter,
            interruption: session.interruption)
    }
}

/// A command that records its work on files.
protocol RecordedOperation: RecordingOperation {
    /// The files, as the user named them.
    var names: [String] { get }

    /// Runs the command with its audit trail. See ``Operation/run(in:)``.
    func run(in session: Session, _ trail: AuditTrail) throws -> ExitStatus
}

/// A command that works on one file.
protocol FileOperation: RecordedOperation {
    var file: String { get }
}

extension FileOperation {
    var subject: String? { file }
    var names: [String] { [file] }
}

/// A command that reads its files, each on its own: one that fails does not stop the others.
protocol EachFileOperation: Operation {
    var files: [String] { get }
}

/// A command that supports a dry run.
protocol ChangingOperation: RecordedOperation {
    var dryRun: Bool { get }
}

extension RecordedOperation {
    func run(in session: Session) throws -> ExitStatus {
        let intent: JSONObject? = (self as? any ChangingOperation).map { ["dry_run": $0.dryRun] }
        session.reporter.start(["files": names], intent ?? [:])
        try names.forEach(FileNames.checkIsNoMemory)
        return try run(in: session, trail(session))
    }
}

/// A command with the common options and reporting.
protocol Operation: ParsableCommand {
    var output: OutputOptions { get }

    /// The words of the command, which name it in the audit log and in JSON.
    static var title: String { get }

    /// The file that error messages name if they do not know which file they are about.
    var subject: String? { get }

    /// True if the command fails if its defaults cannot be used.
    var readsDefaults: Bool { get }

    /// The input that the command reads from the standard input, capitalized, as in "The rows". No secret can
    /// come from there then. Nil if there is none.
    var inputUse: String? { get }

    /// Runs the command. A failure that is reported rather than thrown shows in the returned status.
    func run(in session: Session) throws -> ExitStatus
}

extension Operation {
    static var title: String {
        let words = configuration.usage.map(CommandConfiguration.words(in:)) ?? []
        return words.isEmpty ? configuration.commandName ?? "" : words.joined(separator: " ")
    }

    var subject: String? { nil }
    var readsDefaults: Bool { true }
    var inputUse: String? { nil }

    func perform() -> ExitStatus { perform(Reporter(command: Self.title, style: OutputStyle(output))) }

    /// Runs the command and reports the result, including the last line of JSON.
    func perform(_ reporter: Reporter) -> ExitStatus {
        Interruption.shared.setFarewell { status in
            reporter.failure(Interruption.shared.failure(status))
            reporter.summary(status)
        }
        let session = Session(
            reporter: reporter, interruption: .shared, lockTimeout: output.lockTimeout,
            keyTimeout: output.keyTimeout, inputUse: inputUse)
        var status: ExitStatus
        do {
            try failForTests()
            if readsDefaults { _ = try Defaults.read.get() }
            status = try run(in: session)
        } catch {
            let place = place(of: session.failure(error))
            let failure = session.failure(error, on: place)
            let isNamed = place.map { place in
                failure.message.contains("'\(place)'") && !failure.message.hasPrefix("\(place): ")
            }
            reporter.failure(failure, path: place, isNamed: isNamed ?? false)
            status = failure.status
        }
        do throws(Failure) {
            try (self as? any MeasuredOperation)?.writeMetrics(status, session)
        } catch {
            reporter.failure(error)
            // The status of the work itself says more.
            if status == .done { status = error.status }
        }
        // If a command ends with this status, it has reported the lost output itself.
        if let lost = reporter.outputFailure, status != lost.status {
            reporter.failure(lost)
            if status == .done { status = lost.status }
        }
        reporter.summary(status)
        return status
    }

    /// Throws if a test asks the tool itself to fail, with `COFFER_FAIL_POINT=tool`: no known input causes
    /// that. Does nothing in release builds.
    private func failForTests() throws {
        #if DEBUG
        if ProcessInfo.processInfo.environment["COFFER_FAIL_POINT"] == "tool" { throw Inconsistency() }
        #endif
    }

    /// Returns the file that a failure is about.
    private func place(of failure: Failure) -> String? {
        guard failure.status != .usage,
            !["interrupted", "environment", "configuration"].contains(failure.reason)
        else { return nil }
        let names = (self as? any RecordedOperation)?.names ?? []
        guard let path = failure.path else { return subject }
        // The library may name the file by its absolute path.
        if let name = names.first(where: { $0 == path }) { return name }
        let (place, folder) = (FileNames.canonical(path), FileNames.canonical(FileNames.folder(of: path)))
        let isInNamedFolder = names.contains { FileNames.canonical($0) == folder }
        return names.first { FileNames.canonical($0) == place } ?? (isInNamedFolder ? path : subject)
    }
}

#if DEBUG
private struct Inconsistency: Error {}
#endif
