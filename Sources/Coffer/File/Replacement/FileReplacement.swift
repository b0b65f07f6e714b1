internal import Foundation
internal import SQLCipherBridge

/// Gives a file new content by a copy beside it, which is proved and then put in its place in one step.
///
/// Whatever happens before this step leaves the file untouched; a crash leaves at most a note and a copy, which the next run removes. What it
/// decides is decided by ``ReplacementState``; this class does the work.
final class FileReplacement {
    private let job: ReplacementJob
    private let progress: ProgressReport
    private let names: ReplacementNames
    private let id: String
    private var copy: ReplacementCopy
    private var state = ReplacementState()

    private var status: FileStatus?
    private var attributes: FileAttributes?
    private var writer: ConnectionHandle?
    private var source: QuiescedSource?
    private var note: ReplacementNoteFile?
    private var noteContent: ReplacementNote?
    private var proof: ReplacementProof?
    private var journalMode = "delete"
    private var isResumed = false
    private var hasLeftovers = false

    init(_ job: ReplacementJob, progress: ProgressReport) {
        self.job = job
        self.progress = progress
        names = ReplacementNames(path: job.path, operation: job.operation)
        id = String(UInt32.random(in: 0...UInt32.max) | 0x1000_0000, radix: 16)
        copy = ReplacementCopy(job, path: names.copy(id: id))
    }

    private var path: String { job.path }

    /// - Throws: ``DatabaseFileError``, `CancellationError`, or what a key provider or the progress function throws.
    func run() throws -> ReplacementResult {
        var failure: (any Error)?
        defer { if let writer, job.lentConnection == nil { writer.closeEventually() } }
        while true {
            switch state.decision {
            case .perform(let step):
                do {
                    try perform(step)
                    // Finding the new content is a decision already.
                    if state.decision == .perform(step) { state.didComplete() }
                } catch {
                    failure = error
                    state.didFail()
                }
            case .undo(let undo):
                take(back: undo)
                state.didUndo()
            case .end(let outcome):
                switch outcome {
                case .replaced: return ReplacementResult(isChanged: true, isResumed: isResumed, proof: proof)
                case .alreadyDone: return ReplacementResult(isChanged: false, isResumed: isResumed, proof: nil)
                case .abandoned: throw describe(failure, isPublished: false)
                case .unfinished:
                    goOnWithNewFile()
                    throw describe(failure, isPublished: true)
                }
            }
        }
    }

    /// The connection of a database in use is with the old file as long as it was not handed the new one.
    private func goOnWithNewFile() {
        guard let source else { return }
        source.abandon()
        self.source = nil
        // Whatever the reason: a connection that cannot go on is closed.
        if job.lentConnection != nil { try? job.resume(journalMode) }
    }

    private func describe(_ failure: (any Error)?, isPublished: Bool) -> any Error {
        let error = DatabaseFileError.publicError(failure ?? CancellationError(), path: path)
        guard var error = error as? DatabaseFileError else { return error }
        if case .busy(let users) = error.reason, users.isEmpty, let status {
            error = DatabaseFileError(.busy(FileUsers.others(of: status)), path: error.path)
        }
        error.isPublished = isPublished
        return error
    }
}

// MARK: - Steps

extension FileReplacement {
    private func perform(_ step: ReplacementState.Step) throws {
        switch step {
        case .preflight: try preflight()
        case .recover: try recover()
        case .note: try takeNote()
        case .quiesce: try quiesce()
        case .copy: try makeCopy()
        case .verify: proof = try source.map { try copy.prove(against: $0.reader, progress: progress) }
        case .synchronize: try synchronize()
        case .publish: try publish()
        case .persist: try persist()
        case .reopen: try reopen()
        case .finish: try finish()
        }
    }

    private func preflight() throws {
        try progress(.copying, 0, of: 0)
        let preflight = try ReplacementPreflight(job)
        status = preflight.status
        attributes = preflight.attributes
        hasLeftovers = try SystemFile.status(names.note) != nil || !names.leftoverCopies().isEmpty
    }

    private func recover() throws {
        if let lent = job.lentConnection {
            writer = lent
            return
        }
        do {
            writer = try job.before.open(path, timeout: job.lockTimeout)
        } catch KeyError.encryption(let failure, let code) {
            guard try hasNewContent() else { throw KeyError.encryption(failure, code: code) }
            state.didFindNewContent(leftovers: hasLeftovers)
        }
    }

