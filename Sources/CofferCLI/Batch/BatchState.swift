internal import Coffer
internal import Foundation
internal import Glibc
internal import Synchronization
internal import SystemCalls

/// The progress of a batch, in a JSON lines file next to its manifest. Each line is synced to disk before the
/// work continues.
///
/// With `--continue`, a later run resumes a batch that was killed: files recorded as done are checked, not
/// processed again. A line of the manifest that has changed since then counts as new. The file contains
/// nothing derived from a key, because that would help others guess passphrases. The run detects changed keys
/// from the files themselves.
///
/// The file is trusted only if it belongs to this user or to root and has no other name. A run that resumes
/// replaces it with a new file, and then appends lines.
final class BatchState: Sendable {
    let path: String
    private let file: Mutex<Descriptor>
    private let done: Set<String>

    /// - Parameter continues: true to resume from the state of an earlier run.
    init(path: String, command: String, continues: Bool) throws(Failure) {
        self.path = path
        if !continues, NewFile.exists(path) {
            throw Failure(
                .outputExists, "state_exists",
                "An earlier run of this batch did not complete; its state is '\(path)'. Give --continue, or "
                    + "remove the state to start over."
            )
        }
        let old = try BatchState.openLocked(path)
        do throws(Errno) {
            guard let lines = try BatchState.lines(of: old) else { throw Errno(ENOEXEC) }
            done = Set(lines.values.filter { $0.isDone && $0.command == command }.map(\.id))
            // Keeps the valid lines, without a partial line that a crash left: its work may be incomplete and
            // is done again.
            file = Mutex(
                try BatchState.replace(path, by: lines.values.sorted { $0.number < $1.number }.map(\.text)))
        } catch {
            guard error.code != ENOEXEC else { throw BatchState.isForeign(path) }
            throw Failure(error, "The state '\(path)' cannot be used")
        }
    }

    private static func isForeign(_ path: String) -> Failure {
        Failure(
            .outputExists, "state",
            "'\(path)' is not the state of a batch, and was not changed. Give --state another name.")
    }

    // MARK: The file

    private static func openLocked(_ path: String) throws(Failure) -> Descriptor {
        while true {
            let file = try OwnFile.open(
                path, O_RDWR | O_CREAT, name: "The state '\(path)'", action: "cannot be used", reason: "state"
            )
            guard (try? file.lock(LOCK_EX | LOCK_NB)) != nil else {
                throw Failure(.busy, "busy", "Another run is working on this batch: '\(path)' is locked.")
            }
            // Another run may have replaced the file in the meantime; its lock is then on the new file.
            if let status = try? file.status(), (try? FileStatus(path))?.identity == status.identity {
                return file
            }
        }
    }

    private static let start = #"{"schema":1,"command":"batch "#

    private struct Entry {
        let number: Int
        let text: String
        let command: String
        let id: String
        /// The hash of the line of the manifest, without the parts that depend on the command line.
        let line: String?
        let work: String?
        let code: Int

        var isDone: Bool { code == 0 }
    }

    /// Returns the last line for each file and command, or nil if the file is not a state file.
    private static func lines(of file: borrowing Descriptor) throws(Errno) -> [String: Entry]? {
        var entries: [String: Entry] = [:]
        var reader = LineReader(file.number, limit: Manifest.longestLine)
        while true {
            let line: LineReader.Line?
            do throws(LineReader.Problem) {
                line = try reader.next()
            } catch {
                if case .system(let error) = error { throw error }
                return nil
            }
            guard let line else { return entries }
            // A partial line, left by a crash. Its work is done again.
            let start = Array(start.utf8)
            if !line.isTerminated,
                line.bytes.prefix(start.count).elementsEqual(start.prefix(line.bytes.count))
            {
                return entries
            }
            // Every line that this tool writes begins like this. Other JSON is foreign.
            guard line.bytes.starts(with: start),
                let object = try? JSONSerialization.jsonObject(with: Data(line.bytes)) as? [String: Any],
                let command = object["command"] as? String, let id = object["id"] as? String,
                object["path"] is String, let code = object["code"] as? Int
            else { return nil }
            entries["\(command) \(id)"] = Entry(
                number: line.number, text: String(decoding: line.bytes, as: UTF8.self), command: command,
                id: id,
                line: object["line"] as? String, work: object["work"] as? String, code: code)
        }
    }

