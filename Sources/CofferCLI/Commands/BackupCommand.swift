internal import ArgumentParser
internal import Coffer
internal import Foundation
internal import SystemCalls

struct BackupCommand: ChangingOperation, MeasuredOperation {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Copy a database into a new file, while it is in use.",
        usage: "coffer backup <source> (<destination> | --into <folder> | -) [options]",
        discussion: """
            The copy is a snapshot of the database, encrypted with the same key or a new one, and a fresh \
            salt. It gets its name only after it was read back and found equal. Never overwrites. To put a \
            backup back: coffer restore.

            With --into, names consist of the database, the time in UTC, the salt and the location of the \
            database, and sort by time. --keep removes older backups of this database once the new one is \
            proved and synced: 7d,4w,6m keeps the newest of each of the last seven days, four weeks and six \
            months that have one (also h for hours, y for years). Only files with such a name and matching \
            content count or are removed; other files are named and kept. A moved database starts a new \
            series.

            With -, the copy goes to the standard output once it is proved. Until then it is an unnamed file \
            in TMPDIR or /var/tmp.

            With --same-pages, the copy has the salt and the encrypted pages of the database, also in WAL \
            mode. Unmodified pages stay the same, so restic, rsync and file system snapshots store and send \
            little. The cost: anyone who sees several such backups learns which pages changed and when, \
            anyone who can write to them can mix their pages unnoticed, and all have the key of the \
            database. Refused for a database opened by its keyring, because its data key belongs to one \
            file.

            With --recipient, the copy gets its own key and a keyring next to it, which only the recipients' \
            identities open: you cannot read it afterwards. A copy of a file opened by its keyring gets a \
            keyring with the same slots.

            EXAMPLES
              coffer backup app.db /backup/app.db --key-file app.key
              coffer backup app.db safe.db --key-file app.key --new-key-file safe.key
              coffer backup app.db --into /backup --keep 7d,4w,6m --key-file app.key
              coffer backup app.db --into /backup --keep 7d,4w --recipient owner.pub
              coffer backup app.db - --key-file app.key | ssh safe 'cat > app.db'
            """)

    @Argument(help: "The database.", completion: .file())
    var source: String

    @Argument(help: "The file to create; - for the standard output.", completion: .file())
    var destination: String?

    @Option(
        help: ArgumentHelp("Create a file with the date in its name in this folder.", valueName: "folder"),
        completion: .directory)
    var into: String?

    @Option(
        help: ArgumentHelp(
            "The older backups to keep in the folder, such as 7d,4w,6m.", valueName: "numbers"),
        transform: DatabaseFile.BackupRetention.parsed)
    var keep: DatabaseFile.BackupRetention?

    @Flag(
        help: """
            Copy the encrypted pages unchanged, so that backups share them. \
            See its security cost above.
            """)
    var samePages = false

    @Flag(help: "Try the keys and show the plan; change nothing.")
    var dryRun = false

    @OptionGroup(title: "The key")
    var key: FileKeyOptions

    @OptionGroup(title: "The key of the copy, if different")
    var newKey: NewKeyOptions

    @OptionGroup(title: "The recipients of the copy")
    var recipients: RecipientOptions

    @OptionGroup(title: "The format of the files")
    var cipher: CipherOptions

    @OptionGroup(title: "The audit log")
    var audit: AuditOptions

    @OptionGroup(title: "Metrics")
    var metrics: MetricsOptions

    @OptionGroup(title: "Output and waiting")
    var output: OutputOptions

    func validate() throws {
        guard (destination == nil) != (into == nil) else {
            throw ValidationError(
                "Give either a destination for the copy, or --into and a folder.")
        }
        if keep != nil, into == nil {
            throw ValidationError("--keep needs dated backups in a folder. Give --into.")
        }
        if samePages, try newKey.isGiven {
            throw ValidationError(
                "--same-pages keeps the key of the database. Omit the new key.")
        }
        try recipients.checkFits(newKey)
        if recipients.isGiven {
            if samePages {
                throw ValidationError(
                    "--same-pages keeps the key of the database, but --recipient gives the copy another one.")
            }
            if destination == "-" {
                throw ValidationError(
                    "A copy for recipients has a keyring next to it. Give a file, or --into.")
            }
        }
        if let into { try FileNames.checkIsNoDash(into, "the folder") }
        if output.json, destination == "-", !dryRun {
            throw ValidationError("The backup and JSON cannot both go to the standard output.")
        }
    }

    var subject: String? { source }
    var measuredWork: RunMetrics.Work { .backup }
    var names: [String] { [source] + [destination ?? into].compactMap { $0 } }

    func runs(_ meter: RunMeter, _ status: ExitStatus) -> [(target: String, run: RunMetrics.Run)] {
        runs(meter, status, of: [source])
    }

    func run(in session: Session, _ trail: AuditTrail) throws -> ExitStatus {
        if destination == "-", !dryRun, OutputFile.output.isTerminal {
            throw Failure.usage(
                "The backup is binary, and a terminal could treat it as commands. Give a file or a pipe.")
        }
        if let destination, let status = try? FileStatus(destination, followsLinks: true), status.isDirectory
        {
            throw Failure(
                .outputExists, "directory",
                "'\(destination)' is a folder. For a backup with a dated name in it, give "
                    + "--into \(destination)."
            ).about(destination)
        }
        let new = try newKey.isGiven ? newKey.request(besides: key) : nil
        let folder = try keep.flatMap { keep in
            try into.map { try BackupFolder($0, of: source, keep, cipher: cipher.settings) }
        }
        let keys = try session.keys(key, of: source)
        let copyKey = try new.map { request throws(Failure) in
            try session.keys.key(request, subject: destination ?? into ?? "the copy")
        }
        return try keys.open(source, cipher: cipher.settings) { opening in
            let slots =
                copyKey == nil && !samePages && destination != "-"
                ? try recipients.slotsOfCopy(of: source, opening.key) : []
            if !slots.isEmpty {
                try copy(opening.database, slots, in: session, trail)
                return try folder?.prune(keys: [opening.database], isDryRun: dryRun, in: session, trail)
                    ?? .done
            }
            if !dryRun { try removeLeftKeyrings() }
            let work = work(opening.database, newKey: copyKey?.database, session.reporter)
            var conversion = Conversion(source, work, cipher: cipher.settings, in: session)
            conversion.options.keepsStoredPages = samePages
            conversion.keys = .changed(from: nil, to: copyKey ?? opening.key)
            try conversion.perform(isDryRun: dryRun, in: session, trail)
            let keys = [copyKey?.database, opening.database].compactMap { $0 }
            return try folder?.prune(keys: keys, isDryRun: dryRun, in: session, trail) ?? .done
        }
    }

    private func copy(
        _ key: DatabaseKey, _ slots: [DatabaseKeyring.NewSlot], in session: Session, _ trail: AuditTrail
    ) throws {
        func perform(_ work: DatabaseFile.Work, _ keyring: KeyringOfCopy?, tells: Bool) throws {
            var conversion = Conversion(source, work, cipher: cipher.settings, in: session)
            conversion.options.companion = keyring
            if tells { conversion.whenDone = { recipients.tell("\($0.path).keys", session) } }
            try conversion.perform(isDryRun: dryRun, in: session, trail)
        }
        if let into {
            let keyring = try KeyringOfCopy(slots, ofBackupOf: source, in: into)
            return try perform(.datedBackup(in: into, key, newKey: keyring.key), keyring, tells: true)
        }
        guard let destination else { return }
        try recipients.copying(to: destination, slots, isDryRun: dryRun, session) { copyKey, keyring in
            try perform(.backup(to: destination, key, newKey: copyKey), keyring, tells: false)
        }
    }

    /// Removes the keyrings that a killed backup has left, even if this backup has no keyring.
    private func removeLeftKeyrings() throws {
        if let into {
            try DatabaseFile(path: source).removeLeftKeyrings(in: into)
        } else if let destination, destination != "-" {
            // If anything is in the way, the backup itself reports it.
            try? DatabaseKeyring(databasePath: destination).removeLeft()
        }
    }

    private func work(_ key: DatabaseKey, newKey: DatabaseKey?, _ reporter: Reporter) -> DatabaseFile.Work {
        if let into { return .datedBackup(in: into, key, newKey: newKey) }
        guard let destination, destination != "-" else {
            return .streamedBackup(in: FileNames.temporaryFolder, key, newKey: newKey) { part in
                reporter.raw(bytes: part)
                if let lost = reporter.outputFailure { throw lost }
                if reporter.isOutputClosed {
                    throw Failure(
                        .inputOutput, "io",
                        "The output was closed early: the part that was read is not a backup.")
                }
            }
        }
        return .backup(to: destination, key, newKey: newKey)
    }
}

