internal import Glibc
internal import Synchronization
internal import SystemCalls

/// An append-only file that any number of processes can write to.
///
/// Before the first record is added, the whole chain is verified; before each further record, the lines that
/// other processes have added since. No record is chained to a log that is broken, foreign, or chained with a
/// different secret.
final class AuditLog: Sendable {
    let path: String
    private let seal: AuditSeal

    /// The verified part of the log.
    private struct Position {
        let file: FileIdentity
        var size: Int64 = 0
        var chain: AuditChain
        var endsWithLine = true
    }

    private let position = Mutex<Position?>(nil)

    /// The time to wait for the lock of the log. It is normally held for milliseconds, and a process that
    /// never releases it must not stop the others: the wait for it is long only once.
    private let patience = Mutex(AuditLog.patience)
    private let interruption: Interruption?

    static let patience = Duration.seconds(20)
    private static let shortPatience = Duration.milliseconds(500)

    /// - Parameter interruption: a signal shortens the wait for the lock of the log.
    init(path: String, seal: AuditSeal, interruption: Interruption? = nil) {
        self.path = path
        self.seal = seal
        self.interruption = interruption
    }

    /// Appends a record and returns once it has reached the disk.
    func append(_ members: JSONObject) throws(Failure) {
        let file = try open()
        try position.withLock { position throws(Failure) in
            let known = position
            // The position is unknown until the whole record is written.
            position = nil
            do {
                // The lock is held until the file is closed, so reading and extending the chain is atomic.
                try lock(file, LOCK_EX)
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
                current.size += Int64(text.utf8.count)
                current.endsWithLine = true
                position = current
            } catch {
                throw AuditLog.failure(error, path)
            }
        }
    }

    /// Throws a failure unless records can be added.
    func checkIsWritable() throws(Failure) {
        let file = try open()
        try position.withLock { position throws(Failure) in
            do {
                try lock(file, LOCK_SH)
                position = try read(file, from: nil)
            } catch {
                throw AuditLog.failure(error, path)
            }
        }
    }

    /// Returns the paths under which commands have kept old files of a database.
    ///
    /// - Parameter path: the canonical path of the database.
    func keptOldPaths(of path: String) throws -> [String] {
        try KeyHistory.events(in: self.path, seal).compactMap { $0.path == path ? $0.keptOldPath : nil }
    }

    /// Reads from the known position to the end. The caller holds the lock.
    private func read(_ file: borrowing Descriptor, from known: Position?) throws -> Position {
        let status = try file.status()
        var position = Position(file: status.identity, chain: AuditChain(seal: seal))
        if let known, known.file == position.file, known.size <= status.size, known.endsWithLine {
            position = known
        }
        try systemCall("lseek") { lseek(file.number, off_t(position.size), SEEK_SET) }
        position.endsWithLine = try position.chain.add(linesOf: file)
        // A log that contains only part of its first record was truncated.
        if let problem = status.size == 0 ? nil : position.chain.finding {
            let failure = Failure(problem, log: path)
            throw Failure(
                failure.status, failure.reason, failure.message + " Nothing was added: begin a new log.")
        }
        position.size = status.size
        return position
    }

    private func lock(_ file: borrowing Descriptor, _ kind: CInt) throws(Errno) {
        do throws(Errno) {
            try AuditLog.lock(file, kind, within: patience.withLock { $0 }, unless: interruption)
            patience.withLock { $0 = AuditLog.patience }
        } catch {
            if error.code == EWOULDBLOCK { patience.withLock { $0 = AuditLog.shortPatience } }
            throw error
        }
    }

    /// Locks the file of a log.
    ///
    /// - Parameter interruption: a signal shortens the wait.
    /// - Throws: `EWOULDBLOCK` if another process still holds its lock at the end of the wait.
    static func lock(
        _ file: borrowing Descriptor, _ kind: CInt, within patience: Duration,
        unless interruption: Interruption? = nil
    ) throws(Errno) {
        let start = ContinuousClock.now
        while true {
            do throws(Errno) {
                try file.lock(kind | LOCK_NB)
                return
            } catch {
                let limit = interruption?.status == nil ? patience : min(patience, shortPatience)
                guard error.code == EWOULDBLOCK, ContinuousClock.now - start < limit else { throw error }
            }
            usleep(.random(in: 500...5_000))
        }
    }

    private static func failure(_ error: any Error, _ path: String) -> Failure {
        if let failure = error as? Failure { return failure }
        let isLocked = (error as? Errno)?.code == EWOULDBLOCK
        let words =
            isLocked ? "another process holds its lock" : (error as? Errno)?.words ?? "\(error)"
        return Failure(.inputOutput, "audit", "The audit log '\(path)' cannot be written: \(words).")
    }

    /// Opens the file, which no other user may control: the tool trusts its content, and writes to it.
    private func open() throws(Failure) -> Descriptor {
        try OwnFile.open(
            path, O_RDWR | O_APPEND | O_CREAT, name: "The audit log '\(path)'", action: "cannot be written",
            reason: "audit")
    }
}
