internal import ArgumentParser
internal import Coffer

struct KeyAddCommand: KeyringOperation {
    static let configuration = CommandConfiguration.coffer(
        "key add <file> [options]", abstract: "Add a way to open a database.",
        discussion: """
            EXAMPLES
              coffer key add app.db --new-key-file second.txt --name Ben
              coffer key add app.db --recovery --unlock-file first.txt
              coffer key add app.db --recipient office.pub --unlock-file first.txt
              coffer key add app.db --command kms-slot --unlock
              coffer verify app.db --unlock-type command --unlock-command kms-slot
            """)

    @Argument(help: "The database.", completion: .file())
    var file: String

    @OptionGroup(title: "The secret that opens the keyring")
    var unlock: UnlockOptions

    @OptionGroup(title: "The new slot")
    var slot: NewSlotOptions

    @OptionGroup
    var record: RecordOptions<NoOptions>

    func validate() throws { try slot.check(output) }

    func run(in session: Session, _ trail: AuditTrail) throws -> ExitStatus {
        let secret = try secret(unlock, session)
        let made = try slot.make(besides: unlock, session, subject: file)
        var numbers: [Int] = []
        let status = try change(
            session, trail, "added \(counted: made.slots.count, "slot")"
        ) {
            for slot in made.slots {
                numbers.append(try keyring.add(slot, unlockedBy: secret, lockTimeout: session.lockTimeout))
            }
        }
        try made.tell()
        session.reporter.note("slot \(numbers.map(String.init).joined(separator: ", "))")
        return status
    }
}

struct KeyRemoveCommand: KeyringOperation {
    static let configuration = CommandConfiguration.coffer(
        "key remove <file> --slot <number> [options]", abstract: "Remove a slot.",
        discussion: """
            The secret of the slot still opens the database with an old copy of the keyring, until 'coffer \
            key rotate'. The last slot cannot be removed.

            EXAMPLES
              coffer key remove app.db --slot 2
            """)

    @Argument(help: "The database.", completion: .file())
    var file: String

    @Option(help: .value("number", "The number of the slot in 'coffer key list'."))
    var slot: Int

    @OptionGroup(title: "The secret that opens the keyring")
    var unlock: UnlockOptions

    @OptionGroup
    var record: RecordOptions<NoOptions>

    func run(in session: Session, _ trail: AuditTrail) throws -> ExitStatus {
        let secret = try secret(unlock, session)
        return try change(session, trail, "removed slot \(slot)") {
            try keyring.remove(slot: slot, unlockedBy: secret, lockTimeout: session.lockTimeout)
        }
    }
}

struct KeyChangeCommand: KeyringOperation {
    static let configuration = CommandConfiguration.coffer(
        "key change <file> [--slot <number>] [options]",
        abstract: "Change the passphrase or raw key of a slot.",
        discussion: """
            Without --slot, changes the slot that the secret opens. Writes no page of the database.

            EXAMPLES
              coffer key change app.db
              coffer key change app.db --unlock-file old.txt --new-key-file new.txt
            """)

    @Argument(help: "The database.", completion: .file())
    var file: String

    @Option(help: .value("number", "The number of the slot in 'coffer key list'."))
    var slot: Int?

    @OptionGroup(title: "The secret that opens the keyring")
    var unlock: UnlockOptions

    @OptionGroup(title: "The new secret")
    var new: NewKeyOptions

    @OptionGroup
    var record: RecordOptions<NoOptions>

    func run(in session: Session, _ trail: AuditTrail) throws -> ExitStatus {
        let secret = try secret(unlock, session)
        let new = try new.slotSecret(besides: unlock, session, subject: file)
        return try change(session, trail, "changed \(slot.map { "slot \($0)" } ?? "the slot")") {
            try keyring.change(
                slot: slot, to: new, unlockedBy: secret, lockTimeout: session.lockTimeout)
        }
    }
}

struct KeyRecoverCommand: KeyringOperation {
    static let configuration = CommandConfiguration.coffer(
        "key recover <file> [--slot <number>] [options]",
        abstract: "Set a new passphrase with a recovery key.",
        discussion: """
            Prompts for the recovery key and for the new passphrase of the slot. Without --slot, changes the \
            first passphrase of the keyring, or adds a slot if there is none. The recovery key stays valid.

            EXAMPLES
              coffer key recover app.db
            """)

    @Argument(help: "The database.", completion: .file())
    var file: String

    @Option(help: .value("number", "The number of the slot in 'coffer key list'."))
    var slot: Int?

    @OptionGroup(title: "The recovery key")
    var unlock: UnlockOptions

    @OptionGroup(title: "The new secret")
    var new: NewKeyOptions

    @OptionGroup
    var record: RecordOptions<NoOptions>

    func run(in session: Session, _ trail: AuditTrail) throws -> ExitStatus {
        let slots = try keyring.inspect().slots
        var request = try unlock.anyRequest()
        request.unlocks = .recovery
        let secret = try session.keys.slotSecret(request, subject: file)
        // Check the secret before prompting for a new passphrase.
        try keyring.check(unlockedBy: secret)
        let new = try new.slotSecret(besides: unlock, session, subject: file)
        let slot = slot ?? slots.first { $0.kind == .passphrase }?.number
        return try change(
            session, trail, "recovered: \(slot.map { "slot \($0)" } ?? "a new slot") has the new secret"
        ) {
            if let slot {
                try keyring.change(
                    slot: slot, to: new, unlockedBy: secret, lockTimeout: session.lockTimeout)
            } else {
                try keyring.add(.secret(new), unlockedBy: secret, lockTimeout: session.lockTimeout)
            }
        }
    }
}