extension DatabaseFile.BackupRetention {
    static func parsed(_ text: String) throws -> DatabaseFile.BackupRetention {
        guard let retention = DatabaseFile.BackupRetention(text) else {
            throw ValidationError(
                "'\(text)' is not valid for --keep: give numbers with h, d, w, m or y, such as 7d,4w,6m.")
        }
        return retention
    }
}

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

    func prune(keys: [DatabaseKey], isDryRun: Bool, in session: Session, _ trail: AuditTrail) throws
        -> ExitStatus
    {
        let pruning = try database.backupPruning(
            in: path, keeping: retention, planned: isDryRun ? .now : nil, keys: keys, cipher: cipher)
        for backup in pruning.future {
            session.reporter.warning(
                "\(backup.path): is dated in the future, so it is kept and not counted. Check the clock.")
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
        let counts = "\(TextLayout.counted(kept, "backup", "backups")) kept"
        let lines = removed.map { "  \(isDryRun ? "would be removed" : "removed"): \($0)" }
        session.reporter.result(
            [
                .init("path", .string(path)), .init("dry_run", .bool(isDryRun)),
                .init("changed", .bool(!isDryRun && !removed.isEmpty)),
                .init("kept", .count(kept)), .init("removed", .strings(removed)),
                .init("unproved", .strings(pruning.unproved.map(\.backup.path))),
                .init("future", .strings(pruning.future.map(\.path))),
                .init("stray_keyrings", .strings(pruning.strayKeyrings)),
                .init("code", .count(status.rawValue)),
            ],
            text: [
                "\(path): \(counts), "
                    + "\(isDryRun ? "\(removed.count) would be removed" : "\(removed.count) removed")"
            ] + lines,
            isAnswer: isDryRun)
        return status
    }
}
