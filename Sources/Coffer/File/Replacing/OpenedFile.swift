internal import SQLCipherBridge
internal import SystemCalls

/// The result of opening an examined file.
enum FileOpening: ~Copyable {
    case oldContent(OpenedFile)
    /// An earlier run put its copy in place.
    case newContent
}

/// The stage with a connection to the old content, which has replayed the journal or log of an interrupted
/// process.
struct OpenedFile: ~Copyable {
    let examined: ExaminedFile
    let connection: SourceConnection

    var writer: ConnectionHandle { connection.handle }

    /// - Throws: the reason why neither the old nor the new key opens the file.
    static func open(_ examined: ExaminedFile) throws -> FileOpening {
        let job = examined.job
        if let lent = job.lentConnection {
            try examined.checkKeptPath()
            return .oldContent(OpenedFile(examined: examined, connection: SourceConnection(lent: lent)))
        }
        if try examined.isVacuumThatWasPublished() { return .newContent }
        let connection: SourceConnection
        do {
            connection = try SourceConnection(opening: job.before.open(job.path, timeout: job.lockTimeout))
        } catch KeyError.encryption(let failure, let code) {
            guard try hasNewContent(job) else { throw KeyError.encryption(failure, code: code) }
            return .newContent
        }
        guard try connection.handle.fileSize() != 0 else {
            throw DatabaseFileError(.emptyFile, path: job.path)
        }
        try examined.checkKeptPath()
        return .oldContent(OpenedFile(examined: examined, connection: connection))
    }

    private static func hasNewContent(_ job: ReplacementJob) throws -> Bool {
        do {
            // A connection that can write removes the log that it had to open; a read-only connection would
            // leave it.
            try job.after.open(job.path, timeout: job.lockTimeout).closeWithCheckpoint()
            return true
        } catch KeyError.encryption {
            return false
        }
    }

    /// Writes the note, and removes the leftovers of an earlier run.
    consuming func noted() throws -> NotedFile {
        let note = try RunNote.take(examined, writer: writer)
        return NotedFile(note: note, opened: self)
    }
}

extension ExaminedFile {
    /// Returns true if a note says that the file is the copy of an interrupted run, and the old file is at
    /// the path at which this run is to keep it.
    ///
    /// Other operations are recognized by their new key or format. A vacuum has neither.
    fileprivate func isVacuumThatWasPublished() throws -> Bool {
        guard job.keepsKey, let keptPath, let note = NoteFile.read(names.note), note.keepOldPath == keptPath,
            let original = note.original, let kept = try SystemFile.status(keptPath)?.identity
        else { return false }
        return note.copy == status.identity && (kept == original || kept == note.kept)
    }
}

/// The connection to the old content. It is closed at the end of this value's life, unless it is lent.
struct SourceConnection: ~Copyable {
    let handle: ConnectionHandle
    /// The connection that ends with this value, and rolls back an open transaction, which has written
    /// nothing. Nil for a lent connection.
    private let owned: EngineConnection?

    init(lent: ConnectionHandle) {
        handle = lent
        owned = nil
    }

    init(opening connection: consuming EngineConnection) {
        connection.checkpointsAtEnd = true
        handle = connection.handle
        owned = consume connection
    }
}

/// The stage with a note next to the file.
struct NotedFile: ~Copyable {
    var note: RunNote
    let opened: OpenedFile

    /// Brings all content into the file, and keeps other connections from writing.
    consuming func quiesced() throws -> QuiescedFile {
        let source = try QuiescedSource(opened.examined, writer: opened.writer, &note)
        try opened.examined.checkIsSameFile()
        try opened.examined.progress(.copying, 0, of: 0)
        return QuiescedFile(source: source, noted: self)
    }
}

/// The stage in which the file is locked and holds all content.
struct QuiescedFile: ~Copyable {
    var source: QuiescedSource
    var noted: NotedFile

    /// Makes the copy with all content.
    consuming func staged() throws -> StagedCopy {
        let examined = noted.opened.examined
        let copy = try CopyFile(examined, noted.note)
        try noted.note.write(copy: copy.file.status().identity)
        try FailPoint.copyCreated.pass(examined.path)
        let content = try copy.write(from: source.reader, examined)
        try FailPoint.copied.pass(examined.path)
        return StagedCopy(copy: copy, content: content, quiesced: self)
    }

    /// Takes over a copy that was made while other connections wrote, and completes it.
    ///
    /// - Parameter complete: copies the content that the file of the copy does not have yet.
    consuming func staged(
        _ copy: consuming CopyFile,
        completing complete: (_ source: ConnectionHandle, _ file: HeldFile) throws -> any ContentProof
    ) throws -> StagedCopy {
        let content = try complete(source.reader, copy.file)
        try FailPoint.copied.pass(noted.opened.examined.path)
        return StagedCopy(copy: copy, content: content, quiesced: self)
    }
}
