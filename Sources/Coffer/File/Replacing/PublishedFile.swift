internal import SQLCipherBridge

/// An error after the copy has its place: the file has its new content, and the next run completes what is
/// left to do.
struct FailureAfterPublishing: Error {
    let reason: any Error
}

/// The last stage: the copy has the name of the file. Nothing is taken back any more; what fails now is left
/// to the next run.
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

    /// Makes the new name permanent, goes on with the new file in the journal mode of the old one, records
    /// the result, and removes the note.
    consuming func completed() throws(FailureAfterPublishing) -> ReplacementResult {
        try resumed().recorded()
    }

    /// Makes the new name permanent, and goes on with the new file in the journal mode of the old one.
    consuming func resumed() throws(FailureAfterPublishing) -> ResumedFile {
        let (job, mode) = (examined.job, note.journalMode)
        let persisted = Result { try persist() }
        checkIsClosed()
        PublishedFile.letGo(of: source)
        do {
            do {
                try persisted.get()
            } catch {
                // The connection of a database in use is with the old file. Whatever the reason: one that
                // cannot go on is closed.
                if job.lentConnection != nil { try? job.resume(mode) }
                throw error
            }
            if job.lentConnection != nil {
                try job.resume(mode)
            } else {
                PublishedFile.letGo(of: connection)
                try job.reopen(mode)
            }
        } catch {
            throw FailureAfterPublishing(reason: error)
        }
        return ResumedFile(proof: proof, job: job, note: note)
    }

    /// Proves that the descriptor by which the copy was made is closed, before a connection opens the file:
    /// to close it later would drop all locks that this process has on the file, and with them what keeps
    /// other processes from taking the log away under its connections.
    private func checkIsClosed() {
        precondition(copy == nil, "The copy is still open by the descriptor that it was made with.")
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

    /// A process may have opened the old file in the last moment, and wait for its lock. In the modes without
    /// a journal file, SQLite would not notice that the file has lost its name, and acknowledge what nobody
    /// will ever find. So the first page is made unusable as long as the lock is held: what such a process
    /// gets is an error. The new name is permanent by then, so that the old content is not needed any more.
    private func disableOldFile() throws {
        guard try examined.nameCount() == 0 else {
            // A file that is kept, or has got another name, stays as it is. The error says who has it open.
            let users = FileUsers.others(of: examined.status)
            guard users.isEmpty else { throw DatabaseFileError(.busy(users), path: examined.path) }
            return
        }
        var generator = SystemRandomNumberGenerator()
        let bytes = (0..<512).map { _ in UInt8.random(in: 0...255, using: &generator) }
        try connection.handle.overwriteFile(at: 0, with: bytes)
    }

    private static func letGo(of source: consuming QuiescedSource) {}
    private static func letGo(of connection: consuming SourceConnection) {}
}

/// The file can be used. What is left is the record of what was done, which accesses need not wait for.
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
    /// Goes on with the new file of a closed database: brings it into a journal mode.
    func reopen(_ journalMode: JournalMode) throws {
        var new = try after.openForWriting(path, timeout: lockTimeout)
        new.checkpointsAtEnd = true
        try new.handle.restore(journalMode, after)
        try FailPoint.reopened.pass(path)
    }
}

extension ExaminedFile {
    /// Completes an earlier run, which had put its copy in place.
    func completeEarlierRun() throws(FailureAfterPublishing) -> ReplacementResult {
        do {
            guard try !leftovers().isEmpty else {
                return ReplacementResult(isChanged: false, isResumed: false, proof: nil)
            }
            let note = try NoteFile.take(names.note, next: names.nextNote)
            // Its copy has its name, and the file that it kept is another one by now: it stays.
            try note.removeLeftovers(names, of: status, at: path)
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
