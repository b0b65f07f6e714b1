internal import ArgumentParser
internal import Coffer

struct BackupCommand: Operation {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Copy a database into a new file, while it is in use.",
        usage: "coffer backup <source> <destination> [options]",
        discussion: """
            The copy is one state of the database, encrypted with the same key (or with a new one) and a fresh salt. It gets its name \
            when it was read again and found equal. Never overwrites. To restore, copy the backup to a new place in the same way.

            EXAMPLES
              coffer backup app.db /backup/app-2026-11-21.db --key-file app.key
              coffer backup app.db safe.db --key-file app.key --new-key-file safe.key
              coffer backup /backup/app-2026-11-21.db app.db --key-file app.key
            """)

    @Argument(help: "The database.", completion: .file())
    var source: String

    @Argument(help: "The file to make.", completion: .file())
    var destination: String

    @Flag(help: "Try the keys, say what would be done, and do nothing.")
    var dryRun = false

    @OptionGroup(title: "The key")
    var key: KeyOptions

    @OptionGroup(title: "The key of the copy, where it is another one")
    var newKey: NewKeyOptions

    @OptionGroup(title: "The format of the files")
    var cipher: CipherOptions

    @OptionGroup(title: "The audit log")
    var audit: AuditOptions

    @OptionGroup(title: "Output and waiting")
    var output: OutputOptions

    func validate() throws { try FileNames.checkIsNoDash(destination, "the copy") }

    var subject: String? { source }

    func run(in session: Session) throws -> ExitStatus {
        session.reporter.start([.init("files", .strings([source, destination])), .init("dry_run", .bool(dryRun))])
        let trail = try audit.trail(session, command: Self.title)
        let old = try key.request()
        let new = try newKey.isGiven ? newKey.request(besides: key) : nil
        try FileNames.checkReadable(source)
        try FileNames.checkHasBytes(source)
        let opening = try session.keys.key(old, subject: source)
        let copyKey = try new.map { request throws(Failure) in try session.keys.key(request, subject: destination) }
        var options = DatabaseFile.ConversionOptions()
        options.cipher = cipher.settings
        options.lockTimeout = session.lockTimeout
        let file = DatabaseFile(path: source)
        var verification = DatabaseFile.VerificationOptions()
        verification.cipher = options.cipher
        let conversion = Conversion(
            source: source, destination: destination, word: "copied", alreadyWord: "is there already",
            examine: { try file.verify(key: opening.database, options: verification) },
            makePlan: {
                try file.copyPlan(to: destination, key: opening.database, newKey: copyKey?.database, options: options)
            },
            work: { options, progress in
                try file.backup(
                    to: destination, key: opening.database, newKey: copyKey?.database, options: options, progress: progress)
            })
        try conversion.perform(options, isDryRun: dryRun, in: session, trail)
        return .done
    }
}