    /// Replaces the file with a new one in one step, and locks the new file before it gets the name.
    private static func replace(_ path: String, by lines: [String]) throws(Errno) -> Descriptor {
        // A random name that is not in use, so there is nothing to remove first.
        let number = String(UInt64.random(in: 0 ... .max), radix: 16)
        let temporary = "\(FileNames.folder(of: path))/.coffer-state-\(number)"
        let file = try Descriptor(
            opening: temporary, O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW, mode: 0o600)
        do throws(Errno) {
            try file.lock(LOCK_EX | LOCK_NB)
            try file.write(lines.map { $0 + "\n" }.joined())
            try file.synchronize()
            try systemCall("rename") { unsafe rename(temporary, path) }
            try Descriptor.synchronizeFolder(of: path)
        } catch {
            unsafe unlink(temporary)
            throw error
        }
        return file
    }

    // MARK: Questions from outside

    /// Returns the latest exit codes of the last batch, by the ids of the lines of its manifest. Lines that
    /// have changed since then count as new. Results of other commands, or of other statements, are left out.
    ///
    /// - Returns: nil if there is no state.
    static func codes(in path: String) throws(Failure) -> [String: Int]? {
        guard NewFile.exists(path) else { return nil }
        let file = try OwnFile.open(
            path, O_RDONLY, name: "The state '\(path)'", action: "cannot be used", reason: "state")
        do throws(Errno) {
            guard let entries = try lines(of: file)?.values.sorted(by: { $0.number < $1.number }) else {
                throw Errno(ENOEXEC)
            }
            guard let last = entries.last else { return [:] }
            let same = entries.filter { $0.command == last.command && $0.work == last.work }
            return Dictionary(same.compactMap { entry in entry.line.map { ($0, entry.code) } }) { $1 }
        } catch {
            throw error.code == ENOEXEC
                ? isForeign(path) : Failure(error, "The state '\(path)' cannot be read")
        }
    }

    /// Removes a state, unless a batch is using it.
    static func remove(_ path: String) throws(Failure) {
        guard NewFile.exists(path) else { return }
        let file = try openLocked(path)
        guard let status = try? file.status(), (try? FileStatus(path))?.identity == status.identity else {
            return
        }
        unsafe unlink(path)
    }

    // MARK: The work

    /// Returns an id for the requested work, including the sources of the keys, which the manifest or the
    /// command line gives. A record that this work is done is only a claim: the same sources may supply other
    /// keys by now.
    ///
    /// - Parameter work: distinguishes this work from other work of the same command.
    static func id(_ item: Manifest.Item, _ work: String = "") throws(Failure) -> String {
        let cipher = item.cipher.map { "\($0.pageSize) \($0.kdfIterations) \($0.kdfAlgorithm)" } ?? ""
        let keys = [item.key, item.newKey].map {
            $0.map { "\($0.source.identity) \($0.type.rawValue)" } ?? ""
        }
        let previous = item.previousKeys.map { ["previous " + $0.identity] } ?? []
        let text = ([item.location] + keys + [cipher] + previous + (work.isEmpty ? [] : [work])).joined(
            separator: "\0")
        return try hash(text)
    }

    private static func hash(_ text: String) throws(Failure) -> String {
        try String(AuditSeal.plain.hash(Array(text.utf8)[...]).prefix(32))
    }

    /// Returns true if an earlier run recorded this work as done.
    func isDone(_ id: String) -> Bool { done.contains(id) }

    func note(_ id: String, _ item: Manifest.Item, command: String, work: String, code: ExitStatus)
        throws(Failure)
    {
        let line = JSONObject([
            "schema": 1, "command": command, "id": id, "line": item.line, "work": try BatchState.hash(work),
            "path": item.path, "code": code.rawValue,
        ]).text
        try Failure.explaining("The state '\(self.path)' cannot be written") { () throws(Errno) in
            try file.withLock { file throws(Errno) in
                try file.write(line + "\n")
                try file.synchronize()
            }
        }
    }

    /// Removes the state once the whole batch is done.
    func remove() {
        // Leaves a file that another process has put in its place.
        guard let status = file.withLock({ try? $0.status() }),
            (try? FileStatus(path))?.identity == status.identity
        else { return }
        unsafe unlink(path)
    }
}
