internal import ArgumentParser
internal import Coffer

struct KeyAddCommand: KeyringOperation {
    static let configuration = CommandConfiguration.coffer(
        "key add <file> [options]", abstract: "Add a way to open a database.",
        discussion: """
            EXAMPLES
              coffer key add app.db --new-key file:second.txt --name Ben
              coffer key add app.db --recovery --unlock file:first.txt
              coffer key add app.db --recipient office.pub --unlock file:first.txt
              coffer key add app.db --command kms-slot --unlock
              coffer verify app.db --unlock program:kms-slot
            """)

    @Argument(help: "The database.", completion: .file())
    var file: String

    @OptionGroup(title: "The secret that opens the keyring")
    var unlock: UnlockOptions

    @OptionGroup(title: "The new slot")
    var slot: NewSlotOptions

    @OptionGroup(title: "The audit log")
    var audit: AuditOptions

    @OptionGroup(title: "Output and waiting")
    var output: OutputOptions

    func validate() throws {
        try slot.checkIsOne()
    }

    func run(in session: Session, _ trail: AuditTrail) throws -> ExitStatus {
        try slot.check(output)
        let secret = try secret(unlock, session)
        let made = try slot.make(besides: unlock, session, subject: file)
        var numbers: [Int] = []
        let status = try change(
            session, trail, "added \(counted: made.slots.count, "slot")", printsSecret: made.recovery != nil
        ) {
            numbers = try keyring.add(made.slots, unlockedBy: secret, lockTimeout: session.lockTimeout) {
                try made.tell(file, session)
            }
        }
        session.reporter.note("slot \(numbers.map(String.init).joined(separator: ", "))")
        return status
    }
}

struct KeyRemoveCommand: KeyringOperation {
    static let configuration = CommandConfiguration.coffer(
        "key remove <file> (--slot <number> | --name <name>) [options]", abstract: "Remove a slot.",
        discussion: """
            The secret of the slot still opens the database with an old copy of the keyring, until 'coffer \
            key rotate'. The last slot cannot be removed.

            EXAMPLES
              coffer key remove app.db --name Ben
            """)

    @Argument(help: "The database.", completion: .file())
    var file: String

    @Argument(help: .hidden)
    var word: String?

    @Option(help: .value("number", "The number of the slot in 'coffer key list'."))
    var slot: Int?

    @Option(help: .value("name", "The name of the slot."))
    var name: String?

    @OptionGroup(title: "The secret that opens the keyring")
    var unlock: UnlockOptions

    @OptionGroup(title: "The audit log")
    var audit: AuditOptions

    @OptionGroup(title: "Output and waiting")
    var output: OutputOptions

    func validate() throws {
        if [slot.map(String.init), name, word].compactMap(\.self).count > 1 {
            throw ValidationError("Give one slot, with --slot or --name.")
        }
    }

    func run(in session: Session, _ trail: AuditTrail) throws -> ExitStatus {
        let contents = try keyring.inspect()
        let slot = try slot ?? number(in: contents)
        let removed = contents.slot(slot)
        let secret = try session.keys.unlocking(unlock, file)
        let status = try change(
            session, trail, "removed \(removed?.title ?? "slot \(slot)")", slot: removed
        ) {
            try keyring.remove(slot: slot, unlockedBy: secret, lockTimeout: session.lockTimeout)
        }
        session.reporter.note("Its secret still opens old copies of the keyring, until 'coffer key rotate'.")
        let rest = contents.slots.filter { $0.number != slot }
        if removed?.kind != .recoveryKey, rest.allSatisfy({ $0.kind == .recoveryKey }) {
            session.reporter.warning(
                "Only a recovery key opens '\(file)' now. Set a passphrase: coffer key recover \(file)")
        }
        return status
    }

