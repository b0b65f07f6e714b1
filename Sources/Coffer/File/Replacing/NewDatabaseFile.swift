internal import SQLCipherBridge

internal import Glibc

/// A database file in the making: it is written under another name in the same directory, and gets its own
/// name once it is complete.
///
/// Nobody ever finds a part of it under its name, and nothing that is there is overwritten. What was written
/// goes at the end of its life, where the file was not published. A crash leaves the temporary file and a
/// note that names it, which hold nothing that the final form would not, and go when the same file is made
/// the next time.
struct NewDatabaseFile: ~Copyable {
    let path: String
    private let place: NewFilePlace

    /// The file until it is published: empty, and readable by its owner only.
    let file: HeldFile

    private let note: NoteFile
    private let run: RunIdentifier
    private var isPublished = false

    static func begin(path: String, isPlaintext: Bool) throws -> NewDatabaseFile {
        try begin(NewFilePlace(path: path), isPlaintext: isPlaintext)
    }

    /// - Parameter isPlaintext: whether everybody can read what the file is to hold. Then it is not made
    ///   where others may rename files.
    /// - Throws: `exists` if there is something at the path already, `busy` if another process is making the
    ///   same file.
    static func begin(_ place: NewFilePlace, isPlaintext: Bool) throws -> NewDatabaseFile {
        let path = place.path
        guard !path.isEmpty, !path.utf8.contains(0), path != ":memory:" else {
            throw DatabaseFileError(.unsafeFile(.notARegularFile), path: path)
        }
        let names = NewFileNames(path: path)
        if place.name == nil && !place.replaces {
            guard try SystemFile.status(path) == nil else {
                NewDatabaseFile.removeLeftovers(names)
                throw DatabaseFileError(.exists, path: path)
            }
            try NewDatabaseFile.checkIsAlone(path)
        }
        try SystemFile.checkIsWritable(directoryOf: path)
        if isPlaintext { try FolderSafety(owner: nil).check(directoryOf: path) }
        let note = try NewDatabaseFile.take(names, path)
        do {
            let run = RunIdentifier.random()
            let file = NewDatabaseFile(
                place, file: try note.makeCopy(names, run, for: place), run, note: note)
            try FailPoint.copyCreated.pass(path)
            return file
        } catch {
            try? note.remove()
            throw error
        }
    }

    private init(_ place: NewFilePlace, file: HeldFile, _ run: RunIdentifier, note: NoteFile) {
        self.place = place
        self.run = run
        path = place.path
        self.file = file
        self.note = note
    }

    deinit {
        guard !isPublished else { return }
        file.removeName(file.path)
        try? note.remove()
    }

    private static func take(_ names: NewFileNames, _ path: String) throws(DatabaseFileError) -> NoteFile {
        do throws(DatabaseFileError) {
            return try NoteFile.take(names.lock, next: names.nextLock)
        } catch {
            throw DatabaseFileError(
                error.reason, path: error.reason == .unsafeFile(.foreignNote) ? error.path : path)
        }
    }

    /// What a file that had this name before has left would be played back into the new one by the first
    /// program that opens it, and destroy it.
    ///
    /// - Throws: `exists` with the path of a journal or a log that is not empty.
    private static func checkIsAlone(_ path: String) throws(DatabaseFileError) {
        // With a name that is as long as names can be, there is no file of such a name.
        for name in ["\(path)-journal", "\(path)-wal"] where SystemFile.name(of: name).utf8.count <= 255 {
            guard let status = try SystemFile.status(name), !status.isRegular || status.size > 0 else {
                continue
            }
            throw DatabaseFileError(.exists, path: name)
        }
    }

    /// Removes what an interrupted run has left of the making of a file, or of putting it in the place of
    /// another one.
    ///
    /// - Throws: `busy` while a run works.
    static func removeLeftovers(of path: String) throws {
        let names = NewFileNames(path: path)
        guard try !NewFileNames.leftovers(of: path).isEmpty else { return }
        let note = try NewDatabaseFile.take(names, path)
        try note.removeCopy(names)
        try note.removeKeptNames(of: path)
        try note.remove()
    }

