internal import SQLCipherBridge
internal import SystemCalls

/// The note of a run. It is removed at the end of this value's life, unless the copy has taken its place, or
/// the journal mode of the file was not restored. In these cases the next run needs it.
struct RunNote: ~Copyable {
    /// True if an interrupted run had left a note.
    var wasLeft: Bool { file.wasLeft }
    /// The file's journal mode at the end of the run.
    var journalMode: JournalMode { JournalMode(content.journalMode) }
    let id: RunIdentifier

    private let file: NoteFile
    private var content: ReplacementNote
    private let path: String
    private var writer: ConnectionHandle
    private let protection: FileProtection
    private var isNeeded = false
    /// True if this run may have left the WAL mode.
    private var mayHaveLeft = false

    /// Creates the note, or takes over the note of an interrupted run and removes the files that it left.
    ///
    /// - Parameter writer: a connection to the file; must outlive the note.
    /// - Throws: `busy` if another process works on the file.
    static func take(_ file: ExaminedFile, writer: ConnectionHandle) throws -> RunNote {
        let cleared = try file.names.takeNote().cleared(of: file.status, at: file.path)
        var note = RunNote(cleared, file, writer)
        let salt = try FileHeader(writer).salt
        if file.job.before.ring != nil && !salt.isEmpty { note.content.saltBefore = salt.hexadecimal }
        try note.write(step: "note")
        try FailPoint.noteMade.pass(file.path)
        return note
    }

    private init(_ note: NoteFile, _ file: ExaminedFile, _ writer: ConnectionHandle) {
        self.file = note
        self.writer = writer
        path = file.path
        id = RunIdentifier.random()
        let job = file.job
        protection = job.before
        content = ReplacementNote(
            job.operation, id: id, step: "note", journalMode: note.previous?.journalMode ?? "delete")
        content.keepOldPath = file.keptPath
        content.pageSize = job.before.ring?.settings.pageSize
        content.original = file.status.identity
    }

    deinit {
        guard !isNeeded else { return }
        let mayBeLeft = journalMode == .wal && (file.wasLeft || mayHaveLeft)
        if !mayBeLeft || isInWAL() { try? file.remove() }
    }

    /// Returns true if the file is in WAL mode again. Another process may checkpoint page 1 into the file at
    /// the same time, so a header that cannot be read is read again.
    private func isInWAL() -> Bool {
        let end = Deadline(after: 2)
        repeat {
            if let mode = try? writer.storedJournalMode(protection) { return mode == .wal }
        } while end.wait()
        return false
    }

    /// Continues with another connection to the file, which must outlive the note.
    mutating func use(_ writer: ConnectionHandle) { self.writer = writer }

    /// Notes the current step of the run, and makes the note permanent.
    mutating func write(step: String) throws {
        content.step = step
        try file.write(content)
    }

    /// Notes the journal mode before it is left. If an interrupted run has already left the WAL mode, the
    /// note keeps that mode.
    mutating func willLeave(journalMode mode: JournalMode) throws {
        mayHaveLeft = true
        if mode == .wal { content.journalMode = mode.rawValue }
        try write(step: "quiesce")
    }

    /// Notes the same for a file in WAL mode, whose mode is in the note already: see ``prepareToLeaveWAL()``.
    mutating func willLeaveWAL() { mayHaveLeft = true }

    /// Notes the journal mode some time before it is left, so that nothing has to be written at that moment.
    mutating func prepareToLeaveWAL() throws {
        content.journalMode = JournalMode.wal.rawValue
        try write(step: "quiesce")
    }

    /// Creates the copy.
    func makeCopy(_ names: ReplacementNames, isPlaintext: Bool = false) throws(DatabaseFileError) -> HeldFile
    {
        try file.makeCopy(names.copy(id), isPlaintext: isPlaintext)
    }

    /// Notes the identity of the copy before the copy has content.
    mutating func write(copy: FileIdentity) throws {
        content.copy = copy
        try write(step: "copy")
    }

    /// Notes the identity of the copy that the kept name is about to lead to.
    mutating func write(kept: FileIdentity) throws {
        content.kept = kept
        try write(step: "keep")
    }

    /// Keeps the note until ``remove()``, as the copy now has its place.
    mutating func keep() { isNeeded = true }

    /// Removes the note at the end of a run.
    func remove() throws {
        try file.remove()
        try SystemFile.synchronize(directoryOf: path)
        try FailPoint.noteRemoved.pass(path)
    }
}

extension TakenNote {
    /// Removes the second name of a file and the copy, and returns the note for a new run.
    consuming func cleared(of status: FileStatus, at path: String) throws -> NoteFile {
        try cleared { try $0.removeSecondName(of: status, at: path) }
    }
}

extension ReplacementNote {
    /// Removes the second name of a file, if it has one: the run ended before it put its copy in place.
    func removeSecondName(of status: FileStatus, at path: String) throws(DatabaseFileError) {
        if let keepOldPath { try KeptName.remove(keepOldPath, of: status, at: path) }
    }
}
