internal import ArgumentParser
internal import Coffer

struct RestoreCommand: ChangingOperation {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Put a backup in the place of a database.",
        usage: "coffer restore <backup> <file> [options]",
        discussion: """
            Copies the backup beside the database with a fresh salt, proves the copy (each page, the structure, all content), and puts it in \
            the place of the database in one step. Refuses when somebody has the database open. What was there, whatever it is, keeps its content and \
            its log or journal under another name: by default that of the database with .replaced- and the time in UTC. Erase it when you \
            need it no more. Interrupted? The database is the old one or the restored one; run the same command again.

            EXAMPLES
              coffer restore /backup/app.db.20261122T214512.345Z-9f3c2a1b.backup app.db --key-file app.key
              coffer restore old.db app.db --key-file old.key --new-key-file app.key
            """)

    @Argument(help: "The backup.", completion: .file())
    var backup: String

    @Argument(help: "The database.", completion: .file())
    var file: String

    @Option(
        help: ArgumentHelp("Keep what is there under this name, on the same file system.", valueName: "path"), completion: .file())
    var keepOld: String?

    @Flag(help: "Try the keys, say what would be done, and do nothing.")
    var dryRun = false

    @OptionGroup(title: "The key of the backup")
    var key: FileKeyOptions

    @OptionGroup(title: "The key that the database is to have, where it is another one")
    var newKey: NewKeyOptions

    @OptionGroup(title: "The format of the files")
    var cipher: CipherOptions

    @OptionGroup(title: "The audit log")
    var audit: AuditOptions

    @OptionGroup(title: "Output and waiting")
    var output: OutputOptions

    func validate() throws {
        try FileNames.checkIsNoDash(file, "the database")
        if let keepOld { try FileNames.checkIsNoDash(keepOld, "the old file") }
    }

    var subject: String? { file }
    var names: [String] { [backup, file] }

    func run(in session: Session, _ trail: AuditTrail) throws -> ExitStatus {
        let new = try newKey.isGiven ? newKey.request(besides: key) : nil
        let keys = try session.keys(key, of: backup)
        let fileKey = try new.map { request throws(Failure) in try session.keys.key(request, subject: file) }
        return try keys.open(backup, cipher: cipher.settings) { opening in
            var conversion = Conversion(
                backup, .restore(to: file, opening.database, newKey: fileKey?.database), cipher: cipher.settings, in: session)
            conversion.options.keepOldPath = keepOld
            conversion.keys = .changed(from: nil, to: fileKey ?? opening.key)
            try conversion.perform(isDryRun: dryRun, in: session, trail)
            return .done
        }
    }
}
