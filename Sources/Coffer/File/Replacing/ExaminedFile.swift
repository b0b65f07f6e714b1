internal import SQLCipherBridge
internal import SystemCalls

/// The first stage of a replacement: a file that can be replaced, as far as can be determined without opening
/// it.
///
/// The stages are types, each of which is made by the one before and consumes it: ``ExaminedFile``,
/// ``OpenedFile``, ``NotedFile``, ``QuiescedFile``, ``StagedCopy``, ``ProvedCopy``, ``PublishedFile``. The
/// end of a stage's life undoes its work. So if a step throws, the copy is removed, the file is released in
/// its journal mode, and the note is removed, in this order. Only a ``ProvedCopy`` can be published.
struct ExaminedFile {
    private(set) var job: ReplacementJob
    let progress: ProgressReport
    let names: ReplacementNames
    let status: FileStatus
    /// The attributes for the copy.
    private(set) var attributes: FileAttributes
    /// The absolute path at which the old file is to be kept.
    let keptPath: String?
    let room: CopyRoom
    /// Keeps the inode of the file from being reused, and reports the number of its names after it has lost
    /// the one that we know.
    private let hold: HeldName

    var path: String { job.path }

    init(_ job: ReplacementJob, progress: ProgressReport) throws {
        try progress(.copying, 0, of: 0)
        self.job = job
        self.progress = progress
        let path = job.path
        let status = try SystemFile.regularFile(path)
        try ExaminedFile.checkIsNotEmpty(path, status)
        try SystemFile.checkIsNoMountPoint(path)
        names = ReplacementNames(path: path, operation: job.operation)
        try ExaminedFile.checkLength(names)
        try SystemFile.checkIsWritable(directoryOf: path)
        if job.lentConnection == nil { try SystemFile.checkIsWritable(path) }
        self.status = status
        keptPath = try job.keepOldPath.map { kept in
            _ = try SystemFile.statusOfDirectory(of: kept)
            let absolute = try SystemFile.absolute(kept)
            try ReplacementNames.checkCanKeep(absolute, of: SystemFile.absolute(path))
            return absolute
        }
        try ExaminedFile.checkNames(names, status)
        let attributes = try FileAttributes(toKeepOf: path, status: status)
        // The decrypted file is readable by its owner only: other users could read the old file, but not its
        // content.
        self.attributes =
            job.before.ring != nil && job.after.ring == nil ? attributes.forOwnerOnly : attributes
        try FolderSafety(owner: status.userID).check(directoryOf: path)
        room = try CopyRoom(of: path, beside: path)
        try room.check(path)
        if job.lentConnection == nil { try FileUsers.waitForNone(of: status, path, timeout: job.lockTimeout) }
        hold = try HeldName(path, status)
    }

    /// Returns the same file with another connection of a database in use, and with its current attributes.
    ///
    /// - Parameter resume: see ``ReplacementJob/resume``.
    func lending(
        _ connection: ConnectionHandle, resume: @escaping (ReplacementJob.NewFile) throws -> Void
    ) throws -> ExaminedFile {
        var file = self
        let now = try SystemFile.regularFile(path)
        guard now.isSameFile(as: status) else { throw DatabaseFileError(.unsafeFile(.replaced), path: path) }
        file.attributes = try FileAttributes(toKeepOf: path, status: now)
        file.job.lentConnection = connection
        file.job.resume = resume
        return file
    }

    /// Throws before any connection opens a file without bytes: the engine would remove a journal or a log
    /// next to it, with its content.
    ///
    /// - Throws: `emptyFile`.
    static func checkIsNotEmpty(_ path: String, _ status: FileStatus) throws(DatabaseFileError) {
        guard status.size == 0 else { return }
        throw DatabaseFileError(.emptyFile, path: path)
    }

    /// Checks that there is room for the longest name next to the file, and for SQLite's limit on paths.
    private static func checkLength(_ names: ReplacementNames) throws(DatabaseFileError) {
        for name in [
            names.note, names.nextNote, names.copy(RunIdentifier(number: 0)), "\(names.path)-journal",
        ] {
            guard SystemFile.name(of: name).utf8.count <= 255, name.utf8.count < 512 else {
                throw DatabaseFileError(.pathTooLong, path: names.path)
            }
        }
    }

