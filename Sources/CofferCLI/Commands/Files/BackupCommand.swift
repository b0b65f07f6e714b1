internal import ArgumentParser
internal import Coffer
internal import SystemCalls

struct BackupCommand: ChangingOperation, MeasuredOperation {
    static let configuration = CommandConfiguration.coffer(
        "backup <file> (<destination> | --into <folder> | -) [options]",
        abstract: "Copy a database into a new file, while it is in use.",
        discussion: """
            The copy is a snapshot of the database, encrypted with the same key or a new one, and a fresh \
            salt. It gets its name only after it was read back and found equal. Never overwrites. To put a \
            backup back: coffer restore.

            With --into, a missing folder is created, for you only. Names consist of the database, the time \
            in UTC, the salt and the location of the database, and sort by time. --keep removes older \
            backups of this database once the new one is proved and synced: 7d,4w,6m keeps the newest of \
            each of the last seven days, four weeks and six months that have one (also h for hours, y for \
            years). Only files with such a name and matching content count or are removed; other files are \
            named and kept. A moved database starts a new series, and so does a gap of over two years, as a \
            wrong clock leaves it.

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

            --list shows the dated backups in a folder, of one database or of all: which database, when, the \
            size, and whether a keyring lies next to it. It needs no key.

            EXAMPLES
              coffer backup app.db /backup/app.db --key file:app.key
              coffer backup app.db safe.db --key file:app.key --new-key file:safe.key
              coffer backup app.db --into /backup --keep 7d,4w,6m --key file:app.key
              coffer backup app.db --into /backup --keep 7d,4w --recipient owner.pub
              coffer backup --list /backup
              coffer backup app.db - --key file:app.key | ssh safe 'cat > app.db'
            """)

    @Argument(help: .value("file", "The database."), completion: .file())
    var database: String?

    @Argument(help: "The file to create; - for the standard output.", completion: .file())
    var destination: String?

    @Option(
        help: .value("folder", "Create a file with the date in its name in this folder."),
        completion: .directory)
    var into: String?

    @Option(
        help: .value("numbers", "The older backups to keep in the folder, such as 7d,4w,6m."),
        transform: DatabaseFile.BackupRetention.parsed)
    var keep: DatabaseFile.BackupRetention?

    @Option(help: .value("folder", "Show the dated backups in this folder."), completion: .directory)
    var list: String?

