internal import Coffer
internal import Foundation
internal import Glibc
internal import Synchronization

/// What a batch has done so far, in a file beside its manifest: JSON lines, each on the disk before the work goes on.
///
/// A run that was killed goes on with `--continue`: what is noted as done is not touched again. A line of the manifest that was changed since
/// counts as new.
final class BatchState: Sendable {
    let path: String
    private let file: Mutex<Descriptor>
    private let done: Set<String>

    /// - Parameter continues: whether a state of an earlier run is gone on with.
    init(path: String, command: String, continues: Bool) throws(Failure) {
        self.path = path
        let isThere = NewFile.exists(path)
        if isThere && !continues {
            throw Failure(
                .outputExists, "state_exists",
                "An earlier run of this batch did not complete; its state is '\(path)'. Give --continue, or remove the state to start anew."
            )
        }
        let descriptor = try BatchState.open(path)
        var done: Set<String> = []
        do throws(SystemError) {
            guard Retry.onInterrupt({ flock(descriptor.number, LOCK_EX | LOCK_NB) }) == 0 else {
                throw SystemError(code: EWOULDBLOCK)
            }
            let text = String(decoding: try descriptor.read(count: Int(try descriptor.status().st_size)), as: UTF8.self)
            // A line that was not written to its end is work that may not be done, and is done again.
            if !text.isEmpty && !text.hasSuffix("\n") { try descriptor.write("\n") }
            for line in text.split(separator: "\n") {
                guard let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any],
                    object["command"] as? String == command, let id = object["id"] as? String
                else { continue }
                if object["code"] as? Int == 0 { done.insert(id) } else { done.remove(id) }
            }
        } catch {
            if error.code == EWOULDBLOCK {
                throw Failure(.busy, "busy", "Another run works on this batch: '\(path)' is locked.")
            }
            throw Failure(error, "The state '\(path)' cannot be used")
        }
        self.done = done
        file = Mutex(descriptor)
    }

    private static func open(_ path: String) throws(Failure) -> Descriptor {
        do throws(SystemError) {
            return try Descriptor(opening: path, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW, mode: 0o600)
        } catch {
            throw Failure(error, "The state '\(path)' cannot be made", missing: .outputExists, denied: .outputExists)
        }
    }

    /// Names what is asked for, sources of keys included, whether the manifest or the command line gives them: the same later is the same work.
    static func id(_ item: Manifest.Item) throws(Failure) -> String {
        let cipher = item.cipher.map { "\($0.pageSize) \($0.kdfIterations) \($0.kdfAlgorithm)" } ?? ""
        let keys = [item.key, item.newKey].map { $0.map { "\($0.source.identity) \($0.type.rawValue)" } ?? "" }
        return try String(AuditRecord.digest(([item.location] + keys + [cipher]).joined(separator: "\n")).prefix(32))
    }

    func isDone(_ id: String) -> Bool { done.contains(id) }

    func note(_ id: String, path: String, command: String, code: ExitStatus) throws(Failure) {
        let line = JSONValue.object([
            .init("schema", 1), .init("command", .string(command)), .init("id", .string(id)), .init("path", .string(path)),
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
    func remove() { unsafe unlink(path) }
}
