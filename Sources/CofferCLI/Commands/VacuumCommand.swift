internal import ArgumentParser
internal import Coffer

struct VacuumCommand: Operation {
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

    @OptionGroup(title: "The audit log")
    var audit: AuditOptions

    @OptionGroup(title: "Output and waiting")
    var output: OutputOptions

    func validate() throws {
        if let into { try FileNames.checkIsNoDash(into, "the copy") }
    }

    var subject: String? { file }

    func run(in session: Session) throws -> ExitStatus {
        session.reporter.start([.init("files", .strings([file])), .init("dry_run", .bool(dryRun))])
        let trail = try audit.trail(session, command: Self.title)
        try FileNames.checkReadable(file)
        try FileNames.checkHasBytes(file)
        let opening = try session.keys.key(key.request(), subject: file)
        var options = DatabaseFile.ConversionOptions()
        options.cipher = cipher.settings
        options.lockTimeout = session.lockTimeout
        let source = DatabaseFile(path: file)
        var verification = DatabaseFile.VerificationOptions()
        verification.cipher = options.cipher
        var conversion = Conversion(
            source: file, destination: into, word: into == nil ? "compacted" : "copied without free pages", alreadyWord: "is there already",
            examine: { try source.verify(key: opening.database, options: verification) },
            makePlan: {
                if let into { return try source.copyPlan(to: into, key: opening.database, options: options) }
                return try source.vacuumPlan(key: opening.database, options: options)
            },
            work: { options, progress in
                if let into { return try source.vacuum(into: into, key: opening.database, options: options, progress: progress) }
                return try source.vacuum(key: opening.database, options: options, progress: progress)
            })
        let before = try source.inspect(key: opening.database, cipher: options.cipher)
        let free = TextLayout.counted(before.freePageCount, "free page", "free pages")
        conversion.remark = "before: \(free) of \(TextLayout.grouped(before.pageCount))"
        conversion.facts = [.init("pages_before", .count(before.pageCount)), .init("free_pages_before", .count(before.freePageCount))]
        try conversion.perform(options, isDryRun: dryRun, in: session, trail)
        return .done
    }
}
