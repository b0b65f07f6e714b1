internal import Foundation
internal import Glibc

/// Records the work of a command on files: one record before the work begins, and one with the result at the
/// end.
struct AuditTrail: Sendable {
    let log: AuditLog?
    let isRequired: Bool
    let command: String
    /// Identifies keys in the records, or nil if keys have no identifiers that are stable across files.
    let site: SiteSecret?
    let session: Session

    /// Runs work on a file between its two records.
    ///
    /// - Parameters:
    ///   - keys: the keys that open the file before and after the work.
    ///   - body: returns true if the file was changed. It may record the end itself.
    func record(_ path: String, _ keys: KeyPassage = .unknown, _ body: (AuditEntry) throws -> Bool) throws {
        let entry = try AuditEntry(trail: self, path: path, keys: members(keys))
        try entry.end(isChanged: run(entry) { try body(entry) })
    }

    /// Runs work of the library on a file between its two records. The second record contains the evidence.
    ///
    /// - Parameters:
    ///   - keys: the keys that open the file before and after the work.
    ///   - body: calls the function that it is passed before the work counts as completed, so the log does
    ///     not lose the record if a crash follows.
    func recordProof<Result: AuditedResult>(
        _ path: String, _ keys: KeyPassage = .unknown,
        _ body: (_ audit: @escaping @Sendable (Result) throws -> Void) throws -> Result
    ) throws -> Result {
        let entry = try AuditEntry(trail: self, path: path, keys: members(keys))
        let audit: @Sendable (Result) throws -> Void = { result in
            let kept = result.keptOldPath.map {
                [JSONValue.Member("kept_old", .string(FileNames.canonical($0)))]
            }
            let made = result.madePath.map(FileNames.canonical).flatMap { made in
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

    /// Returns the members of a record that identify keys. `site_key_id` identifies the key that opens the
    /// file after the work, and is null for plaintext.
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
            // The original failure matters more than a failure to record it.
            entry.failed(session.failure(error))
            throw error
        }
    }
}

/// The proved result of a command, as the log records it.
protocol AuditedResult: Sendable {
    var isChanged: Bool { get }
    /// The path of the old file, which still has its old key.
    var keptOldPath: String? { get }
    /// The path of the new file, if the library chose its name.
    var madePath: String? { get }
    var evidence: [JSONValue.Member] { get }
}

/// The keys that open a file before and after a command has done its work.
enum KeyPassage: Sendable {
    /// The command does not know the keys, or removes the file.
    case unknown
    case kept(Key)
    /// Nil means plaintext, or a file that did not exist.
    case changed(from: Key?, to: Key?)
}

/// The records of one command's work on one file.
final class AuditEntry: Sendable {
    private let trail: AuditTrail
    let path: String
    private let keys: [JSONValue.Member]
    private let hasEnded = Latch()

    init(trail: AuditTrail, path: String, keys: [JSONValue.Member]) {
        self.trail = trail
        self.keys = keys
        self.path = FileNames.canonical(path)
    }

    /// The name of this machine: shards of a fleet run on several.
    private static let host: String? = {
        var name = [CChar](repeating: 0, count: 256)
        guard unsafe gethostname(&name, name.count - 1) == 0 else { return nil }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }()

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
            .init("host", .optional(AuditEntry.host)), .init("pid", .count(getpid())),
            .init("uid", .count(user)),
        ]
        do throws(Failure) {
            try log.append(members + keys + details)
        } catch {
            if trail.isRequired { throw error }
            trail.session.reporter.warning(error.message)
        }
    }
}
