internal import SQLCipherBridge

/// What opening an examined file finds.
enum FileOpening: ~Copyable {
    case oldContent(OpenedFile)
    /// An earlier run has put its copy in place.
    case newContent
}

/// The stage with a connection to the old content, which has played back what an interrupted process had
/// left.
struct OpenedFile: ~Copyable {
    let examined: ExaminedFile
    let connection: SourceConnection

    var writer: ConnectionHandle { connection.handle }

    /// - Throws: why neither the old nor the new key opens the file.
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
            // A connection that can write closes the log that it had to open; one that cannot would leave it
            // behind.
            try job.after.open(job.path, timeout: job.lockTimeout).closeWithCheckpoint()
            return true
        } catch KeyError.encryption {
            return false
        }
    }

    /// Notes what is going on, and removes what an earlier run has left.
    consuming func noted() throws -> NotedFile {
        let note = try RunNote.take(examined, writer: writer)
        return NotedFile(note: note, opened: self)
    }
}

extension ExaminedFile {
    /// Whether a note says that the file is the copy of a run that was interrupted, and that its old file is
    /// where this run is to keep it.
    ///
    /// Other operations find their new key or format. A vacuum has none.
    fileprivate func isVacuumThatWasPublished() throws -> Bool {
        guard job.keepsKey, let keptPath, let note = NoteFile.read(names.note), note.keepOldPath == keptPath,
            let original = note.original
        else { return false }
        return try note.copy == status.identity && SystemFile.status(keptPath)?.identity == original
    }
}

/// The connection that the old content is open with. Ends with its life, unless it is lent.
struct SourceConnection: ~Copyable {
    let handle: ConnectionHandle
    /// Rolls back a transaction at its end, which has written nothing. Nil for a connection that is lent.
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

/// The stage with a note beside the file.
struct NotedFile: ~Copyable {
    var note: RunNote
    let opened: OpenedFile

    /// Brings everything into the file, and keeps others from writing.
    consuming func quiesced() throws -> QuiescedFile {
        let source = try QuiescedSource(opened.examined, writer: opened.writer, &note)
        try opened.examined.checkIsSameFile()
        try opened.examined.progress(.copying, 0, of: 0)
        return QuiescedFile(source: source, noted: self)
    }
}

/// The stage in which the file is locked, and everything is in it.
struct QuiescedFile: ~Copyable {
    var source: QuiescedSource
    var noted: NotedFile

    /// Makes the copy, with all content.
    consuming func staged() throws -> StagedCopy {
        let examined = noted.opened.examined
        let copy = try CopyFile(examined, id: noted.note.id)
        try noted.note.write(copy: copy.file.status().identity)
        try FailPoint.copyCreated.pass(examined.path)
        let content = try copy.write(from: source.reader, examined)
        try FailPoint.copied.pass(examined.path)
        return StagedCopy(copy: copy, content: content, quiesced: self)
    }
    /// Takes a copy that was made while others wrote, and completes it.
    ///
    /// - Parameter complete: copies what the copy does not have yet.
    consuming func staged(
        _ copy: consuming CopyFile,
        completing complete: (_ source: ConnectionHandle) throws -> any ContentProof
    ) throws
        -> StagedCopy
    {
        let content = try complete(source.reader)
        try FailPoint.copied.pass(noted.opened.examined.path)
        return StagedCopy(copy: copy, content: content, quiesced: self)
    }
}
