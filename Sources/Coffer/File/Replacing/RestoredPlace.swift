internal import SQLCipherBridge

internal import Glibc

/// The place of a database into which a backup comes, whatever is there: a database in use is refused, and
/// one that is damaged, has another key or is no database at all gets another name, with the log or the
/// journal that belongs to it.
///
/// The old file is never opened by the engine, which could not open it when it is needed most. What has to
/// happen to its log is done on the stored pages: see ``setAside(_:_:)``.
struct RestoredPlace {
    let path: String
    /// Where the old file is to be: absolute.
    let keptPath: String
    private let timeout: Double
    /// Nil where there is nothing.
    private let old: FileStatus?
    private let attributes: FileAttributes?

    private static let companions = ["-wal", "-journal"]

    /// Looks at what is there.
    ///
    /// - Parameter keepOldPath: nil for a name beside the file, with the time.
    init(_ path: String, keepOldPath: String?, timeout: Double) throws(DatabaseFileError) {
        self.timeout = timeout
        guard !path.isEmpty, !path.utf8.contains(0) else { throw DatabaseFileError(.missing, path: path) }
        guard try SystemFile.status(SystemFile.directory(of: path), followsLinks: true) != nil else {
            throw DatabaseFileError(.missing, path: SystemFile.directory(of: path))
        }
        self.path = path
        keptPath = try SystemFile.absolute(keepOldPath ?? "\(path).replaced-\(BackupTime.now.text)")
        guard SystemFile.name(of: keptPath).utf8.count + 8 <= 255 else {
            throw DatabaseFileError(.pathTooLong, path: keptPath)
        }
        try SystemFile.checkIsWritable(directoryOf: path)
        guard try SystemFile.status(path) != nil else {
            (old, attributes) = (nil, nil)
            return
        }
        let status = try SystemFile.regularFile(path)
        try SystemFile.checkIsNoMountPoint(path)
        let attributes = try FileAttributes(of: path, status: status)
        guard attributes.canBeKeptByThisProcess else {
            throw DatabaseFileError(
                .unsafeFile(.owner(userID: status.userID, groupID: status.groupID)), path: path)
        }
        try FolderSafety(owner: status.userID).check(directoryOf: path)
        guard try SystemFile.statusOfDirectory(of: keptPath).device == status.device else {
            throw DatabaseFileError(
                .unsupported("The old file can be kept on the same file system only."), path: keptPath)
        }
        (old, self.attributes) = (status, attributes)
    }

    var isOccupied: Bool { old != nil }

    /// Where what was there is, once it is set aside: the file, or the log or journal of one that was gone.
    var keptFile: String? {
        let names = isOccupied ? [keptPath] : RestoredPlace.companions.map { keptPath + $0 }
        return names.first { (try? SystemFile.status($0)) != nil }
    }

    /// Fails where another process has the file open, or its new name is taken.
    func checkIsFree() throws(DatabaseFileError) {
        for name in [keptPath] + RestoredPlace.companions.map({ keptPath + $0 })
        where try SystemFile.status(name) != nil {
            throw DatabaseFileError(.exists, path: name)
        }
        // What is beside the file goes, and a directory would not.
        for name in ReplacementNames.companions(of: path) {
            guard try SystemFile.status(name)?.isRegular ?? true else {
                throw DatabaseFileError(.unsafeFile(.notARegularFile), path: name)
            }
        }
        if let old { try FileUsers.waitForNone(of: old, path, timeout: timeout) }
    }

    /// Fails where the backup is the file itself.
    func checkIsNot(_ backup: String) throws(DatabaseFileError) {
        guard let old, let status = try SystemFile.status(backup, followsLinks: true),
            status.isSameFile(as: old)
        else { return }
        throw DatabaseFileError(.unsupported("The backup and the database are the same file."), path: path)
    }

    /// Makes a copy of a backup beside the place, proves it, and puts it there in one step.
    ///
    /// - Parameter audit: called with the copy in its place, before it counts as done.
    func fill(_ content: ContentFile, from backup: ConnectionHandle, audit: (ContentFile.Made) throws -> Void)
        throws -> ContentFile.Made
    {
        let file = try NewDatabaseFile.begin(
            NewFilePlace(path: path, replaces: true), isPlaintext: content.protection.ring == nil)
        try checkIsFree()
        var made = try content.make(from: backup, in: file.file, path)
        made.path = path
        try content.progress(.publishing, 0, of: 1)
        try file.published(
            attributes, setAside: { try setAside($0, content.progress) }, audit: { try audit(made) })
        return made
    }
}

// MARK: - The old file

