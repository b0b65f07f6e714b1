internal import ArgumentParser
internal import Coffer

struct EncryptCommand: ChangingOperation {
    static let configuration = CommandConfiguration.coffer(
        "encrypt <source> [<destination>] [options]",
        abstract: "Encrypt a plaintext SQLite database, in place or as a copy.",
        discussion: """
            Creates a copy, encrypts and proves it. Keeps row IDs, versions and the auto-vacuum mode. With a \
            destination, the source is not changed. Without one, the copy replaces the source atomically, \
            and the plaintext file is kept next to it, with .plaintext appended to its name, or as \
            --keep-old. A file that the key already opens is not changed. When the encrypted file is in use, \
            erase the plaintext one, and remember its backups. Plaintext may stay on the disk until it is \
            overwritten.

            EXAMPLES
              coffer encrypt app.db --key file:app.key
              coffer encrypt plain.db app.db --key file:app.key
              coffer encrypt plain.db app.db --recipient owner.pub
            """)

    @Argument(help: "The plaintext database.", completion: .file())
    var source: String

    @Argument(help: "The file to create. Without it, the source is replaced.", completion: .file())
    var destination: String?

    @Option(
        help: .value("path", "Keep the replaced plaintext file under this name."), completion: .file())
    var keepOld: String?

    @Flag(help: "Show the plan; change nothing.")
    var dryRun = false

    @OptionGroup(title: "The key of the encrypted file")
    var key: KeyOptions<OneKey>

    @OptionGroup(title: "The recipients of the encrypted file")
    var recipients: RecipientOptions

    @OptionGroup(title: "The format of the encrypted file")
    var cipher: CipherOptions

    @OptionGroup(title: "The audit log")
    var audit: AuditOptions

    @OptionGroup(title: "Output and waiting")
    var output: OutputOptions

    func validate() throws {
        try FileNames.checkIsNoDash(destination ?? source, "the encrypted file")
        if let keepOld {
            guard destination == nil else {
                throw ValidationError("With a destination, the source stays. Omit --keep-old.")
            }
            try FileNames.checkIsNoDash(keepOld, "the old file")
        }
        if destination == nil, recipients.isGiven {
            throw ValidationError(
                "--recipient needs a destination. Or encrypt the file with a key, and run 'coffer key init'.")
        }
        if recipients.isGiven, try key.isGiven {
            throw ValidationError("Give the encrypted file a key or recipients, not both.")
        }
    }

    var subject: String? { source }
    var names: [String] { [source] + [destination].compactMap { $0 } }

    func run(in session: Session, _ trail: AuditTrail) throws -> ExitStatus {
        guard let destination else { return try replace(in: session, trail) }
        try FileNames.checkReadable(source)
        guard try DatabaseFile(path: source).inspect().kind == .plaintext else {
            throw Failure(
                .badData, "not_plaintext",
                "'\(source)' is not a plaintext SQLite database; see 'coffer info'."
            ).about(source)
        }
        try recipients.making(destination, from: source, orWith: key, isDryRun: dryRun, session) {
            key, keys, keyring in
            var conversion = Conversion(
                source, .encrypt(to: destination, key), keys: keys, companion: keyring, in: session)
            conversion.options.newCipher = cipher.settings
            try conversion.perform(isDryRun: dryRun, in: session, trail)
        }
        return .done
    }

    /// Replaces the source by the encrypted copy, as a batch does.
    private func replace(in session: Session, _ trail: AuditTrail) throws -> ExitStatus {
        let key = try session.key(key.request(.new), of: source)
        var conversion = Conversion(
            source, .encrypt(to: nil, key.database), keys: .changed(from: nil, to: key),
            keepOldPath: keepOld ?? source + ".plaintext", in: session)
        conversion.options.newCipher = cipher.settings
        conversion.whenDone = { result in
            guard let kept = result.keptOldPath else { return }
            session.reporter.warning(
                "'\(kept)' is readable without a key. When the encrypted file is in use, erase it: "
                    + "coffer erase \(kept) --yes-erase \(FileNames.name(of: kept))")
        }
        try conversion.perform(isDryRun: dryRun, in: session, trail)
        return .done
    }
}
