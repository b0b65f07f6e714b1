internal import SQLCipherBridge

internal import Glibc
internal import SystemCalls

/// The place of a database that a backup is restored to, with any file that is there now. A database in use
/// is refused. One that is damaged, has another key, or is not a database at all gets another name, together
/// with its log or journal.
///
/// The engine never opens the old file: it often cannot, exactly when a restore is needed. The log is
/// processed in its stored form instead: see ``setAside(_:_:)``.
struct RestoredPlace {
    let path: String
    /// The absolute path at which the old file is to be kept.
    let keptPath: String
    private let timeout: Double
    /// The path of the keyring of which the kept file gets a copy.
    private let keyring: String?
    /// Nil if there is no file.
    private let old: FileStatus?
    private let attributes: FileAttributes?

    private static let companions = ["-wal", "-journal"]

    /// Examines the place.
    ///
    /// - Parameters:
    ///   - keepOldPath: nil for a name next to the file that contains the time.
    ///   - keepsKeyring: true if the kept file gets a copy of the file's keyring.
    init(_ path: String, keepOldPath: String?, keepsKeyring: Bool, timeout: Double) throws(DatabaseFileError)
    {
        self.timeout = timeout
        guard !path.isEmpty, !path.utf8.contains(0) else { throw DatabaseFileError(.missing, path: path) }
        guard try SystemFile.status(SystemFile.directory(of: path), followsLinks: true) != nil else {
            throw DatabaseFileError(.missing, path: SystemFile.directory(of: path))
        }
        let path = try SystemFile.withoutLinks(path)
        self.path = path
        try ReplacementNames.checkIsNoCompanion(path)
        keyring = keepsKeyring ? "\(path).keys" : nil
        keptPath = try SystemFile.absolute(keepOldPath ?? "\(path).replaced-\(BackupTime.now.text)")
        guard SystemFile.name(of: keptPath).utf8.count + 8 <= 255 else {
            throw DatabaseFileError(.pathTooLong, path: keptPath)
        }
        try ReplacementNames.checkCanKeep(keptPath, of: SystemFile.absolute(path))
        try SystemFile.checkIsWritable(directoryOf: path)
        guard try SystemFile.status(path) != nil else {
            (old, attributes) = (nil, nil)
            return
        }
        let status = try SystemFile.regularFile(path)
        try SystemFile.checkIsNoMountPoint(path)
        let attributes = try FileAttributes(toKeepOf: path, status: status)
        try FolderSafety(owner: status.userID).check(directoryOf: path)
        guard try SystemFile.statusOfDirectory(of: keptPath).device == status.device else {
            throw DatabaseFileError(
                .unsupported("The old file can only be kept on the same file system."), path: keptPath)
        }
        (old, self.attributes) = (status, attributes)
    }

    var isOccupied: Bool { old != nil }

    /// The path of the old file after it was set aside. If only its log or journal was left, the path of that
    /// file.
    var keptFile: String? {
        let names = isOccupied ? [keptPath] : RestoredPlace.companions.map { keptPath + $0 }
        return names.first { (try? SystemFile.status($0)) != nil }
    }

    /// Throws if another process has the file open, or if the name for the old file is taken.
    func checkIsFree() throws(DatabaseFileError) {
        let endings = [""] + RestoredPlace.companions + (keyring == nil ? [] : [".keys"])
        let names = try isKeptNameLeft() ? [] : endings.map { keptPath + $0 }
        for name in names where try SystemFile.status(name) != nil {
            throw DatabaseFileError(.exists, path: name)
        }
        // The files next to the database will be removed, which would fail for a directory.
        for name in ReplacementNames.companions(of: path) {
            guard try SystemFile.status(name)?.isRegular ?? true else {
                throw DatabaseFileError(.unsafeFile(.notARegularFile), path: name)
            }
        }
        if let old { try FileUsers.waitForNone(of: old, path, timeout: timeout) }
    }

    /// Returns true if a killed run gave the old file the name that it is to get, and did not restore the
    /// database. The next run removes that name when it begins.
    private func isKeptNameLeft() throws(DatabaseFileError) -> Bool {
        guard let old, let note = NoteFile.read(NewFileNames(path: path).lock), note.keepOldPath == keptPath
        else { return false }
        if let kept = try SystemFile.status(keptPath), kept.isSameFile(as: old) { return true }
        if try LeftKeptKeyring(note, of: path) != nil { return true }
        return try LeftOldFile(note, of: path)?.paths.contains(keptPath) ?? false
    }

