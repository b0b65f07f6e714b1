internal import SQLCipherBridge

internal import Glibc
internal import SystemCalls

/// A database file under construction. It is written under another name in the same directory, and gets its
/// own name once it is complete.
///
/// No other process sees a partial file under the final name, and no existing file is overwritten. If the
/// file is not published, it is removed at the end of this value's life. A crash leaves the temporary file
/// and a note that names it. They contain nothing that the final file would not, and are removed when the
/// same file is made the next time.
struct NewDatabaseFile: ~Copyable {
    let path: String
    private let place: NewFilePlace

    /// The file until it is published: empty at first, and readable by its owner only.
    let file: HeldFile

    private let note: NoteFile
    private let run: RunIdentifier
    private var isPublished = false

    static func begin(path: String, isPlaintext: Bool) throws -> NewDatabaseFile {
        try begin(NewFilePlace(path: path), isPlaintext: isPlaintext)
    }

    /// - Parameter isPlaintext: whether the content is readable without a key. If so, the file is not created
    ///   in a directory in which others may rename files.
    /// - Throws: `exists` if the path is taken, `busy` if another process is making the same file.
    static func begin(_ place: NewFilePlace, isPlaintext: Bool) throws -> NewDatabaseFile {
        let path = place.path
        guard !path.isEmpty, !path.utf8.contains(0), path != ":memory:" else {
            throw DatabaseFileError(.unsafeFile(.notARegularFile), path: path)
        }
        let names = NewFileNames(path: path)
        if place.name == nil && !place.replaces {
            if !place.isOfKeyring { try ReplacementNames.checkIsNoCompanion(path) }
            guard try SystemFile.status(path) == nil else {
                if place.isOfKeyring {
                    // The note shows that the keyring is new.
                    try? removeSecondNames(of: path)
                } else {
                    NewDatabaseFile.removeLeftovers(names, path)
                }
                throw DatabaseFileError(.exists, path: path)
            }
            try NewDatabaseFile.checkIsAlone(path)
        }
        try SystemFile.checkIsWritable(directoryOf: path)
        if isPlaintext { try FolderSafety(owner: nil).check(directoryOf: path) }
        let note = try NewDatabaseFile.take(names, path).cleared(of: path)
        do {
            let run = RunIdentifier.random()
            let file = NewDatabaseFile(
                place, file: try note.makeCopy(names, run, for: place, isPlaintext), run, note: note)
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
        // The next run needs the note, and this file, to find files that could not be removed.
        do {
            let names = NewFileNames(path: path)
            let left = NoteFile.read(names.lock)
            if let old = try? LeftOldFile(left, of: path),
                try !old.paths.isEmpty || LeftKeptKeyring(left, of: path) != nil
            {
                return
            }
            file.removeName(file.path)
            guard try !file.hasName(file.path) else { return }
            try names.removeCopiesOfOld(run)
            guard try LeftKeptKeyring(left, of: path) == nil else { return }
            try note.remove()
        } catch {}
    }

    private static func take(_ names: NewFileNames, _ path: String) throws(DatabaseFileError) -> TakenNote {
        do throws(DatabaseFileError) {
            return try names.takeNote()
        } catch {
            throw DatabaseFileError(
                error.reason, path: error.reason == .unsafeFile(.foreignNote) ? error.path : path)
        }
    }

    /// Refuses a path next to the journal or log of an earlier file of this name: the first program that
    /// opens the new file would replay it into the file and destroy it.
    ///
    /// - Throws: `exists` with the path of a journal or a log that is not empty.
    static func checkIsAlone(_ path: String) throws(DatabaseFileError) {
        // A name longer than 255 bytes cannot exist.
        for name in ["\(path)-journal", "\(path)-wal"] where SystemFile.name(of: name).utf8.count <= 255 {
            guard let status = try SystemFile.status(name), !status.isRegular || status.size > 0 else {
                continue
            }
            throw DatabaseFileError(.exists, path: name)
        }
    }

    /// Removes the files that an interrupted run left while it made a file, or put it in the place of another
    /// one.
    ///
    /// - Throws: `busy` while a run is active.
    static func removeLeftovers(of path: String) throws {
        let names = NewFileNames(path: path)
        guard try !NewFileNames.leftovers(of: path).isEmpty else { return }
        try NewDatabaseFile.take(names, path).cleared(of: path).remove()
    }

    /// Removes the second name that a file got from a run that ended before it replaced the file, and the
    /// temporary name of a file that has its place, if a power loss interrupted the renaming.
    ///
    /// - Parameter prepare: called with the note of the interrupted run before, while no run is active.
    /// - Throws: `busy` while a run is active.
    static func removeSecondNames(of path: String, prepare: (ReplacementNote?) throws -> Void = { _ in })
        throws
    {
        let names = NewFileNames(path: path)
        guard NoteFile.read(names.lock) != nil else { return }
        let note = try NewDatabaseFile.take(names, path)
        try prepare(note.previous)
        try note.previous?.removeKeptNames(of: path)
        try note.previous?.removeTemporaryNames(names, of: path)
    }

    /// Removes the second name of a file and the copy of its keyring if a killed restore has left them.
    ///
    /// Called before the file is replaced: afterwards, nothing shows that they are not needed.
    static func removeKeptNames(of path: String) throws {
        guard NoteFile.read(NewFileNames(path: path).lock)?.keepOldPath != nil else { return }
        try removeSecondNames(of: path)
    }

    /// Does the same, and removes the copy that a killed decryption has left, which is readable without a
    /// key, unless the file is to be decrypted again. Before a rotation or an encryption it also removes the
    /// other files that killed runs have left: they have the former key, or none.
    static func removeLeftovers(before operation: ReplacementOperation, of path: String) throws {
        try removeKeptNames(of: path)
        let changesKey = operation == .rotate || operation == .encrypt
        try InterruptedRuns(path: path).removeCopies {
            $0 != operation && (changesKey || $0 == .decrypt)
        }
        guard changesKey else { return }
        do {
            try removeLeftovers(of: path)
        } catch let error as DatabaseFileError {
            // The files of an active run are not leftovers.
            guard case .busy = error.reason else { throw error }
        }
    }

    /// Removes the leftovers of a run that was interrupted at its very end, when its file was already
    /// complete.
    private static func removeLeftovers(_ names: NewFileNames, _ path: String) {
        guard (try? SystemFile.status(names.lock)) != nil else { return }
        try? names.takeNote().cleared(of: path).remove()
    }

    /// Syncs the file and gives it its name.
    ///
    /// - Parameter keepsNote: true to leave the note for the next run.
    /// - Returns: the final path.
    /// - Throws: `exists` if the path has been taken since.
    @discardableResult
    consuming func published(keepingNote keepsNote: Bool = false) throws -> String {
        let path = try place.name?(file.read(at: 0, count: 16)) ?? path
        try file.synchronize()
        try FailPoint.copySynchronized.pass(path)
        try file.takeName(attributes: file.ownAttributes)
        try NewDatabaseFile.checkIsAlone(path)
        // No other connection may use the file before its name is permanent, as the file may lose the name
        // again. On file systems without locks, SQLite cannot use the file either.
        file.lock()
        try SystemFile.renameExclusively(file.path, to: path)
        do {
            guard try file.hasName(path) else { throw DatabaseFileError(.unsafeFile(.replaced), path: path) }
            try FailPoint.renamed.pass(path)
            try SystemFile.synchronize(directoryOf: path)
            try FailPoint.directorySynchronized.pass(path)
        } catch {
            // For the caller the file does not exist.
            file.removeName(path)
            file.spoil()
            throw error
        }
        isPublished = true
        file.unlock()
        // A note that cannot be removed now belongs to no run, and is removed the next time.
        if !keepsNote { try? note.remove() }
        return path
    }

    /// Syncs the file, and puts it in the place of another one in one step.
    ///
    /// - Parameters:
    ///   - attributes: the attributes for the file; nil if the path is free.
    ///   - setAside: gives the old file another name; returns nil if there is no old file.
    ///   - audit: called with the file in its place. If it throws, the file keeps its place.
    consuming func published(
        _ attributes: FileAttributes?, setAside: (RestoredFileNames) throws -> AsideFile?,
        audit: () throws -> Void
    ) throws {
        let aside = try replaceOld(attributes, setAside)
        try complete(aside, audit)
    }

    /// Puts the file in its place, and returns the old file.
    private mutating func replaceOld(
        _ attributes: FileAttributes?, _ setAside: (RestoredFileNames) throws -> AsideFile?
    ) throws -> AsideFile? {
        let attributes = attributes ?? file.ownAttributes
        try file.apply(attributes)
        try file.synchronize()
        try FailPoint.copySynchronized.pass(path)
        let (note, run) = (note, run)
        let (merged, keyring) = (NewFileNames(path: path).merged(run), NewFileNames(path: path).keyring(run))
        let names = RestoredFileNames(merged: merged, keyring: keyring) { change in
            var content = ReplacementNote(nil, id: run, step: "publish")
            change(&content)
            try note.write(content)
        }
        guard var aside = try setAside(names) else {
            try file.takeName(attributes: attributes)
            try NewDatabaseFile.checkIsAlone(path)
            try SystemFile.renameExclusively(file.path, to: path)
            isPublished = true
            return nil
        }
        try aside.checkIsUnused()
        try file.takeName(attributes: attributes)
        try SystemFile.rename(file.path, to: path)
        isPublished = true
        aside.didReplace()
        return aside
    }

    private func complete(_ aside: consuming AsideFile?, _ audit: () throws -> Void) throws {
        do {
            do {
                // Not before the sync: a loss of power may give the merged copy its name back.
                defer { aside?.spoilMergedCopy() }
                try FailPoint.renamed.pass(path)
                try SystemFile.synchronize(directoryOf: path)
            }
            try FailPoint.directorySynchronized.pass(path)
            guard try file.hasName(path) else { throw DatabaseFileError(.unsafeFile(.replaced), path: path) }
            aside?.separateKept(through: NewFileNames(path: path).merged(run))
            try aside?.checkWasUnused()
            try audit()
            try FailPoint.audited.pass(path)
        } catch {
            throw DatabaseFileError.published(error, path: path)
        }
        // A note that cannot be removed now belongs to no run, and is removed the next time.
        try? note.remove()
    }
}

extension DatabaseFile {
    /// Throws if there is a journal or log that may belong to an earlier database at this path.
    ///
    /// - Throws: `exists` with the path of that file.
    package func checkIsAlone() throws { try NewDatabaseFile.checkIsAlone(path) }
}

/// The names and the note that a file needs while it takes the place of another one.
struct RestoredFileNames {
    /// A copy of the old file with the pages of its log.
    let merged: String
    /// The copy of the keyring for the old file, until it is complete.
    let keyring: String
    /// Writes a note with facts about the old file, before it gets its other name.
    let note: (_ change: (inout ReplacementNote) -> Void) throws -> Void
}

/// The path of a new file.
struct NewFilePlace {
    /// The path of the file. If ``name`` is set, only a placeholder that all such files share: the next run
    /// with the same path removes the leftovers of an interrupted one.
    let path: String

