public import Foundation

internal import SQLCipherBridge
internal import SystemCalls

extension DatabaseFile {
    /// A backup in a folder, under the name that ``backup(into:key:newKey:options:progress:)`` gave it.
    public struct DatedBackup: Sendable, Hashable {
        public let path: String

        /// The time at which the backup began.
        public var date: Date { name.time.date }

        let name: BackupName

        /// The time in the name, such as `20261122T214512.345Z`.
        package var timeText: String { name.time.text }

        /// The name of the database that was copied.
        package var databaseName: String { name.database.name }

        /// Eight digits that stand for the path of that database.
        package var databasePlace: String { name.database.place }

        /// Returns the reason why the file is not proved to be a backup that was made under its name; nil if
        /// it is. No key is needed.
        ///
        /// - Parameter owner: a user whose files count, like those of this user and of the superuser.
        package func objection(owner: UInt32?) throws -> String? {
            guard let status = try SystemFile.status(path) else { return "it no longer exists" }
            guard status.isRegular else { return "it is not a regular file" }
            guard status.isOwn || status.userID == 0 || status.userID == owner else {
                return "it belongs to another user"
            }
            guard status.size > 0 else { return "it is empty" }
            guard let file = try? FileDescriptor.openNote(path, forWriting: false) else {
                return "it cannot be read"
            }
            return try name.isMatched(by: ReadFile(file)) ? nil : "its salt does not match its name"
        }
    }

    /// The backups of a folder, divided into kept and outdated ones.
    public struct BackupPruning: Sendable, Hashable {
        /// The backups that the retention keeps.
        public var kept: [DatedBackup] = []

        /// The backups that it does not keep, oldest first. Each is proved to be a backup that was made under
        /// its name, or that was given another salt later.
        public var outdated: [DatedBackup] = []

        /// The files that have the name of a backup but are not proved to be one, or that are open in this
        /// process, with the reasons in words. They stay, and do not count as kept backups.
        public var unproved: [(backup: DatedBackup, reason: String)] {
            reasons.map { ($0.backup, $0.reason) }
        }

        /// The paths of keyrings whose backups of this file do not exist: such a backup is being made, or was
        /// moved or removed without its keyring. They stay.
        public var strayKeyrings: [String] = []

        /// The backups with a date in the future: a clock was or is wrong. They stay, and do not count as
        /// kept backups.
        public var future: [DatedBackup] = []

        fileprivate var reasons: [Unproved] = []

        fileprivate struct Unproved: Sendable, Hashable {
            let backup: DatedBackup
            let reason: String
        }
    }

    /// Copies the file into a folder of backups, as ``backup(to:key:newKey:options:progress:)`` does, under a
    /// name that contains the date.
    ///
    /// The name consists of the file's name, the time in UTC, the first digits of the salt, and eight digits
    /// that stand for the path of the file, such as `vault.db.20261122T214512.345Z-9f3c2a1b-77aa01c2.backup`.
    /// Names sort by time, and are unique. Leftovers of a crash are removed by the next backup of a file of
    /// this name into the folder.
    ///
    /// ```swift
    /// let made = try vault.backup(into: folder, key: key)
    /// for old in try vault.backupPruning(in: folder, keeping: .init(days: 7, weeks: 4)).outdated {
    ///     try vault.removeBackup(old)
    /// }
    /// print(made.path)
    /// ```
    /// - Parameters:
    ///   - folder: the folder for the backup. It may hold backups of many files, even of files with the same
    ///     name.
    ///   - key: the key of the file; nil for a file without encryption.
    ///   - newKey: the key of the backup; nil for the file's key.
    ///   - progress: called with the number of completed pages; throws to end the backup.
    /// - Returns: the result with its proof. ``ConversionResult/path`` is the path of the backup, which has
    ///   been synced.
    /// - Throws: a ``DatabaseFileError``: `missing` if the folder does not exist, `busy` if another process
    ///   is backing up a file of this name into it.
    @discardableResult
    public func backup(
        into folder: String, key: DatabaseKey?, newKey: DatabaseKey? = nil,
        options: ConversionOptions = ConversionOptions(),
        progress: ProgressFunction? = nil
    ) throws -> ConversionResult {
        try removeLeftKeyrings(in: folder)
        return try perform(
            .datedBackup(in: folder, key, newKey: newKey), options: options, progress: progress)
    }