    /// Throws if the backup is the file itself.
    func checkIsNot(_ backup: String) throws(DatabaseFileError) {
        guard let old, let status = try SystemFile.status(backup, followsLinks: true),
            status.isSameFile(as: old)
        else { return }
        throw DatabaseFileError(.unsupported("The backup and the database are the same file."), path: path)
    }

    /// Copies a backup to a file next to the place, proves the copy, and puts it in the place in one step.
    ///
    /// - Parameter audit: called with the copy in its place, before the restore is complete.
    func fill(_ content: ContentFile, from backup: ConnectionHandle, audit: (ContentFile.Made) throws -> Void)
        throws -> ContentFile.Made
    {
        let file = try NewDatabaseFile.begin(
            NewFilePlace(path: path, replaces: true), isPlaintext: content.protection.ring == nil)
        try checkIsFree()
        // They have the content of the old file, and the copy of a decryption is readable without a key.
        try InterruptedRuns(path: path).removeCopies { _ in true }
        var made = try content.make(from: backup, in: file.file, path)
        made.path = path
        try content.progress(.publishing, 0, of: 1)
        do {
            try file.published(
                attributes, setAside: { try setAside($0, content.progress) }, audit: { try audit(made) })
        } catch var error as DatabaseFileError where error.isPublished {
            error.keptOldPath = keptFile
            throw error
        }
        return made
    }
}

// MARK: - The old file

extension RestoredPlace {
    /// Gives the old file its other name, and removes the log and the journal next to it. After each step,
    /// the place still has the complete old database.
    ///
    /// A log next to the new file would be replayed into it. Without its log, the old file would be in an
    /// older state, or unusable. So if there is a log or a journal, the old file is first replaced by a copy
    /// that contains its pages already, so that replaying it has no effect. Then the log or journal is
    /// removed. Pages are copied in their stored form, so no key is needed. The other name leads to the
    /// unchanged old file, with its unchanged log or journal.
    private func setAside(_ names: RestoredFileNames, _ progress: ProgressReport) throws -> AsideFile? {
        let companions = try RestoredPlace.companions.compactMap { ending in
            try SystemFile.status(path + ending).map { (ending: ending, status: $0) }
        }
        guard companions.allSatisfy({ $0.status.isRegular }) else {
            throw DatabaseFileError(.unsafeFile(.notARegularFile), path: path)
        }
        guard let old else {
            try names.note { $0.keepOldPath = keptPath }
            try keep(companions)
            if !companions.isEmpty { try removeOrphans(companions) }
            return nil
        }
        let merged = try merge(companions, names.merged, progress)
        let lock = try RestoredPlace.lock(path, old)
        try checkIsAsBefore(old, companions)
        let digest = try keyring.map(KeptKeyring.digest)
        let mergedStatus = try merged?.status()
        try names.note { note in
            note.keepOldPath = keptPath
            note.original = old.identity
            note.keyringDigest = digest
            note.merged = mergedStatus?.identity
            note.originalModified = old.modified
            note.mergedModified = mergedStatus?.modified
        }
        let keyring = try KeptKeyring(copying: keyring, beside: keptPath, through: names.keyring)
        let kept = try KeptName.give(keptPath, to: old, at: path)
        var aside = AsideFile(
            old: old, logs: companions.map(\.status.identity), path: path, keptPath: keptPath, merged: merged,
            kept: kept, keyring: keyring, lock: lock)
        try keep(companions)
        try FailPoint.oldKept.pass(path)
        if let merged {
            guard merged.lock() else { throw DatabaseFileError(.busy([]), path: path) }
            try merged.takeName(attributes: attributes ?? merged.ownAttributes)
            try SystemFile.rename(merged.path, to: path)
            aside.didMerge()
            try SystemFile.synchronize(directoryOf: path)
            try FailPoint.journalLeft.pass(path)
        }
        try removeCompanions()
        try FailPoint.locked.pass(path)
        return aside
    }

    /// Removes the log and the journal of a file that no longer exists.
    ///
    /// Another process could create a file of this name at any moment, and a log next to it. So a locked
    /// placeholder has the name while they are removed: a process that opens it waits, and finds no database
    /// in it.
    private func removeOrphans(_ companions: [(ending: String, status: FileStatus)]) throws {
        try HeldFile.whilePlaceholderHasName(path) {
            try FailPoint.locked.pass(path)
            try checkCompanions(are: companions)
            try removeCompanions()
        }
    }

