internal import Glibc
internal import Synchronization

/// A file to which lines are only added, by any number of processes.
///
/// The whole chain is checked before the first record is added, and what others have added since before each
/// further one: nothing is chained to a log that is broken, foreign, or of another secret.
final class AuditLog: Sendable {
    let path: String
    private let seal: AuditSeal

    /// How far the log was read.
    private struct Position {
        let file: FileIdentity
        var size: off_t = 0
        var chain: AuditChain
        var endsWithLine = true
    }

    private let position = Mutex<Position?>(nil)

    init(path: String, seal: AuditSeal) {
        self.path = path
        self.seal = seal
    }

    /// Adds a record, and returns when it is on the disk.
    func append(_ members: [JSONValue.Member]) throws(Failure) {
        let file = try open()
        try position.withLock { position throws(Failure) in
            let known = position
            // Unknown until the record is written as a whole.
            position = nil
            do {
                // Held until the file is closed: the chain is read and continued in one piece.
                guard Retry.onInterrupt({ flock(file.number, LOCK_EX) }) == 0 else { throw SystemError.last }
                var current = try read(file, from: known)
                let line = try AuditRecord.line(
                    members, sequence: current.chain.lastSequence + 1,
                    previous: current.chain.tornEnd ?? current.chain.lastHash,
                    followsTornLine: current.chain.tornEnd != nil, seal: seal)
                let isNew = current.size == 0
                let text = (current.endsWithLine ? "" : "\n") + line + "\n"
                try file.write(text)
                try file.synchronize()
                if isNew { try Descriptor.synchronizeFolder(of: path) }
                try current.chain.add(Array(line.utf8))
                current.size += off_t(text.utf8.count)
                current.endsWithLine = true
                position = current
            } catch let failure as Failure {
                throw failure
            } catch {
                throw AuditLog.failure(error, path)
            }
        }
    }

    /// Fails unless records can be added.
    func checkIsWritable() throws(Failure) {
        let file = try open()
        try position.withLock { position throws(Failure) in
            do {
                guard Retry.onInterrupt({ flock(file.number, LOCK_SH) }) == 0 else { throw SystemError.last }
                position = try read(file, from: nil)
            } catch let failure as Failure {
                throw failure
            } catch {
                throw AuditLog.failure(error, path)
            }
        }
    }

    /// Reads on to the end. The caller has locked the file.
    private func read(_ file: borrowing Descriptor, from known: Position?) throws -> Position {
        let status = try file.status()
        var position = Position(file: FileIdentity(status), chain: AuditChain(seal: seal))
        if let known, known.file == position.file, known.size <= status.st_size, known.endsWithLine {
            position = known
        }
        guard lseek(file.number, position.size, SEEK_SET) >= 0 else { throw SystemError.last }
        position.endsWithLine = try position.chain.add(linesOf: file)
        // A log with a part of its first record only is one that was cut off.
        if let problem = status.st_size == 0 ? nil : position.chain.finding {
            let failure = Failure(problem, log: path)
            throw Failure(
                failure.status, failure.reason, failure.message + " Nothing is added to it: begin a new log.")
        }
        position.size = status.st_size
        return position
    }

    private static func failure(_ error: any Error, _ path: String) -> Failure {
        let words = (error as? SystemError)?.words ?? "\(error)"
        return Failure(.inputOutput, "audit", "The audit log '\(path)' cannot be written: \(words).")
    }

    /// A file of that name that no other user has a hand in: what is believed of it, and written to it, stays
    /// there.
    private func open() throws(Failure) -> Descriptor {
        try OwnFile.open(
            path, O_RDWR | O_APPEND | O_CREAT, name: "The audit log '\(path)'", action: "cannot be written",
            reason: "audit")
    }
}
