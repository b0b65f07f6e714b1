internal import ArgumentParser
internal import Coffer

struct KeyInitCommand: KeyringOperation {
    static let configuration = CommandConfiguration.coffer(
        "key init <file> [options]", abstract: "Create a database with a keyring, or add one to a database.",
        discussion: """
            A missing file is created, empty and encrypted. An existing database is encrypted with a new key \
            in a proved copy; its present key, given with --key, then no longer opens it. With --recovery, \
            alone or besides --new-key, a recovery key is printed before the change: keep it, even if the \
            command fails. Interrupted? Run the same command again: it completes the work, or says how.

            EXAMPLES
              coffer key init new.db --new-key file:passphrase.txt --name Anna --recovery
              coffer key init app.db --key file:app.key --new-key file:passphrase.txt
            """)

    @Argument(help: "The database.", completion: .file())
    var file: String

    @OptionGroup(title: "The present key of an existing database")
    var key: KeyOptions<OneKey>

    @OptionGroup(title: "The first slot")
    var slot: NewSlotOptions

    @OptionGroup(title: "The audit log")
    var audit: AuditOptions

    @OptionGroup(title: "Output and waiting")
    var output: OutputOptions

    func validate() throws {
        try FileNames.checkIsNoDash(file, "the database")
    }

    func run(in session: Session, _ trail: AuditTrail) throws -> ExitStatus {
        try slot.check(output)
        let isThere = NewFile.exists(file)
        if !isThere { try NewFile.checkName(file) }
        let hasKeyring = try isKeyringThere(besides: isThere, session)
        // Resumes the work of an interrupted run if the same secret opens its keyring.
        if hasKeyring, try keyring.inspect().generation > 1 { throw exists() }
        var present = try isThere && (key.isGiven || !hasKeyring) ? session.key(key.request(), of: file) : nil
        let made = try slot.make(besides: nil, session, subject: file)
        if isThere, hasKeyring, present == nil, try !completes(made.slots) {
            present = try session.key(key.request(), of: file)
        }
        let status: ExitStatus
        do {
            status = try change(
                session, trail,
                present == nil
                    ? "created, with a keyring" : "has a keyring now; its old key no longer opens it",
                printsSecret: made.recovery != nil
            ) {
                if let present {
                    if made.recovery != nil { try check(present, session) }
                    try made.tell(file, session)
                    try adopt(made.slots, present, session)
                } else {
                    try made.tell(file, session)
                    try keyring.makeDatabase(made.slots, lockTimeout: session.lockTimeout) { key in
                        try open(key, session)
                    }
                }
            }
        } catch let error as DatabaseFileError where error.reason == .exists && hasKeyring {
            throw exists()
        } catch {
            // A step after the change has failed, such as the last record of the audit log.
            if !hasKeyring, (try? keyring.isOfDatabase()) == true {
                session.reporter.warning(
                    "The change was made: the secrets of this run open \(file), and no other key does. Keep "
                        + "them.")
            }
            throw error
        }
        session.reporter.note(
            "Back up '\(keyring.path)' together with the database, which needs it to be opened.")
        return status
    }

    /// Returns true if there is a keyring. A run that cannot complete it, because the former recovery key or
    /// the identity of a recipient is not known here, first removes one that opens nothing.
    private func isKeyringThere(besides isThere: Bool, _ session: Session) throws -> Bool {
        guard NewFile.exists(keyring.path) else { return false }
        guard !canComplete else { return true }
        guard isThere, try keyring.removeLeftOfAdoption(lockTimeout: session.lockTimeout) else {
            throw exists()
        }
        session.reporter.note("Removed the keyring of an interrupted run, which opened no database.")
        return false
    }

    private var canComplete: Bool { !slot.recovery && !slot.recipients.isGiven }

    /// Returns true if an interrupted run was creating a new database, rather than adding a keyring to an
    /// existing one.
    private func completes(_ slots: [DatabaseKeyring.NewSlot]) throws -> Bool {
        do {
            return try keyring.wasMadeForNewDatabase(slots)
        } catch let error as DatabaseFileError where error.reason == .exists {
            throw exists()
        }
    }

    private func options(_ session: Session) -> DatabaseFile.RotationOptions {
        var options = DatabaseFile.RotationOptions()
        options.lockTimeout = session.lockTimeout
        return options
    }

    /// Throws if the present key does not open the database, before a recovery key is printed.
    private func check(_ present: Key, _ session: Session) throws {
        _ = try DatabaseFile(path: file).rotationPlan(
            from: present.database, to: .random(), options: options(session))
    }

    private func adopt(_ slots: [DatabaseKeyring.NewSlot], _ present: Key, _ session: Session) throws {
        try session.work(file) { progress in
            _ = try keyring.adopt(
                slots, key: present.database, options: options(session), progress: progress)
        }
    }

    /// Creates the database, or completes one that an interrupted run was creating.
    private func open(_ key: DatabaseKey, _ session: Session) throws {
        let queue = try DatabaseQueue(
            path: file, configuration: session.configuration(key, CipherSettings()))
        let isEmpty = try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM sqlite_schema") == 0 }
        try queue.close()
        guard isEmpty else {
            throw Failure(
                .outputExists, "output_exists",
                "'\(file)' already has content, and a keyring that this secret opens. There is nothing to "
                    + "do: open it, for example with 'coffer verify \(file) --unlock'.")
        }
    }

