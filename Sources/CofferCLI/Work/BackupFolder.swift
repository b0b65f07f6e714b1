internal import Coffer
internal import Foundation
internal import Glibc
internal import SystemCalls

/// A folder of dated backups, from which outdated ones are removed.
struct BackupFolder {
    private let path: String
    private let database: DatabaseFile
    private let retention: DatabaseFile.BackupRetention
    private let cipher: CipherSettings

    /// Throws, before a backup is made, if it is not safe to remove files from the folder.
    init(_ path: String, of source: String, _ retention: DatabaseFile.BackupRetention, cipher: CipherSettings)
        throws
    {
        self.path = path
        database = DatabaseFile(path: source)
        self.retention = retention
        self.cipher = cipher
        _ = try database.backupPruning(in: path, keeping: .init(years: 9999))
    }

    /// Throws if a new folder of this name would have the place of a file of SQLite or Coffer, such as a
    /// keyring.
    static func checkName(_ path: String) throws(Failure) {
        if !NewFile.exists(path) { try NewFile.checkName(path.withoutEndingSlashes) }
    }

    /// Returns the folder above a missing one. Throws if it is missing too: it may be on a disk that is not
    /// mounted.
    static func parent(of path: String) throws(Failure) -> String {
        let parent = FileNames.folder(of: path.withoutEndingSlashes)
        guard NewFile.exists(parent) else {
            throw Failure(
                .inputMissing, "missing",
                "The folder '\(path)' does not exist, and '\(parent)' does not either: mkdir -p \(path)"
            ).about(path)
        }
        return parent
    }

    /// Creates a folder that only this user can open, and syncs its name to the disk.
    ///
    /// - Returns: false if another process has created it.
    static func make(_ path: String) throws(Failure) -> Bool {
        do throws(Errno) {
            try systemCall("mkdir") { unsafe mkdir(path, 0o700) }
            try Descriptor.synchronizeFolder(of: path.withoutEndingSlashes)
            return true
        } catch {
            if error.code == EEXIST, (try? FileStatus(path, followsLinks: true).isDirectory) == true {
                return false
            }
            throw Failure(error, "The folder '\(path)' cannot be created", denied: .outputExists).about(path)
        }
    }

    static func removeIfEmpty(_ path: String) { _ = unsafe rmdir(path) }

    func prune(keys: [DatabaseKey], isDryRun: Bool, in session: Session, _ trail: AuditTrail) throws
        -> ExitStatus
    {
        let pruning = try database.backupPruning(
            in: path, keeping: retention, planned: isDryRun ? .now : nil, keys: keys, cipher: cipher)
        for backup in pruning.future {
            session.reporter.warning(
                "\(backup.path): is dated in the future, so it is kept and not counted. Check the clock.")
        }
        let dates = pruning.kept.map(\.date) + (isDryRun ? [.now] : [])
        for (backup, next) in zip(pruning.kept, dates.dropFirst())
        where DatabaseFile.BackupRetention.isGap(from: backup.date, to: next) {
            session.reporter.warning(
                "\(backup.path): is kept, with the backups before it that --keep allows, because the "
                    + "next one is more than two years younger: a clock may have been wrong. If not, "
                    + "remove them.")
        }
        for (backup, reason) in pruning.unproved {
            session.reporter.warning("\(backup.path): is kept and not counted: \(reason).")
        }
        for path in pruning.strayKeyrings {
            session.reporter.warning(
                "\(path): is kept, but its backup is missing. If that backup does not exist "
                    + "elsewhere, remove this keyring.")
        }
        var removed: [String] = []
        // Oldest first: after an interruption, the younger backups are still there.
        var status = ExitStatus.done
        if isDryRun {
            removed = pruning.outdated.map(\.path)
        } else {
            let backups = Dictionary(uniqueKeysWithValues: pruning.outdated.map { ($0.path, $0) })
            status = try session.forEach(pruning.outdated.map(\.path)) { path in
                guard let backup = backups[path] else { return }
                do {
                    try trail.record(path) { _ in
                        try database.removeBackup(backup, keys: keys, cipher: cipher)
                        return true
                    }
                    removed.append(path)
                } catch let error as DatabaseFileError {
                    guard case .busy = error.reason else { throw error }
                    // In use, for example by a program that transfers the backups. The next run removes it.
                    session.reporter.warning("\(path): is kept for now. \(error.localizedDescription)")
                }
            }
        }
        let kept = pruning.kept.count + (isDryRun ? 1 : 0)
        let counts = "\(counted: kept, "backup") kept"
        let lines = removed.map { "  \(isDryRun ? "would be removed" : "removed"): \($0)" }
        session.reporter.result(
            [
                "path": path, "dry_run": isDryRun, "changed": !isDryRun && !removed.isEmpty, "kept": kept,
                "removed": removed, "unproved": pruning.unproved.map(\.backup.path),
                "future": pruning.future.map(\.path), "stray_keyrings": pruning.strayKeyrings,
                "code": status.rawValue,
            ],
            text: [
                "\(path): \(counts), "
                    + "\(isDryRun ? "\(removed.count) would be removed" : "\(removed.count) removed")"
            ] + lines, isAnswer: isDryRun)
        return status
    }
}

extension String {
    fileprivate var withoutEndingSlashes: String {
        let end = unicodeScalars.lastIndex { $0 != "/" }.map(unicodeScalars.index(after:)) ?? endIndex
        return String(unicodeScalars[..<end])
    }
}
