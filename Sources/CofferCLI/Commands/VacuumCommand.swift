internal import ArgumentParser
internal import Coffer

struct VacuumCommand: ChangingOperation {
    static let configuration = CommandConfiguration(
        commandName: "vacuum",
        abstract: "Return free pages to the disk.",
        usage: "coffer vacuum <file> [--into <path>] [options]",
        discussion: """
            Copies the rows to a new file without free pages, with the same key and a fresh salt, and proves \
            the copy. The copy replaces the file atomically, while no other process may use the file. With \
            --into it gets its own name instead, and the database stays unchanged and in use. Deleted \
            content leaves the file. Interrupted? Run the same command again.

            EXAMPLES
              coffer vacuum app.db --key-file app.key
              coffer vacuum app.db --into small.db --key-file app.key
              coffer vacuum app.db --into small.db --recipient owner.pub
            """)

    @Argument(help: "The database.", completion: .file())
    var file: String

    @Option(help: ArgumentHelp("Create a new file instead.", valueName: "path"), completion: .file())
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

    func validate() throws {
        if recipients.isGiven, into == nil {
            throw ValidationError("--recipient needs a new file. Give --into.")
        }
        if let into { try FileNames.checkIsNoDash(into, "the copy") }
    }

    var subject: String? { file }
    var names: [String] { [file] + (into.map { [$0] } ?? []) }

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
    /// Collects the facts about the file before the vacuum, for the report.
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