    /// Returns the failure for files that exist. They are not overwritten, so the message explains their
    /// possible origin.
    private func exists() -> Failure {
        let again =
            "If an interrupted 'coffer key init' created it, run that again with the same secret and name"
        let isOfDatabase = try? keyring.isOfDatabase()
        let completes = canComplete && (isOfDatabase == true || keyring.isBeingMade)
        let remedy =
            switch isOfDatabase {
            case false?:
                "The database has another key. \(completes ? "\(again). Otherwise, if" : "If") the present "
                    + "key still opens it, and no database that was moved needs the keyring, remove the "
                    + "keyring, and run this again."
            case true? where !canComplete:
                "It belongs to the database: if an interrupted 'coffer key init' created it, the change is "
                    + "complete, and the secrets of that run open the database. Keep both."
            case _ where completes: "\(again)."
            case _ where canComplete:
                "If no database that was moved needs it, move it away, and run this again."
            default: "If the database was never used, move both away, and run this again."
            }
        return Failure(
            .outputExists, "output_exists",
            "'\(keyring.path)' exists, and is not overwritten. 'coffer key list \(file) --unlock' shows "
                + "whether a secret opens it, and 'coffer key add' adds another one. \(remedy)")
    }
}

struct KeyRotateCommand: KeyringOperation {
    static let configuration = CommandConfiguration.coffer(
        "key rotate <file> [options]",
        abstract: "Encrypt a database with a new data key, and keep all slots.",
        discussion: """
            For a data key that may have leaked, or a removed slot whose secret is still known. Needs no \
            other passphrases. Interrupted? Run the same command again to complete it.

            EXAMPLES
              coffer key rotate app.db --unlock file:passphrase.txt
            """)

    @Argument(help: "The database.", completion: .file())
    var file: String

    @OptionGroup(title: "The secret that opens the keyring")
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
    static let configuration = CommandConfiguration.coffer(
        "key export-header <file> <copy> [options]",
        abstract: "Copy the keyring to a file, to keep elsewhere.",
        discussion: """
            Needs no key. The copy opens the database with any secret of its slots, even slots that are \
            removed later.

            EXAMPLES
              coffer key export-header app.db /safe/app.header
            """)

    @Argument(help: "The database.", completion: .file())
    var file: String

    @Argument(help: "The file to create; never overwritten.", completion: .file())
    var copy: String

    @OptionGroup(title: "The audit log")
    var audit: AuditOptions

    @OptionGroup(title: "Output and waiting")
    var output: OutputOptions

    var names: [String] { [file, copy] }

    func validate() throws { try FileNames.checkIsNoDash(copy, "the copy") }

    func run(in session: Session, _ trail: AuditTrail) throws -> ExitStatus {
        try change(session, trail, "its keyring was copied to \(copy)") { try keyring.exportHeader(to: copy) }
    }
}

struct KeyRestoreCommand: KeyringOperation {
    static let configuration = CommandConfiguration.coffer(
        "key restore-header <file> <copy> [options]", abstract: "Put an exported keyring back.",
        discussion: """
            First opens and verifies the copy. It must belong to the database, and must not be older than \
            the present keyring.

            EXAMPLES
              coffer key restore-header app.db /safe/app.header
            """)

    @Argument(help: "The database.", completion: .file())
    var file: String

    @Argument(help: "The file that 'coffer key export-header' created.", completion: .file())
    var copy: String

    @Flag(help: "Put it back even if it is older: slots that were removed since open the database again.")
    var yesOlder = false

    @OptionGroup(title: "The secret that opens the copy")
    var unlock: UnlockOptions

    @OptionGroup(title: "The audit log")
    var audit: AuditOptions

    @OptionGroup(title: "Output and waiting")
    var output: OutputOptions

    var names: [String] { [file, copy] }

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
    static let configuration = CommandConfiguration.coffer(
        "key destroy <file> --yes-destroy <name> [options]",
        abstract: "Destroy the keyring, and with it the only way to open a database.",
        discussion: """
            Overwrites and removes the keyring: no passphrase opens the database any more. Does not reach \
            backups of the keyring, exported headers and raw keys, backups with their own keyrings, \
            snapshots, remnants in flash memory, and programs that have the database open.

            The keyring of another database, which has the place of this one's, is refused, unless the name \
            to confirm is its own.

            EXAMPLES
              coffer key destroy app.db --yes-destroy app.db
              coffer key destroy app.db --yes-destroy app.db.keys    also one of another database
            """)

    @Argument(help: "The database.", completion: .file())
    var file: String

    @Option(help: .value("name", "The name of the database, without its directory, to confirm."))
    var yesDestroy: String?

    @OptionGroup(title: "The audit log")
    var audit: AuditOptions

    @OptionGroup(title: "Output and waiting")
    var output: OutputOptions

    func run(in session: Session, _ trail: AuditTrail) throws -> ExitStatus {
        let ownName = FileNames.name(of: keyring.path)
        let name =
            yesDestroy == ownName
            ? ownName
            : try FileNames.confirmed(yesDestroy, "--yes-destroy", of: file, "To destroy its keyring")
        let others = SameKeyrings(as: file)
        let status = try change(session, trail, "its keyring was destroyed") {
            try keyring.destroy(confirming: name, lockTimeout: session.lockTimeout)
        }
        session.reporter.note(
            "Copies of the keyring or the key still open the database; see 'coffer key destroy --help'."
        )
        others.tell(session.reporter)
        return status
    }
}
