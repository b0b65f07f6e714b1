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
    private let done: Set<Subject>
    /// The work that an earlier run began and whose end it did not record.
    private let begun: Set<Subject>

    /// The code of work that has begun.
    static let begun: Int32 = -1

    /// - Parameter continues: true to resume from the state of an earlier run.
    init(path: String, command: String, continues: Bool, of manifest: Manifest) throws(Failure) {
        self.path = path
        if !continues, NewFile.exists(path) {
            // Another file must not be removed.
            _ = try BatchState.entries(of: BatchState.openLocked(path), path, manifest)
            throw Failure(
                .outputExists, "state_exists",
                "An earlier run of this batch did not complete; its state is '\(path)'. Give --continue, or "
                    + "remove the state to start over."
            )
        }
        let old = try BatchState.openLocked(path)
        let entries = try BatchState.entries(of: old, path, manifest)
        let ofCommand = entries.filter { $0.command == command }
        done = Set(ofCommand.filter(\.isDone).map(\.subject))
        begun = Set(ofCommand.filter { $0.code == BatchState.begun }.map(\.subject))
        // A hash, because the name of the state may be as long as a name can be.
        let name = try BatchState.hash(FileNames.name(of: path))
        let temporary = "\(FileNames.folder(of: path))/.coffer-state-\(name)"
        do throws(Errno) {
            // Keeps the valid lines, without a partial line that a crash left: its work may be incomplete and
            // is done again.
            file = Mutex(try BatchState.replace(path, at: temporary, by: entries.map(\.text)))
        } catch {
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

    /// The beginnings of all lines. In the first schema, the identifier of a line depends on the path of the
    /// manifest as it was typed.
    private static let starts = [1, 2].map { Array("{\"schema\":\($0),\"command\":\"batch ".utf8) }

    /// The work on one line of a manifest.
    private struct Subject: Hashable {
        let command: String
        /// The hash of the line of the manifest, without the parts that depend on the command line.
        var line: String
        let work: String
    }

    private struct Entry {
        var subject: Subject
        let path: String
        let code: Int32
        /// The unchanged line of the file.
        var text: String

        var command: String { subject.command }
        var isDone: Bool { code == 0 }

        init(_ subject: Subject, path: String, code: Int32) {
            self.subject = subject
            self.path = path
            self.code = code
            text =
                JSONObject([
                    "schema": 2, "command": subject.command, "line": subject.line, "work": subject.work,
                    "path": path, "code": code,
                ]).text
        }

        /// Parses a line. Returns nil unless this tool has written it.
        init?(_ line: [UInt8]) {
            guard starts.contains(where: { line.starts(with: $0) }),
                let object = try? JSONSerialization.jsonObject(with: Data(line)) as? [String: Any],
                let command = object["command"] as? String, let path = object["path"] as? String,
                let code = (object["code"] as? Int).flatMap({ Int32(exactly: $0) }),
                // The first versions wrote no hash of the line.
                let hash = object["line"] as? String ?? object["id"] as? String
            else { return nil }
            subject = Subject(command: command, line: hash, work: object["work"] as? String ?? "")
            (self.path, self.code) = (path, code)
            text = String(decoding: line, as: UTF8.self)
        }

        /// Returns the entry as the present schema has it.
        func renamed(_ line: String) -> Entry {
            var subject = subject
            subject.line = line
            return Entry(subject, path: path, code: code)
        }
    }

    /// Returns the last entry of each work in the order of the file, with the present identifiers of lines.
    ///
    /// - Throws: ``Failure`` if the file is not a state, or the state of another manifest.
    private static func entries(of file: borrowing Descriptor, _ path: String, _ manifest: Manifest)
        throws(Failure) -> [Entry]
    {
        let found: [Entry]?
        do throws(Errno) { found = try lines(of: file) } catch {
            throw Failure(error, "The state '\(path)' cannot be read")
        }
        guard var entries = found else { throw isForeign(path) }
        let lines = manifest.lines
        if entries.contains(where: { !lines.contains($0.subject.line) }) {
            let names = try manifest.linesByFirstSchema()
            entries = entries.map { entry in
                lines.contains(entry.subject.line)
                    ? entry : names[entry.subject.line].map(entry.renamed) ?? entry
            }
        }
        guard entries.isEmpty || entries.contains(where: { lines.contains($0.subject.line) }) else {
            throw isOfAnotherManifest(path)
        }
        let last = Dictionary(entries.enumerated().map { ($1.subject, $0) }) { $1 }
        return last.values.sorted().map { entries[$0] }
    }

    private static func isOfAnotherManifest(_ path: String) -> Failure {
        Failure(
            .outputExists, "state_of_another_manifest",
            "No line of the state '\(path)' fits the manifest, so it cannot tell what is done. It belongs to "
                + "another manifest, or all lines have changed since. Give the manifest of that run, or "
                + "remove the state to process all files.")
    }

    /// Returns all entries, or nil if the file is not a state file.
    private static func lines(of file: borrowing Descriptor) throws(Errno) -> [Entry]? {
        var entries: [Entry] = []
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
            if !line.isTerminated,
                starts.contains(where: {
                    line.bytes.prefix($0.count).elementsEqual($0.prefix(line.bytes.count))
                })
            {
                return entries
            }
            guard let entry = Entry(line.bytes) else { return nil }
            entries.append(entry)
        }
    }

    /// Replaces the file with a new one in one step, and locks the new file before it gets the name.
    ///
    /// - Parameter temporary: the first name of the new file. The lock on the old state keeps other runs away
    ///   from this name: only a killed run can have left it.
    private static func replace(_ path: String, at temporary: String, by lines: [String]) throws(Errno)
        -> Descriptor
    {
        unsafe unlink(temporary)
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

    /// Returns the latest exit codes of the last batch, by the identifiers of the lines of its manifest.
    /// Lines that have changed since then count as new. Results of other commands, or of other statements,
    /// are left out.
    ///
    /// - Returns: nil if there is no state.
    static func codes(in path: String, of manifest: Manifest) throws(Failure) -> [String: Int32]? {
        guard NewFile.exists(path) else { return nil }
        let file = try OwnFile.open(
            path, O_RDONLY, name: "The state '\(path)'", action: "cannot be used", reason: "state")
        let entries = try entries(of: file, path, manifest)
        guard let last = entries.last?.subject else { return [:] }
        let same = entries.filter { $0.command == last.command && $0.subject.work == last.work }
        return Dictionary(same.map { ($0.subject.line, $0.code) }) { $1 }
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

    /// Returns the identifier of a line of a manifest, with the sources of keys that it names. The sources of
    /// the command line are not part of it: they are typed in many ways, and may supply other keys by now.
    /// The run detects that from the files.
    static func id(_ item: Manifest.Item) throws(Failure) -> String {
        let cipher = item.cipher.map { "\($0.pageSize) \($0.kdfIterations) \($0.kdfAlgorithm)" } ?? ""
        let keys = [item.key, item.newKey].map {
            $0.map { "\($0.source.identity) \($0.use.identity)" } ?? ""
        }
        let previous = item.previousKeys.map { ["previous " + $0.identity] } ?? []
        return try hash(([item.location] + keys + [cipher] + previous).joined(separator: "\0"))
    }

    private static func hash(_ text: String) throws(Failure) -> String {
        try String(AuditSeal.plain.hash(Array(text.utf8)[...]).prefix(32))
    }

    private static func subject(_ item: Manifest.Item, _ command: String, _ work: String) throws(Failure)
        -> Subject
    {
        Subject(command: command, line: item.line, work: try hash(work))
    }

    /// Returns true if an earlier run recorded this work as done. The record is only a claim.
    ///
    /// - Parameter works: the texts that distinguish this work from other work of the same command.
    func isDone(_ item: Manifest.Item, command: String, works: [String]) throws(Failure) -> Bool {
        for work in works where try done.contains(BatchState.subject(item, command, work)) { return true }
        return false
    }

    /// Notes the beginning of work that must not be done twice.
    ///
    /// - Parameter repeats: true to do work that an earlier run began, and may have done.
    /// - Throws: otherwise, a failure if an earlier run noted it, and was killed before it noted the end.
    func begin(_ item: Manifest.Item, command: String, work: String, repeats: Bool) throws(Failure) {
        let subject = try BatchState.subject(item, command, work)
        guard repeats || !begun.contains(subject) else {
            throw Failure(
                .outputExists, "perhaps_done",
                "'\(item.location)': an earlier run ended in the middle of its work, and may have made the "
                    + "change. Look at the file. If the change is missing, give --repeat-unfinished, which "
                    + "makes it. If it is there, remove the file from the manifest."
            ).after(.some)
        }
        try note(item, command: command, work: work, code: BatchState.begun)
    }

    func note(_ item: Manifest.Item, command: String, work: String, code: Int32) throws(Failure) {
        let entry = Entry(
            try BatchState.subject(item, command, work),
            path: HiddenKeys.hiding(inName: item.path, at: item.location), code: code)
        try Failure.explaining("The state '\(self.path)' cannot be written") { () throws(Errno) in
            try file.withLock { file throws(Errno) in
                let size = try file.status().size
                do throws(Errno) {
                    try file.write(entry.text + "\n")
                } catch {
                    // On a full disk, a part of the line may have been written. The next line must not be
                    // appended to it.
                    _ = try? systemCall("ftruncate") { ftruncate(file.number, off_t(size)) }
                    throw error
                }
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
