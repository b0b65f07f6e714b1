internal import ArgumentParser
internal import Coffer

struct VacuumCommand: ChangingOperation {
    static let configuration = CommandConfiguration(
        commandName: "vacuum",
        abstract: "Give free pages back to the disk.",
        usage: "coffer vacuum <file> [--into <path>] [options]",
        discussion: """
            Copies the rows into a new file without free pages, with the same key and a fresh salt, and \
            proves the copy. It takes the place of the file in one step, for which nobody else may use the \
            file; or it gets a name of its own with --into, which leaves the database as it is and in use. \
            Content that was deleted leaves the file. Interrupted? Run the same command again.

            EXAMPLES
              coffer vacuum app.db --key-file app.key
              coffer vacuum app.db --into small.db --key-file app.key
              coffer vacuum app.db --into small.db --recipient owner.pub
            """)

    @Argument(help: "The database.", completion: .file())
    var file: String

    @Option(help: ArgumentHelp("Make a new file instead.", valueName: "path"), completion: .file())
    var into: String?

    @Flag(help: "Try the key, say what would be done, and do nothing.")
    var dryRun = false

    @OptionGroup(title: "The key")
    var key: FileKeyOptions

    @OptionGroup(title: "Who opens the new file, where nobody else is to")
    var recipients: RecipientOptions

    @OptionGroup(title: "The format of the file")
    var cipher: CipherOptions

    @OptionGroup(title: "The audit log")
    var audit: AuditOptions

    @OptionGroup(title: "Output and waiting")
    var output: OutputOptions

    func validate() throws {
        if recipients.isGiven, into == nil {
            throw ValidationError("--recipient is for a new file: give --into.")
        }
        if let into { try FileNames.checkIsNoDash(into, "the copy") }
    }

    var subject: String? { file }
    var names: [String] { [file] }

    func run(in session: Session, _ trail: AuditTrail) throws -> ExitStatus {
        try session.keys(key, of: file).open(file, cipher: cipher.settings) { opening in
            if let into, case let slots = try recipients.slotsOfCopy(of: file, opening.key), !slots.isEmpty {
                return try recipients.copying(to: into, slots, isDryRun: dryRun, session) {
                    copyKey, keyring in
                    var conversion = Conversion(
                        file, .copy(to: into, opening.database, newKey: copyKey), cipher: cipher.settings,
                        in: session)
                    conversion.options.companion = keyring
                    try conversion.lookBefore(opening.database)
                    try conversion.perform(isDryRun: dryRun, in: session, trail)
                }
            }
            let work: DatabaseFile.Work =
                if let into { .copy(to: into, opening.database, newKey: nil) } else {
                    .vacuum(opening.database)
                }
            var conversion = Conversion(file, work, cipher: cipher.settings, in: session)
            conversion.keys = .kept(opening.key)
            try conversion.lookBefore(opening.database)
            try conversion.perform(isDryRun: dryRun, in: session, trail)
        }
        return .done
    }
}

extension Conversion {
    /// Finds out what a vacuum will have to say about the file as it was.
    mutating func lookBefore(_ key: DatabaseKey) throws {
        let before = try DatabaseFile(path: source).inspect(key: key, cipher: options.cipher)
        let free = TextLayout.counted(before.freePageCount, "free page", "free pages")
        remark = "before: \(free) of \(TextLayout.grouped(before.pageCount))"
        facts = [
            .init("pages_before", .count(before.pageCount)),
            .init("free_pages_before", .count(before.freePageCount)),
        ]
    }
}
