internal import ArgumentParser
internal import Coffer

struct BackupCommand: ChangingOperation {
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

    @OptionGroup
    var record: RecordOptions

    func validate() throws { try FileNames.checkIsNoDash(destination, "the copy") }

    var subject: String? { source }
    var names: [String] { [source, destination] }

    func run(in session: Session, _ trail: AuditTrail) throws -> ExitStatus {
        let old = try key.request()
        let new = try newKey.isGiven ? newKey.request(besides: key) : nil
        let opening = try session.key(old, of: source)
        let copyKey = try new.map { request throws(Failure) in try session.keys.key(request, subject: destination) }
        let conversion = Conversion(
            source, .backup(to: destination, opening.database, newKey: copyKey?.database), cipher: cipher.settings, in: session)
        try conversion.perform(isDryRun: dryRun, in: session, trail)
        return .done
    }
}
