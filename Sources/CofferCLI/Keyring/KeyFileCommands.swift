internal import ArgumentParser
internal import Coffer

struct KeyInitCommand: KeyringOperation {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Make a database with a keyring, or give one to a database.",
        usage: "coffer key init <file> [options]",
        discussion: """
            A file that is not there is made, empty and encrypted. A database that is there is encrypted \
            with a new key, by a proved copy: its present key, which is given with --key-..., does not open \
            it any more. Interrupted? Run the same command again.

            EXAMPLES
              coffer key init new.db --new-key-file passphrase.txt --name Anna
              coffer key init app.db --key-file app.key --key-type raw --new-key-file passphrase.txt
            """)

    @Argument(help: "The database.", completion: .file())
    var file: String

    @OptionGroup(title: "The present key of a database that is there")
    var key: KeyOptions

    @OptionGroup(title: "The first slot")
    var slot: NewSlotOptions

    @OptionGroup(title: "The audit log")
    var audit: AuditOptions

    @OptionGroup(title: "Output and waiting")
    var output: OutputOptions

    func validate() throws {
        try FileNames.checkIsNoDash(file, "the database")
        if slot.recovery && output.json {
            throw ValidationError("The recovery key and JSON cannot both go to the standard output.")
        }
    }

    func run(in session: Session, _ trail: AuditTrail) throws -> ExitStatus {
        let (isThere, hasKeyring) = (NewFile.exists(file), NewFile.exists(keyring.path))
        // What an interrupted run has made is taken up by the next one, where the same secret opens it.
        if hasKeyring, try keyring.inspect().generation > 1 { throw exists() }
        var present = try isThere && (key.isGiven || !hasKeyring) ? session.key(key.request(), of: file) : nil
        let made = try slot.make(besides: nil, session, subject: file)
        if isThere, hasKeyring, present == nil, try !completes(made.slots) {
            present = try session.key(key.request(), of: file)
        }
        let status = try change(
            session, trail,
            present == nil ? "made, with a keyring" : "has a keyring now; its former key does not open it"
        ) {
            do {
                if let present {
                    try adopt(made.slots, present, session)
                } else {
                    try keyring.makeDatabase(made.slots, lockTimeout: session.lockTimeout) { key in
                        try open(key, session)
                    }
                }
            } catch let error as DatabaseFileError where error.reason == .exists && hasKeyring {
                throw exists()
            }
        }
        try made.tell()
        session.reporter.note(
            "Back up '\(keyring.path)' together with the database: without it nobody opens it.")
        return status
    }

    /// Whether an interrupted run was making the database, and not giving a keyring to one.
    private func completes(_ slots: [DatabaseKeyring.NewSlot]) throws -> Bool {
        do {
            return try keyring.wasMadeForNewDatabase(slots)
        } catch let error as DatabaseFileError where error.reason == .exists {
            throw exists()
        }
    }

    private func adopt(_ slots: [DatabaseKeyring.NewSlot], _ present: Key, _ session: Session) throws {
        var options = DatabaseFile.RotationOptions()
        options.lockTimeout = session.lockTimeout
        try session.work(file) { progress in
            _ = try keyring.adopt(slots, key: present.database, options: options, progress: progress)
        }
    }

    /// Makes the database, or completes one that an interrupted run was making.
    private func open(_ key: DatabaseKey, _ session: Session) throws {
        let queue = try DatabaseQueue(
            path: file, configuration: session.configuration(key, CipherSettings()))
        let isEmpty = try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM sqlite_schema") == 0 }
        try queue.close()
        guard isEmpty else {
            throw Failure(
                .outputExists, "output_exists",
                "'\(file)' has its keyring already, which this secret opens, and content. Nothing is to be "
                    + "done: open it, for example by 'coffer verify \(file) --unlock'.")
        }
    }

    /// Nothing is overwritten, so people are told what the two files may be.
    private func exists() -> Failure {
        let remedy =
            slot.recovery || slot.recipients.isGiven
            ? "If the database was never used, move both away, and run this again."
            : "If an interrupted 'coffer key init' has made it, run that again with the same secret and name."
        return Failure(
            .outputExists, "output_exists",
            "'\(keyring.path)' exists, and is not overwritten. 'coffer key list \(file) --unlock' tells "
                + "whether a secret opens it, and 'coffer key add' adds another one. \(remedy)")
    }
}

struct KeyRotateCommand: KeyringOperation {
    static let configuration = CommandConfiguration(
        commandName: "rotate",
        abstract: "Encrypt a database with a new data key, and keep all slots.",
        usage: "coffer key rotate <file> [options]",
        discussion: """
            After the data key may have leaked, or a slot was removed whose secret somebody has. Nobody \
            else's passphrase is needed. Interrupted? Run the same command again: it completes.

            EXAMPLES
              coffer key rotate app.db --unlock-key-file passphrase.txt
            """)

    @Argument(help: "The database.", completion: .file())
    var file: String