    /// Returns the path of the file for its first bytes.
    var name: ((_ start: [UInt8]) throws -> String)?

    /// True if the new file may replace a file at the path.
    var replaces = false

    /// True if the new file is the keyring of the database to which its name belongs.
    var isOfKeyring = false

    /// The step in the note of a run that creates a keyring.
    static let stepOfKeyring = "keyring"
}

extension TakenNote {
    /// Removes the leftovers of a run that made a file at a path, and returns the note for a new one.
    fileprivate consuming func cleared(of path: String) throws -> NoteFile {
        try cleared { try $0.removeKeptNames(of: path) }
    }
}

extension NoteFile {
    /// Creates the file of a run.
    fileprivate func makeCopy(
        _ names: NewFileNames, _ run: RunIdentifier, for place: NewFilePlace, _ isPlaintext: Bool
    ) throws -> HeldFile {
        // The run that had the note before may have completed.
        guard try place.name != nil || place.replaces || SystemFile.status(place.path) == nil else {
            throw DatabaseFileError(.exists, path: place.path)
        }
        // The identifier is on disk before there is a file of that name.
        let step = place.isOfKeyring ? NewFilePlace.stepOfKeyring : "copy"
        try write(ReplacementNote(nil, id: run, step: step))
        return try makeCopy(names.temporary(run), isPlaintext: isPlaintext)
    }
}

extension ReplacementNote {
    /// Removes the temporary names that this note names, if they lead to the file at a path.
    fileprivate func removeTemporaryNames(_ names: NewFileNames, of path: String) throws(DatabaseFileError) {
        guard let run = RunIdentifier(id), let file = try SystemFile.status(path) else { return }
        for name in [names.temporary(run), names.merged(run)]
        where try SystemFile.status(name)?.isSameFile(as: file) == true {
            try SystemFile.remove(name)
        }
    }

