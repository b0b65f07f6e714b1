internal import Foundation
internal import Glibc

/// Records what a command does to files: the begin before, and the end with its result after.
struct AuditTrail: Sendable {
    let log: AuditLog?
    let isRequired: Bool
    let command: String
    /// Names keys in the records; nil where they have no names there that are the same in all files.
    let site: SiteSecret?
    let session: Session

    /// Runs work on a file between its two records.
    ///
    /// - Parameters:
    ///   - keys: the keys that open the file before and after.
    ///   - body: returns whether the file was changed. It may record the end itself.
    func record(_ path: String, _ keys: KeyPassage = .unknown, _ body: (AuditEntry) throws -> Bool) throws {
        let entry = try AuditEntry(trail: self, path: path, keys: members(keys))
        try entry.end(isChanged: run(entry) { try body(entry) })
    }

    /// Runs work of the library on a file between its two records, the second of which has what was proved.
    ///
    /// - Parameters:
    ///   - keys: the keys that open the file before and after.
    ///   - body: calls the function that it is given before the work counts as completed, so that a crash in
    ///     between is not lost to the log.
    func recordProof<Result: AuditedResult>(
        _ path: String, _ keys: KeyPassage = .unknown,
        _ body: (_ audit: @escaping @Sendable (Result) throws -> Void) throws -> Result
    ) throws -> Result {
        let entry = try AuditEntry(trail: self, path: path, keys: members(keys))
        let audit: @Sendable (Result) throws -> Void = { result in
            let kept = result.keptOldPath.map {
                [JSONValue.Member("kept_old", .string(AuditEntry.absolute($0)))]
            }
            let made = result.madePath.map(AuditEntry.absolute).flatMap { made in
                made == entry.path || path == "-" ? nil : [JSONValue.Member("destination", .string(made))]
            }
            try entry.end(isChanged: result.isChanged, result.evidence + (kept ?? []) + (made ?? []))
        }
        return try run(entry) {
            let result = try body(audit)
            try audit(result)
            return result
        }
    }

    /// What the records say about keys: `site_key_id` is of the one that opens the file once the work is
    /// done, and null for plaintext.
    private func members(_ keys: KeyPassage) throws(Failure) -> [JSONValue.Member] {
        guard let site else { return [] }
        func id(_ key: Key?) throws(Failure) -> JSONValue {
            guard let key else { return .null }
            return .string(try site.id(of: key))
        }
        switch keys {
        case .unknown: return []
        case .kept(let key): return [.init("site_key_id", try id(key))]
        case .changed(let old, let new):
            return [.init("site_key_id_before", try id(old)), .init("site_key_id", try id(new))]
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
    /// Where the old file is, with its old key.
    var keptOldPath: String? { get }
    /// The file that was made, where it has got its name on the way.
    var madePath: String? { get }
    var evidence: [JSONValue.Member] { get }
}

/// Which keys open a file before and after a command has done its work.
enum KeyPassage: Sendable {
    /// The command does not know, or the file goes.
    case unknown
    case kept(Key)
    /// Nil stands for plaintext, and for a file that was not there.
    case changed(from: Key?, to: Key?)
}

/// The records of what one command does to one file.
final class AuditEntry: Sendable {
    private let trail: AuditTrail
    let path: String
    private let keys: [JSONValue.Member]
    private let hasEnded = Latch()

    init(trail: AuditTrail, path: String, keys: [JSONValue.Member]) {
        self.trail = trail
        self.keys = keys
        self.path = AuditEntry.absolute(path)
    }

    static func absolute(_ path: String) -> String { URL(fileURLWithPath: path).standardizedFileURL.path }

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
            .init("event", "end"), .init("code", .count(failure.status.rawValue)),
            .init("reason", .string(failure.reason)),
        ])
        hasEnded.set()
    }

    private func write(_ details: [JSONValue.Member]) throws(Failure) {
        guard let log = trail.log else { return }
        let user = geteuid()
        let members: [JSONValue.Member] = [
            .init("time", .string(Date().formatted(.iso8601))), .init("command", .string(trail.command)),
            .init("path", .string(path)),
            .init("pid", .count(getpid())), .init("uid", .count(user)),
        ]
        do throws(Failure) {
            try log.append(members + keys + details)
        } catch {
            if trail.isRequired { throw error }
            trail.session.reporter.warning(error.message)
        }
    }
}