    /// Makes a backup, proves it, and passes it on in pieces, such as into a pipe. No file is left.
    ///
    /// Until then, the copy is in a file without a name, which no other process can open. The first piece is
    /// passed on when the complete copy is proved. A reader of the pieces can check with the page count in
    /// the file that it has received all of them: see ``verify(key:options:progress:)``.
    ///
    /// - Parameters:
    ///   - folder: a folder with room for the temporary copy.
    ///   - key: the key of the file; nil for a file without encryption.
    ///   - newKey: the key of the backup; nil for the file's key.
    ///   - progress: called with the number of completed pages; throws to end the backup.
    ///   - write: called with one piece after the other; throws to end the backup.
    /// - Returns: the result with its proof, and an empty path.
    /// - Throws: a ``DatabaseFileError``, or an error of `write`.
    @discardableResult
    public func backup(
        through folder: String, key: DatabaseKey?, newKey: DatabaseKey? = nil,
        options: ConversionOptions = ConversionOptions(),
        progress: ProgressFunction? = nil, writing write: @escaping @Sendable ([UInt8]) throws -> Void
    ) throws -> ConversionResult {
        try perform(
            .streamedBackup(in: folder, key, newKey: newKey, write: write), options: options,
            progress: progress)
    }

    /// Returns the backups of this file in a folder, identified by their names, oldest first. Other files are
    /// ignored.
    ///
    /// The names distinguish them from backups of a file of the same name in another directory. A file that
    /// was moved starts without backups.
    public func backups(in folder: String) throws -> [DatedBackup] {
        try BackupName.checkIsFolder(folder)
        let origin = try DatabaseFileError.translated(path) { try BackupOrigin(path) }
        return try DatabaseFile.backups(in: folder) { BackupName($0, of: origin) }
    }

    /// Returns the backups of all databases in a folder, identified by their names, oldest first.
    package static func allBackups(in folder: String) throws -> [DatedBackup] {
        try BackupName.checkIsFolder(folder)
        return try backups(in: folder) { BackupName($0) }
    }

    /// Returns true if a file name has the form of the names that dated backups get.
    package static func isNameOfDatedBackup(_ name: String) -> Bool { BackupName(name) != nil }

    private static func backups(in folder: String, _ name: (String) -> BackupName?) throws -> [DatedBackup] {
        let start = folder.ends(inBytesOf: "/") ? folder : folder + "/"
        return try SystemFile.names(in: folder).compactMap(name)
            .sorted { ($0.time, $0.start, $0.database.name) < ($1.time, $1.start, $1.database.name) }
            .map { DatedBackup(path: "\(start)\($0.text)", name: $0) }
    }

    private func strayKeyrings(in folder: String) throws -> [String] {
        let origin = try DatabaseFileError.translated(path) { try BackupOrigin(path) }
        return try StrayKeyring.all(of: origin, in: folder).map(\.path).sorted()
    }

