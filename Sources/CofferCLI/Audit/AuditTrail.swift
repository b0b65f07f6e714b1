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
    let reporter: Reporter
    let interruption: Interruption

    /// Runs work on a file between its two records.
    ///
    /// - Parameters:
    ///   - keys: the keys that open the file before and after the work.
    ///   - body: returns true if the file was changed. It may record the end itself.
    func record(_ path: String, _ keys: KeyPassage = .unknown, _ body: (AuditEntry) throws -> Bool) throws {
        let entry = try AuditEntry(trail: self, path: path, keys: members(keys))
        let isChanged = try run(entry) { try body(entry) }
        try interruption.completing {
            do throws(Failure) {
                try entry.end(isChanged: isChanged)
            } catch {
                throw isChanged ? error.after(.all) : error
            }
        }
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
            var details = result.evidence
            if let kept = result.keptOldPath { details += ["kept_old": FileNames.canonical(kept)] }
            if let made = result.madePath.map(FileNames.canonical), made != entry.path, path != "-" {
                details += ["destination": made]
            }
            try entry.end(isChanged: result.isChanged, details)
        }
        return try run(entry) {
            let result = try body(audit)
            do {
                try audit(result)
            } catch let failure as Failure {
                // The work did not fail when it recorded its result itself.
                throw result.isChanged ? failure.after(.all) : failure
            }
            return result
        }
    }

    /// Returns the members of a record that identify keys. `site_key_id` identifies the key that opens the
    /// file after the work, and is null for plaintext.
    private func members(_ keys: KeyPassage) throws(Failure) -> JSONObject {
        guard let site else { return [:] }
        func id(_ key: Key?) throws(Failure) -> String? {
            guard let key else { return nil }
            return try site.id(of: key)
        }
        switch keys {
        case .unknown: return [:]
        case .kept(let key): return ["site_key_id": try id(key)]
        case .changed(let old, let new):
            return ["site_key_id_before": try id(old), "site_key_id": try id(new)]
        }
    }

    private func run<Result>(_ entry: AuditEntry, _ body: () throws -> Result) throws -> Result {
        try entry.begin()
        do {
            return try body()
        } catch {
            // The original failure matters more than a failure to record it.
            entry.failed(interruption.failure(error))
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
    var evidence: JSONObject { get }
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
    private let keys: JSONObject
    private let hasEnded = Latch()

    init(trail: AuditTrail, path: String, keys: JSONObject) {
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

    func begin() throws(Failure) { try write(["event": "begin"]) }

    /// Records success, once.
    func end(isChanged: Bool, _ details: JSONObject = [:]) throws(Failure) {
        guard !hasEnded.isSet else { return }
        try write(JSONObject(["event": "end", "code": 0, "changed": isChanged], details))
        hasEnded.set()
    }

    func failed(_ failure: Failure) {
        guard !hasEnded.isSet else { return }
        try? write(["event": "end", "code": failure.status.rawValue, "reason": failure.reason])
        hasEnded.set()
    }

    private func write(_ details: JSONObject) throws(Failure) {
        guard let log = trail.log else { return }
        let members: JSONObject = [
            "time": Date().formatted(.iso8601), "command": trail.command, "path": path,
            "host": AuditEntry.host, "pid": getpid(), "uid": geteuid(),
        ]
        do throws(Failure) {
            try log.append(JSONObject(members, keys, details))
        } catch {
            if trail.isRequired { throw error }
            trail.reporter.warning(error.message)
        }
    }
}
