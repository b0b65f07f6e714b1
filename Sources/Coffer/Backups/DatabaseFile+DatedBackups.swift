public import Foundation

internal import SQLCipherBridge

extension DatabaseFile {
    /// A backup in a folder, under the name that ``backup(into:key:newKey:options:progress:)`` has given it.
    public struct DatedBackup: Sendable, Hashable {
        public let path: String

        /// When it was begun.
        public var date: Date { Date(timeIntervalSince1970: Double(name.time.milliseconds) / 1000) }

        let name: BackupName
    }

    /// Which backups of a folder are kept, and which are not.
    public struct BackupPruning: Sendable, Hashable {
        /// What the retention keeps.
        public var kept: [DatedBackup] = []

        /// What it does not keep, and is proved to be a backup that was made under its name.
        public var outdated: [DatedBackup] = []

        /// What is not proved to be a backup, whatever its name is: with the reasons, in words. It stays, and
        /// takes no other one's place.
        public var unproved: [(backup: DatedBackup, reason: String)] {
            reasons.map { ($0.backup, $0.reason) }
        }

        /// The paths of keyrings whose backups of this file are not there: such a backup is being made, or
        /// was moved or removed without its keyring. They stay.
        public var strayKeyrings: [String] = []

        /// What is dated later than now: a clock was wrong, or is. It stays, and takes no other one's place.
        public var future: [DatedBackup] = []

        fileprivate var reasons: [Unproved] = []

        fileprivate struct Unproved: Sendable, Hashable {
            let backup: DatedBackup
            let reason: String
        }
    }

    /// Copies the file into a folder of backups, as ``backup(to:key:newKey:options:progress:)`` does, under a
    /// name with the date.
    ///
    /// Names are those of the file, with the time in UTC, the first digits of the salt, and eight digits that
    /// stand for the path of the file, such as `vault.db.20261122T214512.345Z-9f3c2a1b-77aa01c2.backup`. They
    /// sort by time, and one backup never has that of another one. What a crash leaves goes with the next
    /// backup of a file of this name into the folder.
    ///
    /// ```swift
    /// let made = try vault.backup(into: folder, key: key)
    /// for old in try vault.backupPruning(in: folder, keeping: .init(days: 7, weeks: 4)).outdated {
    ///     try vault.removeBackup(old)
    /// }
    /// print(made.path)
    /// ```
    /// - Parameters:
    ///   - folder: where the backup goes; one folder may hold those of many files, also of several that have
    ///     one name.
    ///   - key: the key of the file; nil for a file without encryption.
    ///   - newKey: the key of the backup; nil for that of the file.
    ///   - options: how it is done.
    ///   - progress: called with the pages that were done; throws to end it.
    /// - Returns: what was done and proved. ``ConversionResult/path`` is that of the backup, which is on the
    ///   disk to stay.
    /// - Throws: a ``DatabaseFileError``: `missing` when there is no such folder, `busy` when another process
    ///   backs up a file of this name into it.
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

    /// Makes a backup, proves it, and gives it out in pieces, such as into a pipe. No file stays.
    ///
    /// The copy is in a file without a name until then, which no other process can open. The first piece
    /// comes when all of the copy is proved. Who reads them knows by the number of pages in the file whether
    /// they were all: see ``verify(key:options:progress:)``.
    /// - Parameters:
    ///   - folder: where there is room for the copy meanwhile.
    ///   - key: the key of the file; nil for a file without encryption.
    ///   - newKey: the key of the backup; nil for that of the file.
    ///   - options: how it is done.
    ///   - progress: called with the pages that were done; throws to end it.
    ///   - write: called with one piece after the other. It throws to end it.
    /// - Returns: what was done and proved, with an empty path.
    /// - Throws: a ``DatabaseFileError``, or what `write` throws.
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

    /// The backups of this file in a folder, by their names, oldest first. What else is there is left out.
    ///
    /// The names distinguish them from those of a file of the same name in another directory. A file that was
    /// moved begins anew.
    public func backups(in folder: String) throws -> [DatedBackup] {
        try BackupName.checkIsFolder(folder)
        let origin = try DatabaseFileError.translated(path) { try BackupOrigin(path) }
        return try SystemFile.names(in: folder).compactMap { BackupName($0, of: origin) }
            .sorted { ($0.time, $0.start) < ($1.time, $1.start) }
            .map { DatedBackup(path: "\(folder == "/" ? "" : folder)/\($0.text)", name: $0) }
    }