    /// Determines which backups of this file in a folder are outdated. Nothing is removed.
    ///
    /// A file counts as a backup, to keep or to remove, if three conditions hold. Its name is one that a
    /// backup of this file gets. It is a regular file of this user with only this name. And its salt matches
    /// the first digits in the name, so that backups with a discarded key can be removed without that key.
    /// A file with another salt that one of `keys` opens may be a copy of an older backup: it is removed when
    /// the backups that count make it outdated. Any other file stays, regardless of its name. Neither is ever
    /// a reason to remove a backup. The pages are not verified: see ``verify(key:options:progress:)``.
    ///
    /// - Parameters:
    ///   - retention: the backups to keep, in addition to the newest one.
    ///   - planned: the time of a backup that does not exist yet, and is kept.
    ///   - keys: tried on files with a different salt, such as files whose key was rotated.
    ///   - cipher: the cipher settings of these files.
    /// - Throws: a ``DatabaseFileError``: `unsafeFile(.sharedDirectory)` if other users may rename files in
    ///   the folder.
    public func backupPruning(
        in folder: String, keeping retention: BackupRetention, planned: Date? = nil, keys: [DatabaseKey] = [],
        cipher: CipherSettings = CipherSettings()
    ) throws -> BackupPruning {
        let all = try backups(in: folder)
        try DatabaseFile.checkIsSafe(backupFolder: folder, owner: nil)
        let now = BackupTime.now
        let (proof, proofBySalt) = (BackupProof(keys, cipher), BackupProof([], cipher))
        var result = BackupPruning()
        result.future = all.filter { $0.name.time > now }
        var past: [DatedBackup] = []
        var rotated: [BackupPruning.Unproved] = []
        for backup in all where backup.name.time <= now {
            switch try proofBySalt.objection(to: backup, toBeRemoved: false) {
            case nil: past.append(backup)
            case .isGone: break
            case let objection?:
                if let other = try proof.objection(to: backup, toBeRemoved: false) {
                    result.reasons.append(.init(backup: backup, reason: other.words))
                } else {
                    rotated.append(.init(backup: backup, reason: objection.words))
                }
            }
        }
        let plannedTime = planned.map { BackupTime(milliseconds: Int($0.timeIntervalSince1970 * 1000)) }
        result.strayKeyrings = try strayKeyrings(in: folder)
        let counted = past.map(\.name.time) + (plannedTime.map { [$0] } ?? [])
        let times = retention.kept(counted)
        result.kept = past.filter { times.contains($0.name.time) }
        var candidates = past.filter { !times.contains($0.name.time) }
        for file in rotated {
            // Each is compared with the backups that count, and not with the other files.
            let time = file.backup.name.time
            if retention.kept(counted + [time]).contains(time) {
                result.reasons.append(file)
            } else {
                candidates.append(file.backup)
            }
        }
        for backup in candidates.sorted(by: { $0.name.time < $1.name.time }) {
            if let objection = try proof.objection(to: backup) {
                result.reasons.append(.init(backup: backup, reason: objection.words))
            } else {
                result.outdated.append(backup)
            }
        }
        return result
    }

    /// Throws if other users can rename files in a folder of backups, so that names prove nothing.
    ///
    /// - Parameter owner: a user who may own the folder, like this user and the superuser.
    /// - Throws: a ``DatabaseFileError``: `unsafeFile(.sharedDirectory)`.
    package static func checkIsSafe(backupFolder folder: String, owner: UInt32?) throws {
        try FolderSafety(owner: owner).check(directoryOf: "\(folder)/backup")
    }

    /// Removes a backup that ``backupPruning(in:keeping:planned:keys:cipher:)`` has found outdated, after it
    /// is proved again to be one.
    ///
    /// - Parameters:
    ///   - keys: as for the pruning.
    ///   - cipher: as for the pruning.
    /// - Throws: a ``DatabaseFileError``: `busy` while another process has it open, `unsupported` if it is no
    ///   longer proved to be a backup. If the backup no longer exists, nothing is thrown.
    public func removeBackup(
        _ backup: DatedBackup, keys: [DatabaseKey] = [], cipher: CipherSettings = CipherSettings()
    ) throws {
        try StrayKeyring.removeBackups(
            of: backup.name.database, in: SystemFile.directory(of: backup.path))
        let objection = try BackupProof(keys, cipher).objection(to: backup) {
            let keyring = KeyringFile(path: "\(backup.path).keys")
            // A file of that name that is not a keyring stays.
            guard (try? keyring.document()) != nil else { return try SystemFile.remove(backup.path) }
            try LeftKeyrings.removeNotes(ofKeyring: keyring.path)
            // Removes both in one step: a keyring without its backup would look like one whose backup was
            // moved.
            try SystemFile.rename(backup.path, to: keyring.path)
            try FailPoint.renamed.pass(backup.path)
            try SystemFile.remove(keyring.path)
        }
        switch objection {
        case nil: break
        case .isGone: return
        case .isOpen(let users): throw DatabaseFileError(.busy(users), path: backup.path)
        case .isNone(let words):
            throw DatabaseFileError(.unsupported("The backup was not removed: \(words)."), path: backup.path)
        }
        try SystemFile.synchronize(directoryOf: backup.path)
    }
}

