internal import ArgumentParser
internal import Coffer
internal import SystemCalls

/// The secret of a new slot: a new key from one of the sources, a recipient, or a recovery key that is
/// generated and shown once.
struct NewSlotOptions: ParsableArguments {
    @OptionGroup
    var secret: NewKeyOptions

    @OptionGroup
    var recipients: RecipientOptions

    @Flag(help: "Create a recovery key and print it once, alone on the standard output. It is not stored.")
    var recovery = false

    @Option(
        name: .customLong("command"),
        help: .value(
            "command",
            "Add a slot that a program opens, such as the client of a key service: see keyring-format.md, "
                + "on Debian in /usr/share/doc/coffer."))
    var program: String?

    @Option(help: .value("text", "A name for the slot; not secret."))
    var name: String?

    func validate() throws {
        let isPair = try secret.isGiven && recovery
        if try kindCount > (isPair ? 2 : 1) { throw NewSlotOptions.several }
        _ = try programWords()
    }

    private var kindCount: Int {
        get throws {
            try (secret.isGiven ? 1 : 0) + (recipients.isGiven ? 1 : 0) + (recovery ? 1 : 0)
                + (program == nil ? 0 : 1)
        }
    }

    private static let several = ValidationError(
        "Give only one kind of slot: --new-key, --recipient, --recovery or --command.")

    /// Throws if two slots are to be created. Only a new keyring gets both or none.
    func checkIsOne() throws {
        if try kindCount > 1 { throw NewSlotOptions.several }
    }

    /// Throws if the recovery key would become part of JSON, which programs store and forward.
    ///
    /// Not part of the validation: that precedes the parser's check for unexpected arguments, and a secret
    /// among those is the worse mistake.
    func check(_ output: OutputOptions) throws(Failure) {
        guard recovery && output.json else { return }
        throw .usage("The recovery key and JSON cannot both go to the standard output.")
    }

    private func programWords() throws -> [String]? {
        try program.map { try CommandWords.split($0, option: "command") }
    }

    /// The slots to create.
    struct Made {
        var slots: [DatabaseKeyring.NewSlot]
        /// The recovery key to print before the keyring gets its slot.
        var recovery: DatabaseKeyring.RecoveryKey?
    }

    /// Reads or generates the secrets. If no source was given, prompts at the terminal.
    func make(besides unlock: UnlockOptions?, _ session: Session, subject: String) throws -> Made {
        let name = name ?? ""
        if recipients.isGiven { return Made(slots: try recipients.slots(named: name)) }
        if let words = try programWords() {
            let request = KeyRequest(role: .new, source: .command(words), use: .unlocking(.command))
            return Made(slots: [.secret(try session.keys.slotSecret(request, subject: subject), name: name)])
        }
        if recovery {
            let key = try DatabaseKeyring.RecoveryKey.random()
            guard try secret.isGiven else {
                return Made(slots: [.secret(key.secret, name: name)], recovery: key)
            }
            let other = try secret.slotSecret(besides: unlock, session, subject: subject)
            // The recovery key is first. A second run recognizes an interrupted keyring by its first slot,
            // and must not complete this one and print another recovery key.
            return Made(slots: [.secret(key.secret), .secret(other, name: name)], recovery: key)
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
    /// Returns a new passphrase or raw key for a slot.
    func slotSecret(besides unlock: UnlockOptions?, _ session: Session, subject: String) throws
        -> DatabaseKeyring.Secret
    {
        let given = try given() ?? .prompt
        let type = given.typed.type
        guard type == nil || type == .passphrase || type == .raw else {
            throw Failure.usage("A slot takes a passphrase, or a raw key without a salt.")
        }
        let request = KeyRequest(
            role: .new, source: given.typed.source, use: .unlocking(type?.unlock), origin: given.origin)
        if request.source == .standardInput, try unlock?.request()?.source == .standardInput {
            throw Failure.usage(
                "The two secrets cannot both come from the standard input. Give one by a file or a file "
                    + "descriptor."
            )
        }
        return try session.keys.slotSecret(request.forDatabases([subject]), subject: subject)
    }
}

extension NewSlotOptions.Made {
    /// Prints the recovery key directly from the wiped memory. Called before the change: a change whose
    /// recovery key was never shown could leave a database that no secret opens.
    ///
    /// - Parameter path: the database.
    func tell(_ path: String, _ session: Session) throws(Failure) {
        guard let recovery else { return }
        var problem: Errno?
        unsafe recovery.withUnsafeText { text in
            do throws(Errno) {
                try unsafe SecretOutput.write(text, "\n")
            } catch {
                problem = error
            }
        }
        if let problem {
            throw Failure(problem, "The recovery key cannot be written, and nothing was changed")
        }
        if let mode = SecretOutput.modeForOthers {
            session.reporter.warning(
                "The recovery key went to a file that others can read (mode \(mode)). Remove that file, or "
                    + "run 'chmod 600' on it.")
        }
        session.reporter.note(
            "The line of letters and digits is the recovery key of \(path), once this command has ended with "
                + "exit code 0. If it fails, keep the key too: the change may have been made. The key is not "
                + "stored: write it down with the name of the database. 'coffer key recover' takes it.")
    }
}