    private func strayKeyrings(in folder: String) throws -> [String] {
        let origin = try DatabaseFileError.translated(path) { try BackupOrigin(path) }
        return try StrayKeyring.all(of: origin, in: folder).map(\.path).sorted()
    }

    /// Finds out which backups of this file in a folder are not to be kept. Nothing is removed.
    ///
    /// A file counts, as one to keep or one to remove, when three things hold: its name is one that a backup
    /// of this file gets; it is a regular file of this user with this one name; and its content proves it.
    /// The proof is its salt, of which the name has the first digits, so that backups with a key that was
    /// given up can go without it; or else that one of `keys` opens it. Everything else stays, whatever its
    /// name is, and is no reason to give up another one. Whether the pages are whole is not looked at: see
    /// ``verify(key:options:progress:)``.
    /// - Parameters:
    ///   - folder: where the backups are.
    ///   - retention: what is kept, besides the newest backup.
    ///   - planned: the moment of a backup that is not there yet, and is kept.
    ///   - keys: tried on files whose salt is another one, such as those whose key was rotated.
    ///   - cipher: the cipher settings of these files.
    /// - Throws: a ``DatabaseFileError``: `unsafeFile(.sharedDirectory)` where other users may rename files
    ///   in the folder.
    public func backupPruning(
        in folder: String, keeping retention: BackupRetention, planned: Date? = nil, keys: [DatabaseKey] = [],
        cipher: CipherSettings = CipherSettings()
    ) throws -> BackupPruning {
        let all = try backups(in: folder)
        try FolderSafety(owner: nil).check(directoryOf: "\(folder)/backup")
        let now = BackupTime.now
        let proof = BackupProof(keys, cipher)
        var result = BackupPruning()
        result.future = all.filter { $0.name.time > now }
        var past: [DatedBackup] = []
        for backup in all where backup.name.time <= now {
            switch try proof.objection(to: backup, toBeRemoved: false) {
            case nil: past.append(backup)
            case .isGone: break
            case let objection?: result.reasons.append(.init(backup: backup, reason: objection.words))
            }
        }
        let plannedTime = planned.map { BackupTime(milliseconds: Int64($0.timeIntervalSince1970 * 1000)) }
        result.strayKeyrings = try strayKeyrings(in: folder)
        let times = retention.kept(past.map(\.name.time) + (plannedTime.map { [$0] } ?? []))
        for backup in past {
            if times.contains(backup.name.time) {
                result.kept.append(backup)
            } else if let objection = try proof.objection(to: backup) {
                result.reasons.append(.init(backup: backup, reason: objection.words))
            } else {
                result.outdated.append(backup)
            }
        }
        return result
    }

    /// Removes a backup that ``backupPruning(in:keeping:planned:keys:cipher:)`` has found outdated, and
    /// proves once more that it is one.
    ///
    /// - Parameters:
    ///   - backup: one that the pruning has found.
    ///   - keys: as for the pruning.
    ///   - cipher: as for the pruning.
    /// - Throws: a ``DatabaseFileError``: `busy` while another process has it open, `unsupported` when it is
    ///   not proved any more. One that is gone already is no error.
    public func removeBackup(
        _ backup: DatedBackup, keys: [DatabaseKey] = [], cipher: CipherSettings = CipherSettings()
    ) throws {
        try StrayKeyring.removeBackups(
            of: backup.name.database, in: SystemFile.directory(of: backup.path))
        let objection = try BackupProof(keys, cipher).objection(to: backup) {
            let keyring = KeyringFile(path: "\(backup.path).keys")
            // A file of that name that is no keyring stays.
            guard (try? keyring.document()) != nil else { return try SystemFile.remove(backup.path) }
            try LeftKeyrings.removeNotes(ofKeyring: keyring.path)
            // Both in one step: a keyring without its backup would look like that of one that was moved.
            try SystemFile.rename(backup.path, to: keyring.path)
            try FailPoint.renamed.pass(backup.path)
            try SystemFile.remove(keyring.path)
        }
        switch objection {
        case nil: break
        case .isGone: return
        case .isOpen(let users): throw DatabaseFileError(.busy(users), path: backup.path)
        case .isNone(let words):
            throw DatabaseFileError(.unsupported("It is not removed: \(words)."), path: backup.path)
        }
        try SystemFile.synchronize(directoryOf: backup.path)
    }
}

