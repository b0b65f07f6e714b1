internal import ArgumentParser
internal import Coffer

struct DecryptCommand: ChangingOperation {
    static let configuration = CommandConfiguration.coffer(
        "decrypt <source> <destination> --yes-plaintext [options]",
        abstract: "Create a plaintext copy of an encrypted database.",
        discussion: """
            Anyone who can read the copy can read its content, and its plaintext may stay on the disk after \
            it is removed. The copy is readable by you only, has the row IDs and versions of the source, and \
            gets its name only after it was found equal.

            EXAMPLES
              coffer decrypt app.db plain.db --yes-plaintext --key file:app.key
            """)

    @Argument(help: "The encrypted database.", completion: .file())
    var source: String

    @Argument(help: "The file to create.", completion: .file())
    var destination: String

    @Flag(help: "Confirm that the copy is readable without a key.")
    var yesPlaintext = false

    @Flag(help: "Try the key and show the plan; change nothing.")
    var dryRun = false

    @OptionGroup(title: "The key")
    var key: FileKeyOptions

    @OptionGroup(title: "The format of the file")
    var cipher: CipherOptions

    @OptionGroup(title: "The audit log")
    var audit: AuditOptions

    @OptionGroup(title: "Output and waiting")
    var output: OutputOptions

    func validate() throws {
        guard yesPlaintext || dryRun else {
            throw ValidationError(
                "The copy would be readable without a key. If that is intended, add --yes-plaintext.")
        }
        try FileNames.checkIsNoDash(destination, "the copy")
    }

    var subject: String? { source }
    var names: [String] { [source, destination] }

    func run(in session: Session, _ trail: AuditTrail) throws -> ExitStatus {
        try session.keys(key, of: source).open(source, cipher: cipher.settings) { opening in
            try Conversion(
                source, .decrypt(to: destination, opening.database), cipher: cipher.settings,
                keys: .changed(from: nil, to: nil), in: session
            ).perform(isDryRun: dryRun, in: session, trail)
        }
        return .done
    }
}