    /// Checks that the file has only one name, apart from a name that an interrupted run gave it to keep it,
    /// or that it had as a copy, as stated in that run's note.
    private static func checkNames(_ names: ReplacementNames, _ status: FileStatus) throws(DatabaseFileError)
    {
        var count = status.linkCount
        if count == 2, let note = NoteFile.read(names.note) {
            if let kept = note.keepOldPath, try KeptName.isAnotherName(kept, of: status, than: names.path) {
                count = 1
            }
            // A power loss may have interrupted the renaming of the copy, so that both names are present.
            if let id = RunIdentifier(note.id),
                try SystemFile.status(names.copy(id))?.isSameFile(as: status) == true
            {
                count = 1
            }
        }
        guard count == 1 else {
            throw DatabaseFileError(.unsafeFile(.hardLinks(count: status.linkCount)), path: names.path)
        }
    }

    /// Checks that the old file can be kept at its path. Not called if an earlier run has replaced the file:
    /// the old one is at that path then.
    func checkKeptPath() throws(DatabaseFileError) {
        guard let keptPath else { return }
        if try SystemFile.status(keptPath) != nil {
            // An interrupted run gave the file this name as well. The name will be removed, and must not be
            // the database's own.
            guard NoteFile.read(names.note)?.keepOldPath == keptPath,
                try KeptName.isAnotherName(keptPath, of: status, than: path)
            else { throw DatabaseFileError(.exists, path: keptPath) }
        }
        guard try SystemFile.statusOfDirectory(of: keptPath).device == status.device else {
            throw DatabaseFileError(
                .unsupported("The old file can only be kept on the same file system."), path: keptPath)
        }
        try SystemFile.checkIsWritable(directoryOf: keptPath)
    }

    /// Checks that the path still leads to the locked file.
    func checkIsSameFile() throws(DatabaseFileError) {
        guard let now = try SystemFile.status(path), now.isSameFile(as: status), now.linkCount == 1 else {
            throw DatabaseFileError(.unsafeFile(.replaced), path: path)
        }
    }

    /// Returns the number of names of the replaced file: none, unless it was kept or another process has
    /// linked it.
    func nameCount() throws(DatabaseFileError) -> Int { try hold.nameCount() }

    /// Returns the files that an interrupted run left.
    func leftovers() throws(DatabaseFileError) -> [String] {
        try ReplacementNames.leftovers(of: path, operation: job.operation)
    }
}

/// The space that a copy of a file needs, and the space that is available.
struct CopyRoom {
    /// The size of the file and its log, in bytes.
    let size: Int64
    let required: Int64
    let available: Int64

    /// - Parameter other: a path in the directory of the copy.
    init(of path: String, beside other: String) throws(DatabaseFileError) {
        size =
            try (SystemFile.status(path, followsLinks: true)?.size ?? 0)
            + (SystemFile.status("\(path)-wal")?.size ?? 0)
        // Adds room for the note, and for the file system's metadata of a new file.
        required = size + (1 << 16)
        available = try SystemFile.availableSpace(SystemFile.directory(of: other))
    }

    func check(_ path: String) throws(DatabaseFileError) {
        guard available >= required else { throw DatabaseFileError(.diskFull, path: path) }
    }
}

/// A file that is held without being open for input or output: closing it drops none of the locks that SQLite
/// has on it for this process.
private final class HeldName: Sendable {
    private let file: FileDescriptor

    init(_ path: String, _ status: FileStatus) throws(DatabaseFileError) {
        file = try FileDescriptor(path, flags: Descriptor.pathOnly)
        guard try file.status().isSameFile(as: status) else {
            throw DatabaseFileError(.unsafeFile(.replaced), path: path)
        }
    }

    func nameCount() throws(DatabaseFileError) -> Int { try file.status().linkCount }
}
