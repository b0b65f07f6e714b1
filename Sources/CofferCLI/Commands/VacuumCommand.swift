internal import ArgumentParser
internal import Coffer

struct VacuumCommand: ChangingOperation {
    static let configuration = CommandConfiguration(
        commandName: "vacuum",
        abstract: "Give free pages back to the disk.",
        usage: "coffer vacuum <file> [--into <path>] [options]",
        discussion: """
            Copies the rows into a new file without free pages, with the same key and a fresh salt, and proves the copy. It takes the place \
            of the file in one step, for which nobody else may use the file; or it gets a name of its own with --into, which leaves the \
            database as it is and in use. Content that was deleted leaves the file. Interrupted? Run the same command again.

            EXAMPLES
              coffer vacuum app.db --key-file app.key
              coffer vacuum app.db --into small.db --key-file app.key
            """)

    @Argument(help: "The database.", completion: .file())
    var file: String

    @Option(help: ArgumentHelp("Make a new file instead.", valueName: "path"), completion: .file())
    var into: String?

    @Flag(help: "Try the key, say what would be done, and do nothing.")
    var dryRun = false

    @OptionGroup(title: "The key")
    var key: KeyOptions

    @OptionGroup(title: "The format of the file")
    var cipher: CipherOptions

    @OptionGroup
    var record: RecordOptions

    func validate() throws {
        if let into { try FileNames.checkIsNoDash(into, "the copy") }
    }

    var subject: String? { file }
    var names: [String] { [file] }

    func run(in session: Session, _ trail: AuditTrail) throws -> ExitStatus {
        let opening = try session.key(key.request(), of: file).database
        let work: DatabaseFile.Work = if let into { .copy(to: into, opening, newKey: nil) } else { .vacuum(opening) }
        var conversion = Conversion(file, work, cipher: cipher.settings, in: session)
        let before = try DatabaseFile(path: file).inspect(key: opening, cipher: cipher.settings)
        let free = TextLayout.counted(before.freePageCount, "free page", "free pages")
        conversion.remark = "before: \(free) of \(TextLayout.grouped(before.pageCount))"
        conversion.facts = [.init("pages_before", .count(before.pageCount)), .init("free_pages_before", .count(before.freePageCount))]
        try conversion.perform(isDryRun: dryRun, in: session, trail)
        return .done
    }
}
