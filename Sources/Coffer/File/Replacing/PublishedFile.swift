internal import SQLCipherBridge
internal import SystemCalls

/// An error after the copy took its place, or after the engine changed the key: the file has its new content
/// or key, and the next run completes the rest.
struct FailureAfterPublishing: Error, CustomStringConvertible {
    let reason: any Error

    var description: String { "\(DatabaseError.publicError(reason))" }
}

/// The last stage: the copy has the name of the file. Nothing is rolled back after this point; steps that
/// fail are left to the next run.
struct PublishedFile: ~Copyable {
    private let proof: CopyProof
    private let examined: ExaminedFile
    /// See ``checkIsClosed()``.
    private weak var copy: HeldFile?
    private let identity: FileIdentity
    private let note: RunNote
    private let source: QuiescedSource
    private let connection: SourceConnection

    init(
        _ proof: CopyProof, _ examined: ExaminedFile, copy: HeldFile, identity: FileIdentity,
        note: consuming RunNote,
        source: consuming QuiescedSource, connection: consuming SourceConnection
    ) {
        self.proof = proof
        self.examined = examined
        self.copy = copy
        self.identity = identity
        self.note = note
        self.source = source
        self.connection = connection
    }

    /// Makes the new name permanent, continues with the new file in the journal mode of the old one, records
    /// the result, and removes the note.
    consuming func completed() throws(FailureAfterPublishing) -> ReplacementResult {
        try resumed().recorded()
    }

    /// Makes the new name permanent, and continues with the new file in the journal mode of the old one.
    consuming func resumed() throws(FailureAfterPublishing) -> ResumedFile {
        let job = examined.job
        let new = ReplacementJob.NewFile(identity: identity, journalMode: note.journalMode)
        let persisted = Result { try persist() }
        checkIsClosed()
        PublishedFile.letGo(of: source)
        do {
            do {
                try persisted.get()
            } catch {
                // The connection of a database in use still has the old file open, so it is resumed after any
                // error. If it cannot continue, it is closed.
                if job.lentConnection != nil { try? job.resume(new) }
                throw error
            }
            if job.lentConnection != nil {
                try job.resume(new)
            } else {
                PublishedFile.letGo(of: connection)
                try job.reopen(new.journalMode)
            }
        } catch {
            throw FailureAfterPublishing(reason: error)
        }
        return ResumedFile(proof: proof, job: job, note: note)
    }

    /// Verifies that the descriptor with which the copy was made is closed before a connection opens the
    /// file. Closing it later would drop all POSIX locks that this process has on the file, and other
    /// processes could then remove the log while its connections use it.
    private func checkIsClosed() {
        precondition(copy == nil, "The descriptor that created the copy is still open.")
    }

    private func persist() throws {
        let path = examined.path
        try FailPoint.renamed.pass(path)
        try SystemFile.synchronize(directoryOf: path)
        try FailPoint.directorySynchronized.pass(path)
        try disableOldFile()
        guard try SystemFile.status(path)?.identity == identity else {
            throw DatabaseFileError(.unsafeFile(.replaced), path: path)
        }
    }

    /// Makes the old file unreadable for processes that opened it at the last moment and wait for its lock.
    /// In the modes without a journal file, SQLite would not notice that the file has lost its name, and
    /// would commit transactions to a file that no path leads to. So the first page is overwritten while the
    /// lock is held, and such a process gets an error. The new name is permanent by then, so the old content
    /// is no longer needed.
    private func disableOldFile() throws {
        guard try examined.nameCount() == 0 else {
            // A file that is kept, or has got another name, stays unchanged. The error lists the processes
            // that have it open.
            let users = try FileUsers.others(of: examined.status)
            guard users.isEmpty else { throw DatabaseFileError(.busy(users), path: examined.path) }
            return
        }
        let bytes = (0..<512).map { _ in UInt8.random(in: 0...255) }
        try connection.handle.overwriteFile(at: 0, with: bytes)
    }

    private static func letGo(of source: consuming QuiescedSource) {}
    private static func letGo(of connection: consuming SourceConnection) {}
}

/// The stage in which the file can be used. Only the result has still to be recorded, and accesses need not
/// wait for that.
struct ResumedFile: ~Copyable {
    fileprivate let proof: CopyProof
    fileprivate let job: ReplacementJob
    fileprivate let note: RunNote

    /// Records the result, and removes the note.
    consuming func recorded() throws(FailureAfterPublishing) -> ReplacementResult {
        do {
            let proof = try proof.digested()
            try job.audit(proof)
            try FailPoint.audited.pass(job.path)
            try note.remove()
            return ReplacementResult(isChanged: true, isResumed: note.wasLeft, proof: proof)
        } catch {
            throw FailureAfterPublishing(reason: error)
        }
    }
}

extension ReplacementJob {
    /// Continues with the new file of a closed database: sets its journal mode.
    func reopen(_ journalMode: JournalMode) throws {
        var new = try after.openForWriting(path, timeout: lockTimeout)
        new.checkpointsAtEnd = true
        try new.handle.restore(journalMode, after)
        try FailPoint.reopened.pass(path)
    }
}

extension ExaminedFile {
    /// Completes an earlier run that had put its copy in place.
    func completeEarlierRun() throws(FailureAfterPublishing) -> ReplacementResult {
        do {
            guard try !leftovers().isEmpty else {
                return ReplacementResult(isChanged: false, isResumed: false, proof: nil)
            }
            // The note's copy has the name now, and the file that it kept is a different file by now: it
            // stays.
            let note = try names.takeNote().cleared(of: status, at: path)
            try FailPoint.noteMade.pass(path)
            try job.reopen(JournalMode(note.previous?.journalMode))
            try FailPoint.audited.pass(path)
            try note.remove()
            try SystemFile.synchronize(directoryOf: path)
            try FailPoint.noteRemoved.pass(path)
            return ReplacementResult(isChanged: false, isResumed: true, proof: nil)
        } catch {
            throw FailureAfterPublishing(reason: error)
        }
    }
}