    /// Returns a copy of the old file merged with the pages of its log or journal, if it has any.
    private func merge(
        _ companions: [(ending: String, status: FileStatus)], _ name: String, _ progress: ProgressReport
    ) throws -> HeldFile? {
        guard let old, old.size > 0,
            let pageSize = try companions.lazy.compactMap({ try sidePageSize($0.ending, $0.status) }).first,
            let view = try? StoredView(path, pageSize: pageSize, timeout: timeout),
            view.overlaidPageCount > 0 || view.size != old.size
        else { return nil }
        let file = try HeldFile(creating: name)
        do {
            var offset: Int64 = 0
            while offset < view.size {
                let part = try view.read(at: offset, count: Int(min(1 << 18, view.size - offset)))
                guard !part.isEmpty else {
                    throw DatabaseFileError(.inputOutput(call: "pread", errno: EIO), path: path)
                }
                try file.writer.write(part, at: offset)
                offset += Int64(part.count)
                try progress(.publishing, Int(offset / Int64(pageSize)), of: view.pageCount)
            }
            if let attributes { try file.apply(attributes) }
            try file.synchronize()
            return file
        } catch {
            file.removeName(name)
            throw error
        }
    }

    /// Returns the page size in the header of a log or a journal; nil if it cannot contain pages.
    private func sidePageSize(_ ending: String, _ status: FileStatus) throws -> Int? {
        guard status.size > 32 else { return nil }
        // The page size is the third number in a log's header, and the seventh in a journal's.
        let start = ending == "-wal" ? 8 : 24
        let header: [UInt8]
        do throws(DatabaseFileError) {
            header = try FileDescriptor.openNote(path + ending, forWriting: false).read(at: 0, count: 28)
        } catch {
            // Another process has just closed the database.
            guard case .inputOutput(_, ENOENT) = error.reason else { throw error }
            throw DatabaseFileError(.busy([]), path: path)
        }
        guard header.count == 28 else { return nil }
        let size = header[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
        return DatabaseHeader.isPageSize(size) ? size : nil
    }

    /// Keeps other processes from starting to use the file: they find it busy. The files next to it are moved
    /// and removed only under this lock.
    private static func lock(_ path: String, _ old: FileStatus) throws(DatabaseFileError) -> FileDescriptor {
        try FileUsers.checkIsNotOpenHere(old, path)
        let file = try FileDescriptor.open(path, forWriting: true)
        guard try file.status().isSameFile(as: old) else {
            throw DatabaseFileError(.unsafeFile(.replaced), path: path)
        }
        guard file.lockAsDatabase() else {
            throw FileUsers.busy(old, path)
        }
        return file
    }

    /// Throws if the file, its log, or its journal has changed since it was examined, or if another process
    /// has opened it.
    private func checkIsAsBefore(_ old: FileStatus, _ companions: [(ending: String, status: FileStatus)])
        throws(DatabaseFileError)
    {
        try FileUsers.checkIsNotOpenHere(old, path)
        let users = try FileUsers.others(of: old)
        guard users.isEmpty else { throw DatabaseFileError(.busy(users), path: path) }
        guard let now = try SystemFile.status(path), now.isSameFile(as: old) else {
            throw DatabaseFileError(.unsafeFile(.replaced), path: path)
        }
        guard now.size == old.size, now.modified == old.modified else {
            throw DatabaseFileError(.busy([]), path: path)
        }
        try checkCompanions(are: companions)
    }

    private func checkCompanions(are companions: [(ending: String, status: FileStatus)])
        throws(DatabaseFileError)
    {
        for ending in RestoredPlace.companions {
            let known = companions.first { $0.ending == ending }?.status
            let now = try SystemFile.status(path + ending)
            guard now?.identity == known?.identity, now?.size == known?.size, now?.modified == known?.modified
            else {
                throw DatabaseFileError(.busy([]), path: path)
            }
        }
    }

    /// Links the log and the journal next to the kept file.
    private func keep(_ companions: [(ending: String, status: FileStatus)]) throws(DatabaseFileError) {
        for companion in companions where companion.status.size > 0 {
            try SystemFile.link(path + companion.ending, to: keptPath + companion.ending)
        }
        try SystemFile.synchronize(directoryOf: keptPath)
    }

    private func removeCompanions() throws(DatabaseFileError) {
        for name in ReplacementNames.companions(of: path) { try SystemFile.remove(name) }
        try SystemFile.synchronize(directoryOf: path)
    }
}

/// The old file while the new one takes its place. Destroying this value removes the other names of the file,
/// the log and the journal, unless the file has been replaced.
struct AsideFile: ~Copyable {
    private enum State {
        /// The old file has both names.
        case linked
        /// The other name is the only name of the old file, and the merged copy has the place.
        case merged
        /// The new file has the place.
        case replaced
    }