/// A proof that a file in a folder of backups was made there.
private struct BackupProof {
    private let keys: [DatabaseKey]
    private let cipher: CipherSettings

    init(_ keys: [DatabaseKey], _ cipher: CipherSettings) {
        self.keys = keys
        self.cipher = cipher
    }

    /// The reason why a file is not proved to be a backup.
    enum Objection {
        case isGone
        case isOpen([DatabaseFileError.FileUser])
        case isNone(String)

        var words: String {
            switch self {
            case .isGone: "it no longer exists"
            case .isOpen(let users) where users.isEmpty: "another process has it open"
            case .isOpen(let users):
                "process \(users.map { String($0.processID) }.joined(separator: ", ")) has it open"
            case .isNone(let words): words
            }
        }
    }

    /// Returns nil for a file that is proved to be a backup.
    ///
    /// - Parameters:
    ///   - toBeRemoved: whether to object if another process has the file open.
    ///   - body: called if the file is proved.
    func objection(
        to backup: DatabaseFile.DatedBackup, toBeRemoved: Bool = true, whenProved body: () throws -> Void = {}
    ) throws -> Objection? {
        guard let status = try SystemFile.status(backup.path) else { return .isGone }
        guard status.isRegular else { return .isNone("it is not a regular file") }
        guard status.linkCount == 1 else { return .isNone("it has other names (hard links)") }
        guard status.isOwn else { return .isNone("it belongs to another user") }
        for companion in ["-wal", "-journal"] where try SystemFile.status(backup.path + companion) != nil {
            return .isNone(
                "a program has written to it: '\(SystemFile.name(of: backup.path))\(companion)' exists")
        }
        // Closing any descriptor of a file releases the locks that this process has on it.
        guard try FileUsers.ownDescriptorCount(of: status) == 0 else {
            return .isOpen([FileUsers.thisProcess])
        }
        if let objection = try objection(to: backup, status) { return objection }
        if toBeRemoved, let users = try users(of: status, backup.path) { return .isOpen(users) }
        // Checks that the file was neither replaced nor written to since it was proved.
        guard try SystemFile.status(backup.path) == status else { return .isNone("it was replaced") }
        try body()
        return nil
    }

    /// Returns an objection to the content. The file is closed at the end, because the kernel cannot report
    /// other users of a file that this process has open.
    private func objection(to backup: DatabaseFile.DatedBackup, _ status: FileStatus) throws -> Objection? {
        let file: ReadFile
        do {
            file = ReadFile(try FileDescriptor.openNote(backup.path, forWriting: false))
        } catch {
            return .isNone("it cannot be read")
        }
        guard try file.file.status().isSameFile(as: status) else { return .isNone("it was replaced") }
        guard try isMade(under: backup.name, file) else {
            return .isNone(
                "its salt does not match its name" + (keys.isEmpty ? "" : ", and the key does not open it")
            )
        }
        return nil
    }

    /// Returns the known users of a file that is open; nil if no process has it open.
    private func users(of status: FileStatus, _ path: String) throws(DatabaseFileError)
        -> [DatabaseFileError.FileUser]?
    {
        do throws(DatabaseFileError) {
            try FileUsers.waitForNone(of: status, path, timeout: 0)
            return nil
        } catch {
            guard case .busy(let users) = error.reason else { throw error }
            return users
        }
    }

    private func isMade(under name: BackupName, _ file: ReadFile) throws -> Bool {
        if try name.isMatched(by: file) { return true }
        return try keys.contains { key in
            do {
                return try FileProtection.encrypted(key, cipher: cipher).opens(viewing: file)
            } catch is EngineError {
                return false
            }
        }
    }
}

extension BackupName {
    /// Returns true if a file begins with the bytes that the name states.
    fileprivate func isMatched(by file: ReadFile) throws -> Bool {
        let start = try file.read(at: 0, count: 16)
        return start.count == 16 && BackupName(database: database, time: time, start: start) == self
    }
}