    @Flag(
        help: """
            Copy the encrypted pages unchanged, so that backups share them. \
            See its security cost below.
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
        if list != nil { return try checkListing() }
        guard database != nil else { throw ValidationError("Missing expected argument '<file>'") }
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

    private func checkListing() throws {
        let others =
            destination != nil || into != nil || keep != nil || samePages || dryRun || recipients.isGiven
            || metrics.file != nil || metrics.target != nil || audit.audit != nil
        if try others || key.isGiven || newKey.isGiven {
            throw ValidationError("--list only shows backups. Give no key and no other work.")
        }
    }

    var subject: String? { database }
    var measuredWork: RunMetrics.Work { .backup }
    var names: [String] { [database, destination ?? into ?? list].compactMap { $0 } }

    func runs(_ meter: RunMeter, _ status: ExitStatus) -> [(target: String, run: RunMetrics.Run)] {
        list == nil ? runs(meter, status, of: [database].compactMap { $0 }) : []
    }

    func run(in session: Session, _ trail: AuditTrail) throws -> ExitStatus {
        if let list {
            try DatedBackups(in: list, of: database).list(session.reporter)
            return .done
        }
        guard let database else { throw Failure.usage("Give the database to copy.") }
        return try backUp(database, in: session, trail)
    }

    private func backUp(_ source: String, in session: Session, _ trail: AuditTrail) throws -> ExitStatus {
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
        let newFolder = into.flatMap { NewFile.exists($0) ? nil : $0 }
        if let newFolder {
            try BackupFolder.checkName(newFolder)
            _ = try BackupFolder.parent(of: newFolder)
        }
        let new = try newKey.requestIfGiven(besides: key, for: [source])
        var folder = try newFolder == nil ? pruned(of: source) : nil
        let keys = try session.keys(key, of: source)
        let copyKey = try session.keys.key(ifGiven: new, subject: destination ?? into ?? "the copy")
        return try keys.open(source, cipher: cipher.settings) { opening in
            if let newFolder {
                try make(newFolder, session.reporter)
                folder = try dryRun ? nil : pruned(of: source)
            }
            // If the backup fails, the new folder is removed again.
            defer { if let newFolder, !dryRun { BackupFolder.removeIfEmpty(newFolder) } }
            let slots =
                copyKey == nil && !samePages && destination != "-"
                ? try recipients.slotsOfCopy(of: source, opening.key) : []
            if !slots.isEmpty {
                try copy(source, opening.database, slots, in: session, trail)
                return try folder?.prune(keys: [opening.database], isDryRun: dryRun, in: session, trail)
                    ?? .done
            }
            if !dryRun { try removeLeftKeyrings(of: source) }
            let work = try work(opening.database, newKey: copyKey?.database, session.reporter)
            var conversion = Conversion(
                source, work, cipher: cipher.settings,
                keys: .changed(from: nil, to: copyKey ?? opening.key), in: session)
            conversion.options.keepsStoredPages = samePages
            if dryRun { conversion.place = into }
            try conversion.perform(isDryRun: dryRun, in: session, trail)
            let keys = [copyKey?.database, opening.database].compactMap { $0 }
            return try folder?.prune(keys: keys, isDryRun: dryRun, in: session, trail) ?? .done
        }
    }

    /// Returns the folder from which older backups are removed, if any are.
    private func pruned(of source: String) throws -> BackupFolder? {
        try (keep ?? Defaults.current.keep).flatMap { keep in
            try into.map { try BackupFolder($0, of: source, keep, cipher: cipher.settings) }
        }
    }

    /// The folder for the dated copy. The plan for a missing folder examines the one above it.
    private var folderOfCopy: String? {
        get throws(Failure) {
            guard let into, dryRun, !NewFile.exists(into) else { return into }
            return try BackupFolder.parent(of: into)
        }
    }

    private func make(_ folder: String, _ reporter: Reporter) throws(Failure) {
        guard !dryRun else { return reporter.note("The folder '\(folder)' would be created.") }
        guard try BackupFolder.make(folder) else { return }
        // A warning, which --quiet does not hide: the disk of the folder may not be mounted.
        reporter.warning("The folder '\(folder)' was created, for you only (mode 700).")
    }

    private func copy(
        _ source: String, _ key: DatabaseKey, _ slots: [DatabaseKeyring.NewSlot], in session: Session,
        _ trail: AuditTrail
    ) throws {
        func perform(_ work: DatabaseFile.Work, _ keyring: KeyringOfCopy?, tells: Bool) throws {
            var conversion = Conversion(
                source, work, cipher: cipher.settings, companion: keyring, in: session)
            if dryRun { conversion.place = into }
            if tells { conversion.whenDone = { recipients.tell("\($0.path).keys", session) } }
            try conversion.perform(isDryRun: dryRun, in: session, trail)
        }
        if let folder = try folderOfCopy {
            let keyring = try KeyringOfCopy(slots, ofBackupOf: source, in: folder)
            return try perform(.datedBackup(in: folder, key, newKey: keyring.key), keyring, tells: true)
        }
        guard let destination else { return }
        try recipients.copying(to: destination, slots, isDryRun: dryRun, session) { copyKey, keyring in
            try perform(.backup(to: destination, key, newKey: copyKey), keyring, tells: false)
        }
    }

    /// Removes the keyrings that a killed backup has left, even if this backup has no keyring.
    private func removeLeftKeyrings(of source: String) throws {
        if let into {
            try DatabaseFile(path: source).removeLeftKeyrings(in: into)
        } else if let destination, destination != "-" {
            // If anything is in the way, the backup itself reports it.
            try? DatabaseKeyring(databasePath: destination).removeLeft()
        }
    }

    private func work(_ key: DatabaseKey, newKey: DatabaseKey?, _ reporter: Reporter) throws(Failure)
        -> DatabaseFile.Work
    {
        if let folder = try folderOfCopy { return .datedBackup(in: folder, key, newKey: newKey) }
        guard let destination, destination != "-" else {
            return .streamedBackup(in: FileNames.temporaryFolder, key, newKey: newKey) { part in
                reporter.raw(bytes: part)
                try reporter.checkOutput()
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