    private func hasNewContent() throws -> Bool {
        do {
            // A connection that can write closes the log that it had to open; one that cannot would leave it behind.
            try job.after.open(path, timeout: job.lockTimeout).closeEventually()
            return true
        } catch KeyError.encryption {
            return false
        }
    }

    private func takeNote() throws {
        let note = try ReplacementNoteFile.take(names.note)
        self.note = note
        isResumed = note.wasLeft || hasLeftovers
        try note.removeLeftovers(names, of: status)
        journalMode = note.previous?.journalMode ?? journalMode
        let salt = try writer.map { try FileHeader($0).salt } ?? []
        noteContent = ReplacementNote(
            operation: job.operation, id: id, step: "note", processID: ProcessInfo.processInfo.processIdentifier, startedAt: Date(),
            saltBefore: job.before.ring == nil || salt.isEmpty ? nil : salt.hexadecimal, oldKeyID: nil, journalMode: journalMode,
            keepOldPath: job.keepOldPath, pageSize: job.before.ring?.settings.pageSize)
        try write(step: "note")
        try SystemFile.synchronize(directory: SystemFile.directory(of: path))
        try FailPoint.noteMade.pass(path)
    }

    private func write(step: String) throws {
        noteContent?.step = step
        noteContent?.journalMode = journalMode
        if let noteContent { try note?.write(noteContent) }
    }

    private func quiesce() throws {
        guard let writer, let before = status else { return }
        source = try QuiescedSource(job, writer: writer) { mode in
            // An interrupted run may have left the mode that the file is to have in the end.
            if mode == "wal" { journalMode = mode }
            try write(step: "quiesce")
            return journalMode
        }
        try checkIsSameFile(before)
        try progress(.copying, 0, of: 0)
    }

    /// What is locked must be what has the name.
    private func checkIsSameFile(_ before: FileStatus) throws(DatabaseFileError) {
        guard let now = try SystemFile.status(path), now.isSameFile(as: before), now.linkCount == 1 else {
            throw DatabaseFileError(.unsafeFile(.replaced), path: path)
        }
    }

    private func makeCopy() throws {
        guard let source, let attributes else { return }
        try write(step: "copy")
        try copy.make(from: source.reader, attributes: attributes, progress: progress)
    }

    private func synchronize() throws {
        try progress(.publishing, 0, of: 1)
        try copy.synchronize()
        try write(step: "publish")
        try FailPoint.copySynchronized.pass(path)
    }

    private func publish() throws {
        guard let before = status else { return }
        try checkIsSameFile(before)
        try copy.takePlace()
    }

    private func persist() throws {
        try FailPoint.renamed.pass(path)
        try SystemFile.synchronize(directory: SystemFile.directory(of: path))
        try FailPoint.directorySynchronized.pass(path)
    }

    private func reopen() throws {
        source?.abandon()
        source = nil
        if job.lentConnection != nil {
            try job.resume(journalMode)
            return
        }
        writer = nil
        let new = try job.after.openForWriting(path, timeout: job.lockTimeout)
        defer { new.closeEventually() }
        if journalMode == "wal", try new.firstText(trusted: "PRAGMA main.journal_mode = WAL") != "wal" {
            throw EngineError(code: EngineCode.busy, message: "The WAL mode could not be set again")
        }
        try FailPoint.reopened.pass(path)
    }

    private func finish() throws {
        if let proof { try job.audit(proof) }
        try FailPoint.audited.pass(path)
        try note?.remove()
        try SystemFile.synchronize(directory: SystemFile.directory(of: path))
        note = nil
        try FailPoint.noteRemoved.pass(path)
    }

    /// What cannot be taken back now is by the next run.
    private func take(back undo: ReplacementState.Undo) {
        switch undo {
        case .removeCopy: copy.remove(original: status)
        case .release:
            source?.release()
            source = nil
        case .removeNote:
            let mode = try? writer?.firstText(trusted: "PRAGMA main.journal_mode")
            let isModeRestored = journalMode != "wal" || mode == "wal"
            if isModeRestored { try? note?.remove() }
            note = nil
        }
    }
}
