internal import ArgumentParser
internal import Coffer

struct UpgradeCommand: Operation {
    static let configuration = CommandConfiguration(
        commandName: "upgrade",
        abstract: "Bring files of SQLCipher 1 to 3 into format 4.",
        usage: "coffer upgrade <file>... [options]",
        discussion: """
            Finds out the format, makes a copy in format 4, proves it, and puts it in place in one step. The key stays. Interrupted? Run the \
            same command again. A file that has format 4 is left as it is.

            EXAMPLES
              coffer upgrade old.db --dry-run
              coffer upgrade old.db --key-file app.key --keep-old old-3.db
            """)

    @Argument(help: "The files.", completion: .file())
    var files: [String]

    @Flag(help: "Try the key, say what would be done, and do nothing.")
    var dryRun = false

    @Option(help: ArgumentHelp("Keep the old file under this name.", valueName: "path"), completion: .file())
    var keepOld: String?

    @OptionGroup(title: "The key")
    var key: KeyOptions

    @OptionGroup(title: "The audit log")
    var audit: AuditOptions

    @OptionGroup(title: "Output and waiting")
    var output: OutputOptions

    func validate() throws {
        if let keepOld { try FileNames.checkIsNoDash(keepOld, "the old file") }
        if keepOld != nil && files.count > 1 { throw ValidationError("--keep-old is for one file.") }
    }

    func run(in session: Session) throws -> ExitStatus {
        session.reporter.start([.init("files", .strings(files)), .init("dry_run", .bool(dryRun))])
        let trail = try audit.trail(session, command: Self.title)
        for path in files { try FileNames.checkReadable(path) }
        let opening = try session.keys.key(key.request(), subject: FileNames.subject(files))
        var options = DatabaseFile.ConversionOptions()
        options.keepOldPath = keepOld
        options.lockTimeout = session.lockTimeout
        return try session.forEach(files) { path in
            try FileNames.checkHasBytes(path)
            let file = DatabaseFile(path: path)
            let conversion = Conversion(
                source: path, destination: nil, word: "upgraded to format 4", alreadyWord: "has format 4 already",
                makePlan: { try file.upgradePlan(key: opening.database, options: options) },
                work: { options, progress in try file.upgrade(key: opening.database, options: options, progress: progress) })
            try conversion.perform(options, isDryRun: dryRun, in: session, trail)
        }
    }
}
