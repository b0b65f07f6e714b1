internal import SQLCipherBridge

/// The note of a run, with what it has to say. It is removed at the end of its life, unless the copy has its
/// place by then, or the journal mode of the file is not restored: the next run needs it.
struct RunNote: ~Copyable {
    /// Whether an interrupted run had left a note.
    var wasLeft: Bool { file.wasLeft }
    /// The journal mode that the file is to be in at the end.
    var journalMode: JournalMode { JournalMode(content.journalMode) }
    let id: RunIdentifier

    private let file: NoteFile
    private var content: ReplacementNote
    private let path: String
    private var writer: ConnectionHandle
    private let protection: FileProtection
    private var isNeeded = false
    /// Whether this run may have left the WAL mode.
    private var mayHaveLeft = false

    /// Makes the note, or takes over that of an interrupted run, and removes what that has left.
    ///
    /// - Parameter writer: a connection to the file, which lives as long.
    /// - Throws: `busy` when another process works on the file.
    static func take(_ file: ExaminedFile, writer: ConnectionHandle) throws -> RunNote {
        var note = try RunNote(NoteFile.take(file.names.note, next: file.names.nextNote), file, writer)
        try note.file.removeLeftovers(file.names, of: file.status, at: file.path)
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

    /// Whether the file is in WAL mode again. Another process may bring page 1 from the log into it at this
    /// moment: a header that cannot be read is read again.
    private func isInWAL() -> Bool {
        let end = Deadline(after: 2)
        repeat {
            if let mode = try? writer.storedJournalMode(protection) { return mode == .wal }
        } while end.wait()
        return false
    }

    /// Goes on with another connection to the file, which lives as long.
    mutating func use(_ writer: ConnectionHandle) { self.writer = writer }

    /// Notes how far the run is, and makes that permanent.
    mutating func write(step: String) throws {
        content.step = step
        try file.write(content)
    }

    /// Notes the journal mode before it is left. An interrupted run may have left the one that the file is to
    /// have in the end.
    mutating func willLeave(journalMode mode: JournalMode) throws {
        mayHaveLeft = true
        if mode == .wal { content.journalMode = mode.rawValue }
        try write(step: "quiesce")
    }

    /// The same for a file in WAL mode, whose mode is noted already: see ``prepareToLeaveWAL()``.
    mutating func willLeaveWAL() { mayHaveLeft = true }

    /// Notes the journal mode some time before it is left, so that there is nothing to write at that moment.
    mutating func prepareToLeaveWAL() throws {
        content.journalMode = JournalMode.wal.rawValue
        try write(step: "quiesce")
    }

    /// Notes which file is the copy, before there is anything in it.
    mutating func write(copy: FileIdentity) throws {
        content.copy = copy
        try write(step: "copy")
    }

    /// From here on the note stays until ``remove()``: the copy has its place.
    mutating func keep() { isNeeded = true }

    /// Removes the note at the end of a run.
    func remove() throws {
        try file.remove()
        try SystemFile.synchronize(directoryOf: path)
        try FailPoint.noteRemoved.pass(path)
    }
}

extension NoteFile {
    /// Removes what this note says that its run has left: the copy of its own number, and the second name of
    /// the file.
    func removeLeftovers(_ names: ReplacementNames, of status: FileStatus, at path: String)
        throws(DatabaseFileError)
    {
        guard let previous else { return }
        if let id = RunIdentifier(previous.id) { try SystemFile.remove(names.copy(id)) }
        // The run was to put its copy in place next.
        if let kept = previous.keepOldPath { try KeptName.remove(kept, of: status, at: path) }
    }
}
