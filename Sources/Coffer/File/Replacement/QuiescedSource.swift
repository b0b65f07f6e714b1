internal import Foundation
internal import SQLCipherBridge

/// A file in whose place another one is about to come: everything is in the file itself, nobody else writes to it, and a second connection
/// reads from it.
///
/// A process that has the file in WAL mode while another one takes its place destroys the new one, or loses what it writes: that is why
/// the WAL mode is left, which fails when anybody else is there. In the other modes SQLite notices that the file was moved.
final class QuiescedSource {
    /// In a transaction that writes nothing, and keeps others from writing.
    let writer: ConnectionHandle
    /// In a transaction that reads.
    let reader: ConnectionHandle
    /// The mode that the file is to be in when it is let go of.
    private let journalMode: String
    private let isLent: Bool

    /// - Parameter willLeave: called with the journal mode, before it is left; answers the one to come back to.
    init(_ job: ReplacementJob, writer: ConnectionHandle, willLeave: (_ journalMode: String) throws -> String) throws {
        self.writer = writer
        isLent = job.lentConnection != nil
        let mode = try willLeave(writer.firstText(trusted: "PRAGMA main.journal_mode") ?? "delete")
        journalMode = mode
        do {
            try QuiescedSource.leaveJournal(writer, timeout: job.lockTimeout)
            try FailPoint.journalLeft.pass(job.path)
            // Nobody reads or writes at this moment.
            try writer.execute("BEGIN EXCLUSIVE")
            try writer.execute("COMMIT")
            // And nobody is there who does nothing now, but would later on.
            try QuiescedSource.checkIsAlone(job)
            // And from here on nobody writes.
            try writer.execute("BEGIN IMMEDIATE")
            try QuiescedSource.removeIdleJournal(of: job.path)
            reader = try job.before.open(job.path, flags: .readOnly, timeout: job.lockTimeout)
        } catch {
            QuiescedSource.end(writer, journalMode: mode)
            throw error
        }
        do {
            try reader.execute("BEGIN")
            _ = try reader.firstText(trusted: "SELECT count(*) FROM sqlite_master")
            try FailPoint.locked.pass(job.path)
        } catch {
            reader.closeProbe()
            QuiescedSource.end(writer, journalMode: mode)
            throw error
        }
    }

    private static func leaveJournal(_ writer: ConnectionHandle, timeout: TimeInterval) throws {
        let end = Date(timeIntervalSinceNow: timeout)
        while true {
            do throws(EngineError) {
                let answer = try writer.firstText(trusted: "PRAGMA main.journal_mode = DELETE")
                if answer == "delete" { return }
                throw EngineError(code: EngineCode.busy, message: "Another connection has the database open in WAL mode")
            } catch {
                // SQLite waits for a lock here where it asks for one, but not for the last other connection to go.
                guard error.code & 0xff == EngineCode.busy, Date() < end else { throw error }
                Thread.sleep(forTimeInterval: 0.02)
            }
        }
    }

    /// SQLite's locks do not tell of connections that are idle; descriptors do, as far as this user sees those of others.
    ///
    /// Without any lock of this process, SQLite has closed all descriptors but those of its open connections.
    private static func checkIsAlone(_ job: ReplacementJob) throws {
        guard let status = try SystemFile.status(job.path) else { return }
        let end = Date(timeIntervalSinceNow: max(0.5, job.lockTimeout))
        while true {
            let others = FileUsers.others(of: status)
            let isAlone = FileUsers.ownDescriptorCount(of: status) <= 1
            if isAlone && others.isEmpty { return }
            // A child of this process has its descriptors for a moment, until it becomes another program.
            guard Date() < end else {
                throw DatabaseFileError(.busy(isAlone ? others : [FileUsers.thisProcess] + others), path: job.path)
            }
            Thread.sleep(forTimeInterval: 0.02)
        }
    }

    /// A journal that others keep for later use, in the modes PERSIST and TRUNCATE, and an empty log. The journal is not hot: the file was
    /// opened, and nobody writes. The log is nobody's: the file is in rollback mode, and nobody else has it open.
    private static func removeIdleJournal(of path: String) throws(DatabaseFileError) {
        try SystemFile.remove("\(path)-journal")
        // A connection that cannot write leaves an empty log behind. SQLite takes it for none, and so nobody removes it.
        if let log = try SystemFile.status("\(path)-wal") {
            guard log.size == 0 else { throw DatabaseFileError(.busy([]), path: path) }
            try SystemFile.remove("\(path)-wal")
            try SystemFile.remove("\(path)-shm")
        }
    }

    /// Lets others write again, in the mode that the file had.
    func release() {
        reader.closeProbe()
        QuiescedSource.end(writer, journalMode: journalMode)
    }

    /// Lets go of a file that is no longer the one of this name.
    func abandon() {
        reader.closeProbe()
        guard !isLent else { return }
        try? writer.execute("ROLLBACK")
        writer.closeEventually()
    }

    private static func end(_ writer: ConnectionHandle, journalMode: String) {
        if !writer.isAutocommit { try? writer.execute("ROLLBACK") }
        if journalMode == "wal" { _ = try? writer.firstText(trusted: "PRAGMA main.journal_mode = WAL") }
    }
}
