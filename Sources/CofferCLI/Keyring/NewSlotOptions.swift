internal import ArgumentParser
internal import Coffer
internal import Glibc

/// What a new slot is opened by: one of the sources of a new key, a recipient, or a recovery key that is made
/// and shown once.
struct NewSlotOptions: ParsableArguments {
    @OptionGroup
    var secret: NewKeyOptions

    @OptionGroup
    var recipients: RecipientOptions

    @Flag(help: "Make a recovery key, and print it once: it is stored nowhere.")
    var recovery = false

    @Option(
        name: .customLong("command"),
        help: ArgumentHelp(
            "Make a slot that a program opens, such as the client of a key service: see the article on the "
                + "format of keyrings.",
            valueName: "command"))
    var program: String?

    @Option(help: ArgumentHelp("What people call the slot; not secret.", valueName: "text"))
    var name: String?

    func validate() throws {
        let count =
            try (secret.isGiven ? 1 : 0) + (recipients.isGiven ? 1 : 0) + (recovery ? 1 : 0)
            + (program == nil ? 0 : 1)
        if count > 1 {
            throw ValidationError(
                "Give one kind of slot only: --new-key-..., --recipient, --recovery or --command.")
        }
        _ = try programWords()
    }

    private func programWords() throws -> [String]? {
        guard let program else { return nil }
        do throws(Failure) { return try CommandWords.split(program) } catch {
            throw ValidationError("--command: \(error.message)")
        }
    }

    /// What is to be made.
    struct Made {
        var slots: [DatabaseKeyring.NewSlot]
        /// To be printed once the keyring has it.
        var recovery: DatabaseKeyring.RecoveryKey?
    }

    /// Asks for what is needed: at the terminal where no source was given.
    func make(besides unlock: UnlockOptions?, _ session: Session, subject: String) throws -> Made {
        let name = name ?? ""
        if recipients.isGiven { return Made(slots: try recipients.slots(named: name)) }
        if let words = try programWords() {
            var request = KeyRequest(role: .new, source: .command(words))
            request.unlocks = .command
            return Made(slots: [.secret(try session.keys.slotSecret(request, subject: subject), name: name)])
        }
        if recovery {
            let key = try DatabaseKeyring.RecoveryKey.random()
            return Made(slots: [.secret(key.secret, name: name)], recovery: key)
        }
        return Made(slots: [
            .secret(try secret.slotSecret(besides: unlock, session, subject: subject), name: name)
        ])
    }
}

extension RecipientOptions {
    fileprivate func slots(named name: String) throws -> [DatabaseKeyring.NewSlot] {
        try slots().map { $0.named(name) }
    }
}

extension NewKeyOptions {
    /// A new passphrase or raw key for a slot.
    func slotSecret(besides unlock: UnlockOptions?, _ session: Session, subject: String) throws
        -> DatabaseKeyring.Secret
    {
        guard type != .rawWithSalt else {
            throw Failure.usage("A slot is opened by a passphrase, or by a raw key without a salt.")
        }
        var request = try KeyRequest(role: .new, source: source() ?? .prompt, type: type)
        if request.source == .standardInput, unlock?.standardInput == true {
            throw Failure.usage(
                "Both secrets cannot come from the standard input. Give one with a file, or with a file "
                    + "descriptor."
            )
        }
        request.unlocks = type == .raw ? .raw : .passphrase
        return try session.keys.slotSecret(request, subject: subject)
    }
}

extension NewSlotOptions.Made {
    /// Prints the recovery key, straight from the memory that is wiped.
    func tell() throws(Failure) {
        guard let recovery else { return }
        do throws(SystemError) {
            let problem = unsafe recovery.withUnsafeText { text -> SystemError? in
                do throws(SystemError) {
                    try unsafe Descriptor.write(text, to: STDOUT_FILENO)
                    try Descriptor.write([UInt8(ascii: "\n")], to: STDOUT_FILENO)
                    return nil
                } catch {
                    return error
                }
            }
            if let problem { throw problem }
        } catch {
            throw Failure(
                error, "The recovery key cannot be written; the slot was made, and is to be removed")
        }
    }
}
