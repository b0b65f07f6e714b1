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
    private var note: RunNote
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

    private mutating func persist() throws {
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
    /// would commit transactions to a file that no path leads to. If such a process sets the WAL mode, both
    /// files have one log. So the first page is overwritten while the lock is held, and such a process gets
    /// an error. The new name is permanent by then, so the old content is no longer needed.
    private mutating func disableOldFile() throws {
        if let kept = examined.keptPath {
            do { try separate(kept) } catch {
                // A loss of power may give the old file its kept name back.
                guard try examined.nameCount() > 0 else { return }
            }
        }
        guard try examined.nameCount() == 0 else {
            // A file that has got another name stays unchanged. The error lists the processes that have it
            // open.
            let users = try FileUsers.others(of: examined.status)
            guard users.isEmpty else { throw DatabaseFileError(.busy(users), path: examined.path) }
            return
        }
        let bytes = (0..<512).map { _ in UInt8.random(in: 0...255) }
        try connection.handle.overwriteFile(at: 0, with: bytes)
    }

    /// Gives the name of the kept file to a copy of it: processes that `/proc` does not show, such as those
    /// of other containers, may have the old file itself open.
    ///
    /// If this fails, for example because the disk is full, the kept name leads to the old file.
    private mutating func separate(_ kept: String) throws {
        let copy = try note.makeCopy(examined.names)
        do {
            let old = try ConnectionBytes(connection.handle)
            try copy.fill(size: old.size) { try old.read(at: $0, count: $1) }
            try copy.apply(FileAttributes(toKeepOf: kept, status: SystemFile.regularFile(kept)))
            try copy.synchronize()
            try note.write(kept: copy.status().identity)
            guard try SystemFile.status(kept)?.isSameFile(as: examined.status) == true else {
                throw DatabaseFileError(.unsafeFile(.replaced), path: kept)
            }
            try FailPoint.oldCopied.pass(examined.path)
            try SystemFile.rename(copy.path, to: kept)
            try SystemFile.synchronize(directoryOf: kept)
        } catch {
            copy.removeName(copy.path)
            throw error
        }
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