/// Finds out whether a file in a folder of backups is one that was made there.
private struct BackupProof {
    private let keys: [DatabaseKey]
    private let cipher: CipherSettings

    init(_ keys: [DatabaseKey], _ cipher: CipherSettings) {
        self.keys = keys
        self.cipher = cipher
    }

    /// Why a file is not proved to be one.
    enum Objection {
        case isGone
        case isOpen([DatabaseFileError.FileUser])
        case isNone(String)

        var words: String {
            switch self {
            case .isGone: "it is gone"
            case .isOpen(let users) where users.isEmpty: "another process has it open"
            case .isOpen(let users):
                "process \(users.map { String($0.processID) }.joined(separator: ", ")) has it open"
            case .isNone(let words): words
            }
        }
    }

    /// Nil for a file that is proved to be one.
    ///
    /// - Parameters:
    ///   - toBeRemoved: whether no other process may have it open.
    ///   - body: called when it is.
    func objection(
        to backup: DatabaseFile.DatedBackup, toBeRemoved: Bool = true, whenProved body: () throws -> Void = {}
    ) throws -> Objection? {
        guard let status = try SystemFile.status(backup.path) else { return .isGone }
        guard status.isRegular else { return .isNone("it is no regular file") }
        guard status.linkCount == 1 else { return .isNone("it has other names (hard links)") }
        guard status.isOwn else { return .isNone("it belongs to another user") }
        for companion in ["-wal", "-journal"] where try SystemFile.status(backup.path + companion) != nil {
            return .isNone(
                "a program has written to it: '\(SystemFile.name(of: backup.path))\(companion)' is there")
        }
        if let objection = try objection(to: backup, status) { return objection }
        if toBeRemoved, let users = try users(of: status, backup.path) { return .isOpen(users) }
        // The same file, to which nobody has written since it was proved.
        guard try SystemFile.status(backup.path) == status else { return .isNone("it was replaced") }
        try body()
        return nil
    }

    /// What the content says. The file is closed at the end: the kernel could not say who else has it open.
    private func objection(to backup: DatabaseFile.DatedBackup, _ status: FileStatus) throws -> Objection? {
        let file: ReadFile
        do {
            file = try ReadFile(backup.path)
        } catch {
            return .isNone("it cannot be read")
        }
        guard try file.status().isSameFile(as: status) else { return .isNone("it was replaced") }
        guard try isMade(under: backup.name, file) else {
            return .isNone(
                "its salt is not the one of its name" + (keys.isEmpty ? "" : ", and the key does not open it")
            )
        }
        return nil
    }

    /// Those who have a file open, as far as they are known; nil if there are none.
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
        let start = try file.bytes(count: 16)
        guard start.count == 16 else { return false }
        if BackupName(database: name.database, time: name.time, start: start) == name { return true }
        return try keys.contains { key in
            do {
                return try FileProtection.encrypted(key, cipher: cipher).opens(viewing: file)
            } catch is EngineError {
                return false
            }
        }
    }
}

/// A file that is only read, and need not be a database. Neither a link is followed nor the other end of a
/// pipe waited for.
private final class ReadFile: StoredBytes {
    private let file: FileDescriptor

    init(_ path: String) throws(DatabaseFileError) {
        file = try FileDescriptor.openNote(path, forWriting: false)
    }

    var size: Int64 { (try? file.status().size) ?? 0 }

    func status() throws(DatabaseFileError) -> FileStatus { try file.status() }

    func bytes(count: Int) throws(DatabaseFileError) -> [UInt8] { try file.read(at: 0, count: count) }

    func read(at offset: Int64, into target: inout MutableSpan<UInt8>) throws -> Int {
        try file.read(at: offset, into: &target)
    }
}
