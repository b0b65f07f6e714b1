internal import Foundation
internal import Glibc

/// Records what a command does to files: the begin before, and the end with its result after.
struct AuditTrail: Sendable {
    let log: AuditLog?
    let isRequired: Bool
    let command: String
    let session: Session

    /// Runs work on a file between its two records.
    ///
    /// - Parameter body: returns whether the file was changed. It may record the end itself.
    func record(_ path: String, _ body: (AuditEntry) throws -> Bool) throws {
        let entry = AuditEntry(trail: self, path: path)
        try entry.end(isChanged: run(entry) { try body(entry) })
    }

    /// Runs work of the library on a file between its two records, the second of which has what was proved.
    ///
    /// - Parameter body: calls the function that it is given before the work counts as completed, so that a crash in between is not lost to the log.
    func recordProof<Result: AuditedResult>(
        _ path: String, _ body: (_ audit: @escaping @Sendable (Result) throws -> Void) throws -> Result
    ) throws -> Result {
        let entry = AuditEntry(trail: self, path: path)
        let audit: @Sendable (Result) throws -> Void = { try entry.end(isChanged: $0.isChanged, $0.evidence) }
        return try run(entry) {
            let result = try body(audit)
            try audit(result)
            return result
        }
    }

    private func run<Result>(_ entry: AuditEntry, _ body: () throws -> Result) throws -> Result {
        try entry.begin()
        do {
            return try body()
        } catch {
            // The failure itself matters more than that it could not be recorded.
            entry.failed(session.failure(error))
            throw error
        }
    }
}

/// What a command has done and proved, as the log has it.
protocol AuditedResult: Sendable {
    var isChanged: Bool { get }
    var evidence: [JSONValue.Member] { get }
}

/// The records of what one command does to one file.
final class AuditEntry: Sendable {
    private let trail: AuditTrail
    private let path: String
    private let hasEnded = Latch()

    init(trail: AuditTrail, path: String) {
        self.trail = trail
        self.path = URL(fileURLWithPath: path).standardizedFileURL.path
    }

    func begin() throws(Failure) { try write([.init("event", "begin")]) }

    /// Records success, once.
    func end(isChanged: Bool, _ details: [JSONValue.Member] = []) throws(Failure) {
        guard !hasEnded.isSet else { return }
        try write([.init("event", "end"), .init("code", 0), .init("changed", .bool(isChanged))] + details)
        hasEnded.set()
    }

    func failed(_ failure: Failure) {
        guard !hasEnded.isSet else { return }
        try? write([
            .init("event", "end"), .init("code", .count(failure.status.rawValue)), .init("reason", .string(failure.reason)),
        ])
        hasEnded.set()
    }

    private func write(_ details: [JSONValue.Member]) throws(Failure) {
        guard let log = trail.log else { return }
        let user = geteuid()
        let members: [JSONValue.Member] = [
            .init("time", .string(Date().formatted(.iso8601))), .init("command", .string(trail.command)), .init("path", .string(path)),
            .init("pid", .count(getpid())), .init("uid", .count(user)),
        ]
        do throws(Failure) {
            try log.append(members + details)
        } catch {
            if trail.isRequired { throw error }
            trail.session.reporter.warning(error.message)
        }
    }
}