    @OptionGroup(title: "What opens the keyring")
    var unlock: UnlockOptions

    @OptionGroup(title: "The audit log")
    var audit: AuditOptions

    @OptionGroup(title: "Output and waiting")
    var output: OutputOptions

    func run(in session: Session, _ trail: AuditTrail) throws -> ExitStatus {
        _ = try keyring.inspect()
        try FileNames.checkReadable(file)
        let secret = try session.keys.unlocking(unlock, file)
        var options = DatabaseFile.RotationOptions()
        options.lockTimeout = session.lockTimeout
        return try change(session, trail, "has a new data key, sealed to all slots") {
            try session.work(file) { progress in
                _ = try keyring.rotateDataKey(unlockedBy: secret, options: options, progress: progress)
            }
        }
    }
}

struct KeyExportCommand: KeyringOperation {
    static let configuration = CommandConfiguration(
        commandName: "export-header",
        abstract: "Copy the keyring into a file, to be kept elsewhere.",
        usage: "coffer key export-header <file> <copy> [options]",
        discussion: """
            No key is needed. The copy opens the database for who has a secret of it, also by slots that are \
            removed later.

            EXAMPLES
              coffer key export-header app.db /safe/app.header
            """)

    @Argument(help: "The database.", completion: .file())
    var file: String

    @Argument(help: "The file to make; never overwritten.", completion: .file())
    var copy: String

    @OptionGroup(title: "The audit log")
    var audit: AuditOptions

    @OptionGroup(title: "Output and waiting")
    var output: OutputOptions

    func validate() throws { try FileNames.checkIsNoDash(copy, "the copy") }

    func run(in session: Session, _ trail: AuditTrail) throws -> ExitStatus {
        try change(session, trail, "its keyring was copied to \(copy)") { try keyring.exportHeader(to: copy) }
    }
}

struct KeyRestoreCommand: KeyringOperation {
    static let configuration = CommandConfiguration(
        commandName: "restore-header",
        abstract: "Put an exported keyring back.",
        usage: "coffer key restore-header <file> <copy> [options]",
        discussion: """
            The copy is opened and proved first, and has to be that of the database. \
            It is not to be older than the keyring that is there.

            EXAMPLES
              coffer key restore-header app.db /safe/app.header
            """)

    @Argument(help: "The database.", completion: .file())
    var file: String

    @Argument(help: "What 'coffer key export-header' has made.", completion: .file())
    var copy: String

    @Flag(help: "Put it back although it is older: slots that were removed since open the database again.")
    var yesOlder = false

    @OptionGroup(title: "What opens the copy")
    var unlock: UnlockOptions

    @OptionGroup(title: "The audit log")
    var audit: AuditOptions

    @OptionGroup(title: "Output and waiting")
    var output: OutputOptions

    func run(in session: Session, _ trail: AuditTrail) throws -> ExitStatus {
        try FileNames.checkReadable(copy)
        let secret = try session.keys.unlocking(unlock, file)
        return try change(session, trail, "its keyring was put back from \(copy)") {
            try keyring.restoreHeader(
                from: copy, unlockedBy: secret, allowsOlder: yesOlder, lockTimeout: session.lockTimeout)
        }
    }
}

struct KeyDestroyCommand: KeyringOperation {
    static let configuration = CommandConfiguration(
        commandName: "destroy",
        abstract: "Destroy the keyring, and with it the only way to open a database.",
        usage: "coffer key destroy <file> --yes-destroy <name> [options]",
        discussion: """
            Overwrites and removes the keyring: nobody opens the database any more, whatever the \
            passphrases. Not reached are backups of the keyring, exported headers and raw keys, backups with \
            keyrings of their own, snapshots, what flash memory keeps, and programs that have the database \
            open.

            EXAMPLES
              coffer key destroy app.db --yes-destroy app.db
            """)

    @Argument(help: "The database.", completion: .file())
    var file: String

    @Option(
        help: ArgumentHelp(
            "The name of the database, without its directory, to say that you mean it.", valueName: "name"))
    var yesDestroy: String?

    @OptionGroup(title: "The audit log")
    var audit: AuditOptions

    @OptionGroup(title: "Output and waiting")
    var output: OutputOptions

    func run(in session: Session, _ trail: AuditTrail) throws -> ExitStatus {
        let name = FileNames.name(of: file)
        guard let yesDestroy else {
            throw Failure.usage("To destroy its keyring, add: --yes-destroy \(name)")
        }
        guard yesDestroy == name else {
            throw Failure(
                .badData, "confirmation_mismatch",
                "--yes-destroy says '\(yesDestroy)', and the file is '\(name)'. Nothing was changed.")
        }
        let status = try change(session, trail, "its keyring was destroyed") {
            try keyring.destroy(confirming: name, lockTimeout: session.lockTimeout)
        }
        session.reporter.note(
            "Copies of the keyring, and of the key, still open the database; see 'coffer key destroy --help'."
        )
        return status
    }
}
