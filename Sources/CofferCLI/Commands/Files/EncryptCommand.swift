internal import ArgumentParser
internal import Coffer

struct EncryptCommand: ChangingOperation {
    static let configuration = CommandConfiguration.coffer(
        "encrypt <source> <destination> [options]",
        abstract: "Create an encrypted copy of a plaintext SQLite database.",
        discussion: """
            Keeps row IDs, versions and the auto-vacuum mode. The source is not changed: when the copy is in \
            use, remove the source, and remember its backups. Plaintext may stay on the disk until it is \
            overwritten.

            EXAMPLES
              coffer encrypt plain.db app.db --key file:app.key
              coffer encrypt plain.db app.db --recipient owner.pub
            """)

    @Argument(help: "The plaintext database.", completion: .file())
    var source: String

    @Argument(help: "The file to create.", completion: .file())
    var destination: String

    @Flag(help: "Show the plan; change nothing.")
    var dryRun = false

    @OptionGroup(title: "The key of the encrypted file")
    var key: KeyOptions

    @OptionGroup(title: "The recipients of the encrypted file")
    var recipients: RecipientOptions

    @OptionGroup(title: "The format of the encrypted file")
    var cipher: CipherOptions

    @OptionGroup(title: "The audit log")
    var audit: AuditOptions

    @OptionGroup(title: "Output and waiting")
    var output: OutputOptions

    func validate() throws {
        try FileNames.checkIsNoDash(destination, "the encrypted file")
        if recipients.isGiven, try key.isGiven {
            throw ValidationError("Give the encrypted file a key or recipients, not both.")
        }
    }

    var subject: String? { source }
    var names: [String] { [source, destination] }

    func run(in session: Session, _ trail: AuditTrail) throws -> ExitStatus {
        try FileNames.checkReadable(source)
        guard try DatabaseFile(path: source).inspect().kind == .plaintext else {
            throw Failure(
                .badData, "not_plaintext",
                "'\(source)' is not a plaintext SQLite database; see 'coffer info'."
            ).about(source)
        }
        try recipients.making(destination, orWith: key, isDryRun: dryRun, session) { key, keys, keyring in
            var conversion = Conversion(
                source, .encrypt(to: destination, key), keys: keys, companion: keyring, in: session)
            conversion.options.newCipher = cipher.settings
            try conversion.perform(isDryRun: dryRun, in: session, trail)
        }
        return .done
    }
}