    /// Takes back the second name that a file got from a run which did not come to replace it.
    static func removeKeptNames(of path: String) throws {
        let names = NewFileNames(path: path)
        guard NoteFile.read(names.lock)?.keepOldPath != nil else { return }
        let note = try NewDatabaseFile.take(names, path)
        try note.removeKeptNames(of: path)
        // Its run has come to its end right now.
        if !note.wasLeft { try note.remove() }
    }

    /// What is beside a file that is complete, of a run that was interrupted at its very end.
    private static func removeLeftovers(_ names: NewFileNames) {
        guard (try? SystemFile.status(names.lock)) != nil,
            let note = try? NoteFile.take(names.lock, next: names.nextLock)
        else { return }
        try? note.removeCopy(names)
        try? note.remove()
    }

    /// Brings the file to the disk and gives it its name.
    ///
    /// - Returns: the path that it has.
    /// - Throws: `exists` if there is something at the path by now.
    @discardableResult
    consuming func published() throws -> String {
        let path = try place.name?(file.read(at: 0, count: 16)) ?? path
        try file.synchronize()
        try FailPoint.copySynchronized.pass(path)
        try file.checkName(file.path, attributes: file.ownAttributes)
        try NewDatabaseFile.checkIsAlone(path)
        // No other connection begins to use it before its name is permanent: it may lose it again. On file
        // systems without locks, SQLite does not use it either.
        file.lock()
        try SystemFile.renameExclusively(file.path, to: path)
        do {
            guard try file.hasName(path) else { throw DatabaseFileError(.unsafeFile(.replaced), path: path) }
            try FailPoint.renamed.pass(path)
            try SystemFile.synchronize(directoryOf: path)
            try FailPoint.directorySynchronized.pass(path)
        } catch {
            // The caller does not know of it.
            file.removeName(path)
            file.spoil()
            throw error
        }
        isPublished = true
        file.unlock()
        // A note that stays is nobody's, and goes the next time.
        try? note.remove()
        return path
    }

    /// Brings the file to the disk, and puts it in the place of another one in one step.
    ///
    /// - Parameters:
    ///   - attributes: what it is to have; nil where nothing has the name.
    ///   - setAside: gives the old file another name; returns nil where there is none.
    ///   - audit: called with the file in its place. When it throws, the file has its place all the same.
    consuming func published(
        _ attributes: FileAttributes?, setAside: (RestoredFileNames) throws -> AsideFile?,
        audit: () throws -> Void
    ) throws {
        let attributes = attributes ?? file.ownAttributes
        try file.apply(attributes)
        try file.synchronize()
        try FailPoint.copySynchronized.pass(path)
        let (note, run) = (note, run)
        let names = RestoredFileNames(merged: NewFileNames(path: path).merged(run)) { kept in
            var content = ReplacementNote(nil, id: run, step: "publish")
            content.keepOldPath = kept
            try note.write(content)
        }
        guard var aside = try setAside(names) else {
            try file.checkName(file.path, attributes: attributes)
            try NewDatabaseFile.checkIsAlone(path)
            try SystemFile.renameExclusively(file.path, to: path)
            isPublished = true
            return try complete(nil, audit)
        }
        try aside.checkIsUnused()
        try file.checkName(file.path, attributes: attributes)
        try SystemFile.rename(file.path, to: path)
        isPublished = true
        aside.didReplace()
        try complete(aside, audit)
    }

    private func complete(_ aside: consuming AsideFile?, _ audit: () throws -> Void) throws {
        do {
            try FailPoint.renamed.pass(path)
            try SystemFile.synchronize(directoryOf: path)
            try FailPoint.directorySynchronized.pass(path)
            guard try file.hasName(path) else { throw DatabaseFileError(.unsafeFile(.replaced), path: path) }
            try aside?.checkWasUnused()
            try audit()
            try FailPoint.audited.pass(path)
        } catch {
            guard var error = DatabaseFileError.publicError(error, path: path) as? DatabaseFileError else {
                throw error
            }
            error.isPublished = true
            throw error
        }
        // A note that stays is nobody's, and goes the next time.
        try? note.remove()
    }
}

