internal import Coffer
internal import Foundation
internal import Glibc
internal import Synchronization

/// What a batch has done so far, in a file beside its manifest: JSON lines, each on the disk before the work
/// goes on.
///
/// A run that was killed goes on with `--continue`: what is noted as done is looked at, and not done again. A
/// line of the manifest that was changed since counts as new. Nothing that depends on a key is in it, as that
/// would let others guess passphrases: whether the keys are still the same is found out from the file.
///
/// The file is believed only if it is this user's and has no other name. A run that goes on replaces it by a
/// new one, and then adds lines.
final class BatchState: Sendable {
    let path: String
    private let file: Mutex<Descriptor>
    private let done: Set<String>

    /// - Parameter continues: whether a state of an earlier run is gone on with.
    init(path: String, command: String, continues: Bool) throws(Failure) {
        self.path = path
        if !continues, NewFile.exists(path) {
            throw Failure(
                .outputExists, "state_exists",
                "An earlier run of this batch did not complete; its state is '\(path)'. Give --continue, or "
                    + "remove the state to start anew."
            )
        }
        let old = try BatchState.openLocked(path)
        do throws(SystemError) {
            guard let lines = try BatchState.lines(of: old) else { throw SystemError(code: ENOEXEC) }
            done = Set(lines.values.filter { $0.isDone && $0.command == command }.map(\.id))
            // The lines that count, without the rest of one that a crash has left: work that may not be done,
            // and is done again.
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
            "'\(path)' is not the state of a batch, and is left as it is. Give --state another name.")
    }

    // MARK: The file

    private static func openLocked(_ path: String) throws(Failure) -> Descriptor {
        while true {
            let file = try OwnFile.open(
                path, O_RDWR | O_CREAT, name: "The state '\(path)'", action: "cannot be used", reason: "state"
            )
            guard Retry.onInterrupt({ flock(file.number, LOCK_EX | LOCK_NB) }) == 0 else {
                throw Failure(.busy, "busy", "Another run works on this batch: '\(path)' is locked.")
            }
            // Another run may have replaced it in between: then its lock is on the new file.
            if let status = try? file.status(), FileIdentity(path: path) == FileIdentity(status) {
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
        /// The line of the manifest, and the work, as far as they can be known without the command line.
        let line: String?
        let work: String?
        let code: Int

        var isDone: Bool { code == 0 }
    }

    /// The last line for each file and command; nil when the file is something else.
    private static func lines(of file: borrowing Descriptor) throws(SystemError) -> [String: Entry]? {
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
            // The rest of one that a crash has left; it is done again.
            let start = Array(start.utf8)
            if !line.isTerminated,
                line.bytes.prefix(start.count).elementsEqual(start.prefix(line.bytes.count))
            {
                return entries
            }
            // Lines of ours begin so. Others may be JSON too, and are not ours.
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

    /// Puts a new file in the place of the old one, in one step, and locks it before it has the name.
    private static func replace(_ path: String, by lines: [String]) throws(SystemError) -> Descriptor {
        // A name that nothing has, so that nothing has to be removed.
        let number = String(UInt64.random(in: 0 ... .max), radix: 16)
        let temporary = "\(FileNames.folder(of: path))/.coffer-state-\(number)"
        let file = try Descriptor(
            opening: temporary, O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW, mode: 0o600)
        do throws(SystemError) {
            guard flock(file.number, LOCK_EX | LOCK_NB) == 0 else { throw SystemError.last }
            try file.write(lines.map { $0 + "\n" }.joined())
            try file.synchronize()
            guard unsafe rename(temporary, path) == 0 else { throw SystemError.last }
            try Descriptor.synchronizeFolder(of: path)
        } catch {
            unsafe unlink(temporary)
            throw error
        }
        return file
    }

    // MARK: Questions from outside

    /// What the last batch has done so far, by the ids of the lines of its manifest: the exit code of the
    /// last time. A line that was changed since is new, and what was done by another command, or with other
    /// statements, does not count.
    ///
    /// - Returns: nil where there is no state.
    static func codes(in path: String) throws(Failure) -> [String: Int]? {
        guard NewFile.exists(path) else { return nil }
        let file = try OwnFile.open(
            path, O_RDONLY, name: "The state '\(path)'", action: "cannot be used", reason: "state")
        do throws(SystemError) {
            guard let entries = try lines(of: file)?.values.sorted(by: { $0.number < $1.number }) else {
                throw SystemError(code: ENOEXEC)
            }
            guard let last = entries.last else { return [:] }
            let same = entries.filter { $0.command == last.command && $0.work == last.work }
            return Dictionary(same.compactMap { entry in entry.line.map { ($0, entry.code) } }) { $1 }
        } catch {
            throw error.code == ENOEXEC
                ? isForeign(path) : Failure(error, "The state '\(path)' cannot be read")
        }
    }

    /// Removes a state, unless a batch works with it.
    static func remove(_ path: String) throws(Failure) {
        guard NewFile.exists(path) else { return }
        let file = try openLocked(path)
        guard let status = try? file.status(), FileIdentity(path: path) == FileIdentity(status) else {
            return
        }
        unsafe unlink(path)
    }

    // MARK: The work

    /// Names what is asked for, sources of keys included, whether the manifest or the command line gives
    /// them. That it is done is no more than a claim: the same sources may have other keys by now.
    ///
    /// - Parameter work: what distinguishes this work from other work of the same command.
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

    /// Whether an earlier run says that it has done it.
    func isDone(_ id: String) -> Bool { done.contains(id) }

    func note(_ id: String, _ item: Manifest.Item, command: String, work: String, code: ExitStatus)
        throws(Failure)
    {
        let line = JSONValue.object([
            .init("schema", 1), .init("command", .string(command)), .init("id", .string(id)),
            .init("line", .string(item.line)),
            .init("work", .string(try BatchState.hash(work))), .init("path", .string(item.path)),
            .init("code", .count(code.rawValue)),
        ]).text
        do throws(SystemError) {
            try file.withLock { file throws(SystemError) in
                try file.write(line + "\n")
                try file.synchronize()
            }
        } catch {
            throw Failure(error, "The state '\(self.path)' cannot be written")
        }
    }

    /// Forgets the batch, once all of it is done.
    func remove() {
        // What another process has put in its place is not ours.
        guard let status = file.withLock({ try? $0.status() }),
            FileIdentity(path: path) == FileIdentity(status)
        else { return }
        unsafe unlink(path)
    }
}