    fileprivate let old: FileStatus
    private let logs: [FileIdentity]
    fileprivate let path: String
    fileprivate let keptPath: String
    fileprivate let merged: HeldFile?
    fileprivate var kept: KeptName
    private var keyring: KeptKeyring
    fileprivate let lock: FileDescriptor
    private var state = State.linked

    fileprivate init(
        old: FileStatus, logs: [FileIdentity], path: String, keptPath: String, merged: HeldFile?,
        kept: consuming KeptName, keyring: consuming KeptKeyring, lock: consuming FileDescriptor
    ) {
        self.old = old
        self.logs = logs
        self.path = path
        self.keptPath = keptPath
        self.merged = merged
        self.kept = kept
        self.keyring = keyring
        self.lock = lock
    }

    deinit {
        if let merged { merged.removeName(merged.path) }
        switch state {
        case .linked:
            // A log or journal that still has its first name loses the other one.
            for ending in ["-wal", "-journal"] {
                guard let status = try? SystemFile.status(path + ending) else { continue }
                _ = try? KeptName.remove(keptPath + ending, of: status, at: path + ending)
            }
        case .merged: removeOld()
        case .replaced: break
        }
    }

    /// Removes the old file, its log, and its keyring. The merged copy has all its content, and its name is
    /// permanent first. If a step fails, the next run finds the rest by the note.
    private func removeOld() {
        do {
            guard let merged, try merged.hasName(path) else { return }
            try SystemFile.synchronizeAtFailure(directoryOf: path)
            for ending in ["-wal", "-journal"] {
                let name = keptPath + ending
                guard let status = try SystemFile.status(name), logs.contains(status.identity) else {
                    continue
                }
                try SystemFile.remove(name)
            }
            keyring.remove()
            guard try SystemFile.status(keptPath)?.isSameFile(as: old) == true else { return }
            try SystemFile.remove(keptPath)
            try spoilOld()
        } catch {}
    }

    /// Notes that the other name is now the only name of the old file.
    fileprivate mutating func didMerge() {
        kept.keep()
        keyring.keep()
        state = .merged
    }

    /// Throws if another process has opened the file: it would write into a file without a name.
    func checkIsUnused() throws(DatabaseFileError) {
        var users = try FileUsers.others(of: old)
        if let merged { users += try FileUsers.others(of: merged.status()) }
        guard users.isEmpty else { throw DatabaseFileError(.busy(users), path: path) }
        for name in ["\(path)-wal", "\(path)-journal"] where try SystemFile.status(name) != nil {
            throw DatabaseFileError(.busy([]), path: path)
        }
    }

    /// Notes that the new file has the place.
    mutating func didReplace() {
        didMerge()
        state = .replaced
    }

    /// Makes the merged copy unusable once it has permanently lost its name. A process that waits for its
    /// lock must not use it as the database. The copy is not needed: the kept log has its pages.
    func spoilMergedCopy() { merged?.spoil() }

    /// Gives the name of the kept file to a copy of it if another process may have the old file itself open,
    /// such as one of another container: it would use the log of the new file, which has the name. The old
    /// file is made unusable then.
    ///
    /// If this fails, for example because the disk is full, the kept name leads to the old file.
    ///
    /// - Parameter name: the path of the copy until it is complete.
    func separateKept(through name: String) {
        guard !lock.isOnlyDescriptor(), let copy = try? HeldFile(creating: name) else { return }
        do {
            let status = try SystemFile.regularFile(keptPath)
            guard status.isSameFile(as: old) else {
                throw DatabaseFileError(.unsafeFile(.replaced), path: keptPath)
            }
            try copy.fill(size: status.size) { try lock.read(at: $0, count: $1) }
            try copy.apply(FileAttributes(toKeepOf: keptPath, status: status))
            try copy.synchronize()
            try FailPoint.oldCopied.pass(path)
            try SystemFile.rename(name, to: keptPath)
            try SystemFile.synchronize(directoryOf: keptPath)
            try spoilOld()
        } catch {
            copy.removeName(name)
        }
    }

    /// Makes the old file unusable once it has no name: a process that waits for its lock must not use it as
    /// the database.
    private func spoilOld() throws {
        guard try lock.status().linkCount == 0 else { return }
        try lock.writer.write((0..<512).map { _ in UInt8.random(in: 0...255) }, at: 0)
    }

    /// Throws if another process has the old file open and waits for it.
    func checkWasUnused() throws(DatabaseFileError) {
        let users = try FileUsers.others(of: old)
        guard users.isEmpty else { throw DatabaseFileError(.busy(users), path: path) }
    }
}