/// What a file that takes the place of another one keeps beside it, and notes.
struct RestoredFileNames {
    /// A copy of the old file with the pages of its log.
    let merged: String
    /// Notes the name that the old file is about to get.
    let note: (_ kept: String) throws -> Void
}

/// Where a new file goes.
struct NewFilePlace {
    /// The path of the file; or what stands for all files that are named when they are complete, where
    /// ``name`` does that. Who makes one at the same place next removes what an interrupted run has left
    /// there.
    let path: String

    /// The path of a file, from its first bytes.
    var name: ((_ start: [UInt8]) throws -> String)?

    /// Whether there may be a file at the path, whose place the new one takes.
    var replaces = false
}

extension NoteFile {
    /// Removes what an interrupted run has left, and makes the file of this one.
    fileprivate func makeCopy(_ names: NewFileNames, _ run: RunIdentifier, for place: NewFilePlace) throws
        -> HeldFile
    {
        try removeCopy(names)
        try removeKeptNames(of: place.path)
        // The run that had the note before may have come to its end.
        guard try place.name != nil || place.replaces || SystemFile.status(place.path) == nil else {
            throw DatabaseFileError(.exists, path: place.path)
        }
        // The number is on the disk before there is a file of that number.
        try write(ReplacementNote(nil, id: run, step: "copy"))
        return try HeldFile(creating: names.temporary(run))
    }

    /// Removes the file that this note names.
    fileprivate func removeCopy(_ names: NewFileNames) throws(DatabaseFileError) {
        guard let id = previous.flatMap({ RunIdentifier($0.id) }) else { return }
        try SystemFile.remove(names.temporary(id))
        try SystemFile.remove(names.merged(id))
    }

    /// Removes the other names that a file in its place, and what is beside it, got from a run that did not
    /// come to replace it.
    fileprivate func removeKeptNames(of path: String) throws(DatabaseFileError) {
        guard let kept = previous?.keepOldPath else { return }
        // Where the kept name has another file, the run had replaced the old one: its log or journal is that
        // of the kept file, and stays there.
        if let file = try SystemFile.status(kept), try SystemFile.status(path)?.isSameFile(as: file) != true {
            return
        }
        for ending in ["-wal", "-journal", ""] {
            guard let status = try SystemFile.status(path + ending), status.isRegular else { continue }
            try KeptName.remove(kept + ending, of: status, at: path + ending)
        }
    }
}

extension SystemFile {
    /// Gives a file another name, which must be free.
    fileprivate static func renameExclusively(_ path: String, to newPath: String) throws(DatabaseFileError) {
        let code = ExclusiveRenaming.rename(path, to: newPath)
        switch code {
        case 0: return
        case EEXIST: throw DatabaseFileError(.exists, path: newPath)
        // The system, the file system or a sandbox does not have the call.
        case ENOSYS, EINVAL, EPERM, EOPNOTSUPP: break
        default: throw failure("renameat2", newPath, errno: code)
        }
        do throws(DatabaseFileError) {
            // A second name refuses to replace what is there; renaming would not.
            try link(path, to: newPath)
            try remove(path)
        } catch {
            guard case .inputOutput("link", let code) = error.reason,
                [EPERM, EOPNOTSUPP, ENOSYS, EMLINK].contains(code)
            else {
                throw error
            }
            try renameOverOwnFile(path, to: newPath)
        }
    }

    /// For file systems without second names: an empty file of ours takes the name first.
    private static func renameOverOwnFile(_ path: String, to newPath: String) throws(DatabaseFileError) {
        _ = try FileDescriptor.create(newPath, mode: 0o600)
        do throws(DatabaseFileError) {
            try rename(path, to: newPath)
        } catch {
            try remove(newPath)
            throw error
        }
    }
}