    /// Removes the other names of the file at a path, and of its log and journal, that they got from a run
    /// that ended before it replaced the file.
    fileprivate func removeKeptNames(of path: String) throws(DatabaseFileError) {
        guard let kept = keepOldPath else { return }
        let keyring = try LeftKeptKeyring(self, of: path)
        if let old = try LeftOldFile(self, of: path) {
            if let keyring { try SystemFile.remove(keyring.path) }
            return try old.remove()
        }
        // If the kept name leads to another file, the run had replaced the old one. The log or journal there
        // belongs to the kept file, and stays.
        if let file = try SystemFile.status(kept), try SystemFile.status(path)?.isSameFile(as: file) != true {
            return
        }
        for ending in ["-wal", "-journal", ""] {
            guard let status = try SystemFile.status(path + ending), status.isRegular else { continue }
            try KeptName.remove(kept + ending, of: status, at: path + ending)
        }
        if let keyring { try SystemFile.remove(keyring.path) }
    }
}

extension SystemFile {
    /// Gives a file another name, which must be free.
    fileprivate static func renameExclusively(_ path: String, to newPath: String) throws(DatabaseFileError) {
        let code = ExclusiveRenaming.rename(path, to: newPath)
        switch code {
        case 0: return
        case EEXIST: throw DatabaseFileError(.exists, path: newPath)
        // The system, the file system, or a sandbox does not support the call.
        case ENOSYS, EINVAL, EPERM, EOPNOTSUPP: break
        default: throw failure("renameat2", newPath, errno: code)
        }
        do throws(DatabaseFileError) {
            // Linking fails if the name is taken; renaming would replace the file there.
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

    /// Renames a file on a file system without hard links: an empty file of this process takes the name
    /// first.
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
