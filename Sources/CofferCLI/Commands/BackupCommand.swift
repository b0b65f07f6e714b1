internal import ArgumentParser
internal import Coffer
internal import Foundation

struct BackupCommand: ChangingOperation, MeasuredOperation {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Copy a database into a new file, while it is in use.",
        usage: "coffer backup <source> (<destination> | --into <folder> | -) [options]",
        discussion: """
            The copy is one state of the database, encrypted with the same key (or with a new one) and a \
            fresh salt. It gets its name when it was read again and found equal. Never overwrites. To put a \
            backup in the place of its database: coffer restore.

            With --into, names are made of the database, the time in UTC, the salt and where the database \
            is, and sort by time. --keep removes older backups of this database once the new one is proved \
            and on the disk: 7d,4w,6m keeps the newest of each of the last seven days, four weeks and six \
            months that have one (also h for hours, y for years). Only what has such a name, and a content \
            that proves it, counts or is removed; the rest is named and stays. A database that was moved \
            begins anew.

            With -, the copy goes to the standard output when it is proved. Until then it is in a file \
            without a name, in the folder that TMPDIR names, or in /var/tmp.

            With --same-pages the copy has the salt and the encrypted pages of the database, also of one in \
            WAL mode. Pages that were not written to stay the same, so that restic, rsync and snapshots of \
            file systems store and send little. The cost: whoever sees several such backups learns which \
            pages changed and when, and whoever may write to them can mix their pages unnoticed; and all \
            have the key of the database. A database that is opened by its keyring refuses it: its data key \
            belongs to one file.

            With --recipient the copy gets a key of its own and a keyring beside it, which only the \
            identities of the recipients open: who made it cannot read it afterwards. A copy of a file that \
            was opened by its keyring gets one with the same slots.

            EXAMPLES
              coffer backup app.db /backup/app.db --key-file app.key
              coffer backup app.db safe.db --key-file app.key --new-key-file safe.key
              coffer backup app.db --into /backup --keep 7d,4w,6m --key-file app.key
              coffer backup app.db --into /backup --recipient owner.pub
              coffer backup app.db - --key-file app.key | ssh safe 'cat > app.db'
            """)

    @Argument(help: "The database.", completion: .file())
    var source: String

    @Argument(help: "The file to make; - for the standard output.", completion: .file())
    var destination: String?

    @Option(
        help: ArgumentHelp("Make a file with the date in its name in this folder.", valueName: "folder"),
        completion: .directory)
    var into: String?

    @Option(
        help: ArgumentHelp(
            "How many older backups to keep in the folder, such as 7d,4w,6m.", valueName: "numbers"),
        transform: DatabaseFile.BackupRetention.parsed)
    var keep: DatabaseFile.BackupRetention?

    @Flag(
        help: """
            Copy the encrypted pages as they are, so that backups have equal parts. \
            See what it costs in security above.
            """)
    var samePages = false

    @Flag(help: "Try the keys, say what would be done, and do nothing.")
    var dryRun = false

    @OptionGroup(title: "The key")
    var key: FileKeyOptions

    @OptionGroup(title: "The key of the copy, where it is another one")
    var newKey: NewKeyOptions

    @OptionGroup(title: "Who opens the copy, where nobody else is to")
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
                "Say where the copy goes: give either a destination, or --into and a folder.")
        }
        if keep != nil, into == nil {
            throw ValidationError("--keep is for backups with a date in a folder: give --into.")
        }
        if samePages, try newKey.isGiven {
            throw ValidationError(
                "--same-pages keeps the key of the database: a copy with another key has other pages.")
        }
        try recipients.checkFits(newKey, keeps: keep != nil)
        if recipients.isGiven {
            if samePages {
                throw ValidationError(
                    "--same-pages keeps the key of the database, and --recipient gives the copy another one.")
            }
            if destination == "-" {
                throw ValidationError(
                    "A copy for recipients has a keyring beside it: give a file, or --into.")
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
                "The backup is no text, and a terminal could take it for commands. Give a file, or a pipe.")
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

    /// What a killed backup with a keyring has left goes with the next one, also if that has none.
    private func removeLeftKeyrings() throws {
        if let into {
            try DatabaseFile(path: source).removeLeftKeyrings(in: into)
        } else if let destination, destination != "-" {
            // The backup itself reports what is in its way.
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
                        .inputOutput, "io", "Nobody reads the output any more: what was read is no backup.")
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
                "'\(text)' says not what to keep: give numbers with h, d, w, m or y, such as 7d,4w,6m.")
        }
        return retention
    }
}

/// A folder of backups with dates, of which old ones are removed.
struct BackupFolder {
    private let path: String
    private let database: DatabaseFile
    private let retention: DatabaseFile.BackupRetention
    private let cipher: CipherSettings

    /// Fails before a backup is made whose folder is not safe to remove files from.
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
                "\(backup.path): is dated in the future, stays, and counts for nothing. Look at the clock.")
        }
        for (backup, reason) in pruning.unproved {
            session.reporter.warning("\(backup.path): stays, and counts for nothing: \(reason).")
        }
        for path in pruning.strayKeyrings {
            session.reporter.warning(
                "\(path): stays, the keyring of a backup that is not there. If no such backup is kept "
                    + "elsewhere, remove it.")
        }
        var removed: [String] = []
        // The oldest first: what an interruption leaves is what is younger.
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
                    // Such as the program that takes the backups elsewhere. It goes after the next backup.
                    session.reporter.warning("\(path): stays for now. \(error.localizedDescription)")
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