extension RestoredPlace {
    /// Gives the old file its other name, and takes away what lies beside it, in steps after each of which
    /// the place has the whole old database.
    ///
    /// A log that lies beside the new file would be played back into it. Without its log, the old file would
    /// be an older state, or none. So where there is one, the old file is first replaced by a copy that has
    /// its pages already, to which the log or the journal can be applied again without a difference; then it
    /// goes. Pages are copied as they are stored, for which no key is needed. What has the other name is the
    /// file as it was, with its log or journal as it was.
    private func setAside(_ names: RestoredFileNames, _ progress: ProgressReport) throws -> AsideFile? {
        let companions = try RestoredPlace.companions.compactMap { ending in
            try SystemFile.status(path + ending).map { (ending: ending, status: $0) }
        }
        guard companions.allSatisfy({ $0.status.isRegular }) else {
            throw DatabaseFileError(.unsafeFile(.notARegularFile), path: path)
        }
        guard let old else {
            try names.note(keptPath)
            try keep(companions)
            if !companions.isEmpty { try removeOrphans(companions) }
            return nil
        }
        let merged = try merge(companions, names.merged, progress)
        let lock = try RestoredPlace.lock(path, old)
        try checkIsAsBefore(old, companions)
        try names.note(keptPath)
        let kept = try KeptName.give(keptPath, to: old, at: path)
        var aside = AsideFile(
            old: old, path: path, keptPath: keptPath, merged: merged, kept: kept, lock: lock)
        try keep(companions)
        try FailPoint.oldKept.pass(path)
        if let merged {
            guard merged.lock() else { throw DatabaseFileError(.busy([]), path: path) }
            try merged.checkName(merged.path, attributes: attributes ?? merged.ownAttributes)
            try SystemFile.rename(merged.path, to: path)
            aside.didMerge()
            try SystemFile.synchronize(directoryOf: path)
            try FailPoint.journalLeft.pass(path)
        }
        try removeCompanions()
        try FailPoint.locked.pass(path)
        return aside
    }

    /// Removes the log and the journal of a file that is gone.
    ///
    /// Another process could make a file of this name at any moment, and a log next to it. So a file of ours
    /// has the name meanwhile, locked: a process that opens it waits, and finds no database in it.
    private func removeOrphans(_ companions: [(ending: String, status: FileStatus)]) throws {
        let placeholder = try HeldFile(creating: path)
        defer {
            placeholder.removeName(path)
            placeholder.spoil()
        }
        guard placeholder.lock() else { throw DatabaseFileError(.busy([]), path: path) }
        try FailPoint.locked.pass(path)
        try checkCompanions(are: companions)
        try removeCompanions()
    }

    /// The old file with the pages of its log or journal, where it has any.
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

    /// The page size that a log or a journal states; nil for one that no page could come from.
    private func sidePageSize(_ ending: String, _ status: FileStatus) throws -> Int? {
        guard status.size > 32 else { return nil }
        // The size is the third number of a log, and the seventh of a journal.
        let start = ending == "-wal" ? 8 : 24
        let header = try FileDescriptor.openNote(path + ending, forWriting: false).read(at: 0, count: 28)
        guard header.count == 28 else { return nil }
        let size = header[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
        return (512...65536).contains(size) && size.nonzeroBitCount == 1 ? size : nil
    }

    /// Keeps other processes from beginning to use the file: those who open it find it busy. What is next to
    /// the file is moved and removed under this lock only.
    private static func lock(_ path: String, _ old: FileStatus) throws(DatabaseFileError) -> FileDescriptor {
        let file = try FileDescriptor.open(path, forWriting: true)
        guard try file.status().isSameFile(as: old) else {
            throw DatabaseFileError(.unsafeFile(.replaced), path: path)
        }
        guard file.lockAsDatabase() else {
            throw DatabaseFileError(.busy(FileUsers.others(of: old)), path: path)
        }
        return file
    }

    /// Whether nobody has come since the file was looked at.
    private func checkIsAsBefore(_ old: FileStatus, _ companions: [(ending: String, status: FileStatus)])
        throws(DatabaseFileError)
    {
        let users = FileUsers.others(of: old)
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

    /// Gives the log and the journal the name of the kept file.
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

/// The old file as long as the new one takes its place. At the end of its life it loses its other name again,
/// unless the new file is there.
struct AsideFile: ~Copyable {
    fileprivate let old: FileStatus
    fileprivate let path: String
    fileprivate let keptPath: String
    fileprivate let merged: HeldFile?
    fileprivate var kept: KeptName
    fileprivate let lock: FileDescriptor
    private var stays = false

    fileprivate init(
        old: FileStatus, path: String, keptPath: String, merged: HeldFile?, kept: consuming KeptName,
        lock: consuming FileDescriptor
    ) {
        self.old = old
        self.path = path
        self.keptPath = keptPath
        self.merged = merged
        self.kept = kept
        self.lock = lock
    }

    deinit {
        if let merged { merged.removeName(merged.path) }
        guard !stays else { return }
        // What still has its first name loses the other one.
        for ending in ["-wal", "-journal"] {
            guard let status = try? SystemFile.status(path + ending) else { continue }
            _ = try? KeptName.remove(keptPath + ending, of: status, at: path + ending)
        }
    }

    /// From here on the old file has no other name.
    fileprivate mutating func didMerge() {
        kept.keep()
        stays = true
    }

    /// Whoever has opened the file meanwhile would write into one that has no name.
    func checkIsUnused() throws(DatabaseFileError) {
        var users = FileUsers.others(of: old)
        if let merged { users += FileUsers.others(of: try merged.status()) }
        guard users.isEmpty else { throw DatabaseFileError(.busy(users), path: path) }
        for name in ["\(path)-wal", "\(path)-journal"] where try SystemFile.status(name) != nil {
            throw DatabaseFileError(.busy([]), path: path)
        }
    }

    /// From here on the new file has the place.
    mutating func didReplace() {
        didMerge()
        // A process that waits for the lock must not take for the database what has no name any more: the
        // copy is nobody's, and its log has the pages.
        merged?.spoil()
    }

    /// Fails where another process waits for the old file.
    func checkWasUnused() throws(DatabaseFileError) {
        let users = FileUsers.others(of: old)
        guard users.isEmpty else { throw DatabaseFileError(.busy(users), path: path) }
    }
}
