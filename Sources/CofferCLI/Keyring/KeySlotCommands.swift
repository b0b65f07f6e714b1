internal import ArgumentParser
internal import Coffer

struct KeyAddCommand: KeyringOperation {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Add a way to open a database.",
        usage: "coffer key add <file> [options]",
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

    @OptionGroup(title: "What opens the keyring")
    var unlock: UnlockOptions

    @OptionGroup(title: "The new slot")
    var slot: NewSlotOptions

    @OptionGroup(title: "The audit log")
    var audit: AuditOptions

    @OptionGroup(title: "Output and waiting")
    var output: OutputOptions

    func validate() throws {
        // JSON is kept and forwarded by programs: no secret goes there.
        if slot.recovery && output.json {
            throw ValidationError("The recovery key and JSON cannot both go to the standard output.")
        }
    }

    func run(in session: Session, _ trail: AuditTrail) throws -> ExitStatus {
        _ = try keyring.inspect()
        let secret = try session.keys.unlocking(unlock, file)
        let made = try slot.make(besides: unlock, session, subject: file)
        var numbers: [Int] = []
        let status = try change(
            session, trail, "added \(TextLayout.counted(made.slots.count, "slot", "slots"))"
        ) {
            for slot in made.slots {
                numbers.append(
                    try keyring.add(slot, unlockedBy: secret, lockTimeout: session.lockTimeout))
            }
        }
        try made.tell()
        session.reporter.note("slot \(numbers.map(String.init).joined(separator: ", "))")
        return status
    }
}

struct KeyRemoveCommand: KeyringOperation {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove a slot.",
        usage: "coffer key remove <file> --slot <number> [options]",
        discussion: """
            Who had the secret of the slot and has kept the old keyring still opens the database, until \
            'coffer key rotate'. The last slot is not removed.

            EXAMPLES
              coffer key remove app.db --slot 2
            """)

    @Argument(help: "The database.", completion: .file())
    var file: String

    @Option(help: ArgumentHelp("The slot, as 'coffer key list' numbers them.", valueName: "number"))
    var slot: Int

    @OptionGroup(title: "What opens the keyring")
    var unlock: UnlockOptions

    @OptionGroup(title: "The audit log")
    var audit: AuditOptions

    @OptionGroup(title: "Output and waiting")
    var output: OutputOptions

    func run(in session: Session, _ trail: AuditTrail) throws -> ExitStatus {
        _ = try keyring.inspect()
        let secret = try session.keys.unlocking(unlock, file)
        return try change(session, trail, "removed slot \(slot)") {
            try keyring.remove(slot: slot, unlockedBy: secret, lockTimeout: session.lockTimeout)
        }
    }
}

struct KeyChangeCommand: KeyringOperation {
    static let configuration = CommandConfiguration(
        commandName: "change",
        abstract: "Give a slot another passphrase or raw key.",
        usage: "coffer key change <file> [--slot <number>] [options]",
        discussion: """
            Without --slot, it is the slot that the secret opens. No page of the database is written.

            EXAMPLES
              coffer key change app.db
              coffer key change app.db --unlock-file old.txt --new-key-file new.txt
            """)

    @Argument(help: "The database.", completion: .file())
    var file: String

    @Option(help: ArgumentHelp("The slot, as 'coffer key list' numbers them.", valueName: "number"))
    var slot: Int?

    @OptionGroup(title: "What opens the keyring")
    var unlock: UnlockOptions

    @OptionGroup(title: "The new secret")
    var new: NewKeyOptions

    @OptionGroup(title: "The audit log")
    var audit: AuditOptions

    @OptionGroup(title: "Output and waiting")
    var output: OutputOptions

    func run(in session: Session, _ trail: AuditTrail) throws -> ExitStatus {
        _ = try keyring.inspect()
        let secret = try session.keys.unlocking(unlock, file)
        let new = try new.slotSecret(besides: unlock, session, subject: file)
        return try change(session, trail, "changed \(slot.map { "slot \($0)" } ?? "the slot")") {
            try keyring.change(
                slot: slot, to: new, unlockedBy: secret, lockTimeout: session.lockTimeout)
        }
    }
}

struct KeyRecoverCommand: KeyringOperation {
    static let configuration = CommandConfiguration(
        commandName: "recover",
        abstract: "Set a new passphrase by a recovery key.",
        usage: "coffer key recover <file> [--slot <number>] [options]",
        discussion: """
            Asks for the recovery key, and for a new passphrase, which the slot gets. Without --slot it is \
            the first passphrase of the keyring, or a new slot where there is none. The recovery key stays \
            good.

            EXAMPLES
              coffer key recover app.db
            """)

    @Argument(help: "The database.", completion: .file())
    var file: String

    @Option(help: ArgumentHelp("The slot, as 'coffer key list' numbers them.", valueName: "number"))
    var slot: Int?

    @OptionGroup(title: "The recovery key")
    var unlock: UnlockOptions

    @OptionGroup(title: "The new secret")
    var new: NewKeyOptions

    @OptionGroup(title: "The audit log")
    var audit: AuditOptions

    @OptionGroup(title: "Output and waiting")
    var output: OutputOptions

    func run(in session: Session, _ trail: AuditTrail) throws -> ExitStatus {
        let slots = try keyring.inspect().slots
        var request = try unlock.anyRequest()
        request.unlocks = .recovery
        let secret = try session.keys.slotSecret(request, subject: file)
        // Before a new passphrase is asked for.
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
