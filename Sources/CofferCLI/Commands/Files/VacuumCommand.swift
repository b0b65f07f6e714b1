internal import ArgumentParser
internal import Coffer

struct VacuumCommand: ChangingOperation, FileOperation {
    static let configuration = CommandConfiguration.coffer(
        "vacuum <file> [--into <path>] [options]", abstract: "Return free pages to the disk.",
        discussion: """
            Copies the rows to a new file without free pages, with the same key and a fresh salt, and proves \
            the copy. The copy replaces the file atomically, while no other process may use the file. With \
            --into it gets its own name instead, and the database stays unchanged and in use. Deleted \
            content leaves the file. Interrupted? Run the same command again.

            EXAMPLES
              coffer vacuum app.db --key file:app.key
              coffer vacuum app.db --into small.db --key file:app.key
              coffer vacuum app.db --into small.db --recipient owner.pub
            """)

    @Argument(help: "The database.", completion: .file())
    var file: String

    @Option(help: .value("path", "Create a new file instead."), completion: .file())
    var into: String?

    @Flag(help: "Try the key and show the plan; change nothing.")
    var dryRun = false

    @OptionGroup(title: "The key")
    var key: FileKeyOptions

    @OptionGroup(title: "The recipients of the new file")
    var recipients: RecipientOptions

    @OptionGroup(title: "The format of the file")
    var cipher: CipherOptions

    @OptionGroup(title: "The audit log")
    var audit: AuditOptions

    @OptionGroup(title: "Output and waiting")
    var output: OutputOptions

    var names: [String] { [file] + (into.map { [$0] } ?? []) }

    func validate() throws {
        if recipients.isGiven, into == nil {
            throw ValidationError("--recipient needs a new file. Give --into.")
        }
        if let into { try FileNames.checkIsNoDash(into, "the copy") }
    }

    func run(in session: Session, _ trail: AuditTrail) throws -> ExitStatus {
        try session.keys(key, of: file).open(file, cipher: cipher.settings) { opening in
            func perform(
                _ work: DatabaseFile.Work, _ keys: KeyPassage = .unknown, _ keyring: KeyringOfCopy? = nil
            ) throws {
                var conversion = Conversion(
                    file, work, cipher: cipher.settings, keys: keys, companion: keyring, in: session)
                try conversion.lookBefore(opening.database)
                try conversion.perform(isDryRun: dryRun, in: session, trail)
            }
            guard let into else { return try perform(.vacuum(opening.database), .kept(opening.key)) }
            let slots = try recipients.slotsOfCopy(of: file, opening.key)
            guard !slots.isEmpty else {
                return try perform(.copy(to: into, opening.database, newKey: nil), .kept(opening.key))
            }
            try recipients.copying(to: into, slots, isDryRun: dryRun, session) { copyKey, keyring in
                try perform(.copy(to: into, opening.database, newKey: copyKey), .unknown, keyring)
            }
        }
        return .done
    }
}