    /// Returns the number of the slot with the given name. A single word may also be the number.
    private func number(in contents: DatabaseKeyring.Contents) throws(Failure) -> Int {
        let found = contents.slots.filter { slot in
            !slot.name.isEmpty && slot.name == name ?? word || word.map { Int($0) == slot.number } ?? false
        }
        guard found.count == 1 else {
            let given = (name ?? word).map { found.isEmpty ? "There is no slot '\($0)'. " : "" } ?? ""
            throw Failure.usage(
                "\(given)Give the number of a slot with --slot. '\(keyring.path)' has "
                    + contents.slots.map(\.title).joined(separator: ", ") + ".")
        }
        return found[0].number
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
              coffer key change app.db --unlock file:old.txt --new-key file:new.txt
            """)

    @Argument(help: "The database.", completion: .file())
    var file: String

    @Option(help: .value("number", "The number of the slot in 'coffer key list'."))
    var slot: Int?

    @OptionGroup(title: "The secret that opens the keyring")
    var unlock: UnlockOptions

    @OptionGroup(title: "The new secret")
    var new: NewKeyOptions

    @OptionGroup(title: "The audit log")
    var audit: AuditOptions

    @OptionGroup(title: "Output and waiting")
    var output: OutputOptions

    func run(in session: Session, _ trail: AuditTrail) throws -> ExitStatus {
        let before = try keyring.inspect()
        let secret = try session.keys.unlocking(unlock, file)
        let new = try new.slotSecret(besides: unlock, session, subject: file)
        var changed = before.slot(slot)
        return try change(session, trail, "changed \(changed?.title ?? "the slot")", slot: changed) {
            try keyring.change(
                slot: slot, to: new, unlockedBy: secret, lockTimeout: session.lockTimeout)
            changed = try changed ?? keyring.inspect().changedSlot(since: before)
        }
    }
}

struct KeyRecoverCommand: KeyringOperation {
    static let configuration = CommandConfiguration.coffer(
        "key recover <file> [--slot <number>] [options]",
        abstract: "Set a new passphrase with a recovery key.",
        discussion: """
            Prompts for the recovery key, which has 14 groups of four letters and digits, and for the new \
            passphrase of the slot. Without --slot, changes the only passphrase of the keyring, or adds a \
            slot if there is none. If several people have passphrases, --slot tells which one was lost. The \
            recovery key stays valid.

            EXAMPLES
              coffer key recover app.db
              coffer key recover app.db --slot 2 --unlock file:sheet.txt
            """)

    @Argument(help: "The database.", completion: .file())
    var file: String

    @Option(help: .value("number", "The number of the slot in 'coffer key list'."))
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
        var slot = try lostSlot()
        let secret = try recoveryKey(session)
        let new = try new.slotSecret(besides: unlock, session, subject: file)
        let isNew = slot == nil
        return try change(
            session, trail,
            "recovered: \(isNew ? "a new slot, " : "")\(slot?.title ?? "the slot") has the new secret",
            slot: slot
        ) {
            if let slot {
                try keyring.change(
                    slot: slot.number, to: new, unlockedBy: secret, lockTimeout: session.lockTimeout)
            } else {
                let number = try keyring.add(
                    .secret(new), unlockedBy: secret, lockTimeout: session.lockTimeout)
                slot = try keyring.inspect().slot(number)
            }
        }
    }

    /// Returns the recovery key, which opens the keyring. It is checked before the prompt for the new secret.
    private func recoveryKey(_ session: Session) throws -> DatabaseKeyring.Secret {
        do {
            let secret = try session.keys.slotSecret(unlock.recoveryRequest(), subject: file)
            try keyring.check(unlockedBy: secret)
            return secret
        } catch  where Failure(error).reason == "invalid_recovery_key" {
            throw Failure(error).adding("With a passphrase, 'coffer key change' sets a new one.")
        }
    }

    /// Returns the slot whose secret was lost, or nil if the keyring has no passphrase.
    ///
    /// - Throws: ``Failure`` if there are several, because the wrong one would lock its owner out.
    private func lostSlot() throws -> DatabaseKeyring.Contents.Slot? {
        let contents = try keyring.inspect()
        if let slot {
            guard let found = contents.slot(slot) else {
                throw Failure(
                    .usage, "no_slot",
                    "'\(keyring.path)' has no slot \(slot): 'coffer key list' shows its slots.")
            }
            return found
        }
        let passphrases = contents.slots.filter { $0.kind == .passphrase }
        guard passphrases.count <= 1 else {
            throw Failure(
                .usage, "slot_needed",
                "'\(keyring.path)' has \(passphrases.count) passphrases: "
                    + passphrases.map(\.title).joined(separator: ", ")
                    + ". Give the number of the one that was lost with --slot: the others keep theirs.")
        }
        return passphrases.first
    }
}
