internal import ArgumentParser
internal import Coffer

struct VacuumCommand: ChangingOperation, FileOperation {
    static let configuration = CommandConfiguration.coffer(
        "vacuum <file> [<destination>] [options]", abstract: "Return free pages to the disk.",
        discussion: """
            Copies the rows to a new file without free pages, with the same key and a fresh salt, and proves \
            the copy. The copy replaces the file atomically, while no other process may use the file. With \
            a destination, the copy gets that name, and the database stays unchanged and in use. Deleted \
            content leaves the file. Interrupted? Run the same command again.

            EXAMPLES
              coffer vacuum app.db --key file:app.key
              coffer vacuum app.db small.db --key file:app.key
              coffer vacuum app.db small.db --recipient owner.pub
            """)

    @Argument(help: "The database.", completion: .file())
    var file: String

    @Argument(help: "The file to create. Without it, <file> is replaced.", completion: .file())
    var destination: String?

    /// The older form of the destination.
    @Option(help: .hidden, completion: .file())
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

    var names: [String] { [file] + [copy].compactMap { $0 } }

    private var copy: String? { destination ?? into }

    func validate() throws {
        if destination != nil, into != nil { throw ValidationError("Give one destination.") }
        if recipients.isGiven, copy == nil {
            throw ValidationError("--recipient needs a new file. Give its name after the database.")
        }
        if let copy { try FileNames.checkIsNoDash(copy, "the copy") }
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
            guard let copy else { return try perform(.vacuum(opening.database), .kept(opening.key)) }
            let slots = try recipients.slotsOfCopy(of: file, opening.key)
            guard !slots.isEmpty else {
                return try perform(.copy(to: copy, opening.database, newKey: nil), .kept(opening.key))
            }
            try recipients.copying(to: copy, slots, isDryRun: dryRun, session) { copyKey, keyring in
                try perform(.copy(to: copy, opening.database, newKey: copyKey), .unknown, keyring)
            }
        }
        return .done
    }
}
