internal import ArgumentParser
internal import Coffer

struct EraseCommand: ChangingOperation {
    static let configuration = CommandConfiguration(
        commandName: "erase",
        abstract: "Remove a database, its log, and what interrupted runs have left.",
        usage: "coffer erase <file> --yes-erase <name> [options]",
        discussion: """
            Overwrites the start of each file first, and with it the salt, without which no passphrase opens \
            what may be found of it. It cannot promise more: snapshots, copying file systems and flash \
            memory may keep old content, a raw key still reads pages that are found, and backups are files \
            of their own.

            EXAMPLES
              coffer erase old.db --dry-run
              coffer erase /srv/app/old.db --yes-erase old.db
            """)

    @Argument(help: "The database.", completion: .file())
    var file: String

    @Option(
        help: ArgumentHelp(
            "The name of the file, without its directory, to say that you mean it.", valueName: "name"))
    var yesErase: String?

    @Flag(help: "Say what would be removed, and do nothing.")
    var dryRun = false

    @OptionGroup(title: "The audit log")
    var audit: AuditOptions

    @OptionGroup(title: "Output and waiting")
    var output: OutputOptions

    var subject: String? { file }
    var names: [String] { [file] }

    func run(in session: Session, _ trail: AuditTrail) throws -> ExitStatus {
        let database = DatabaseFile(path: file)
        guard !dryRun else {
            let keyring = DatabaseKeyring(databasePath: file).path
            let files = try database.erasurePlan() + (NewFile.exists(keyring) ? [keyring] : [])
            session.reporter.result(
                [
                    .init("path", .string(file)), .init("dry_run", true), .init("changed", false),
                    .init("files", .strings(files)),
                    .init("code", 0),
                ],
                text: ["\(file): would be erased; nothing was changed"] + files.map { "  \($0)" },
                isAnswer: true)
            return .done
        }
        let name = FileNames.name(of: file)
        guard let yesErase else { throw Failure.usage("To erase it, add: --yes-erase \(name)") }
        guard yesErase == name else {
            throw Failure(
                .badData, "confirmation_mismatch",
                "--yes-erase says '\(yesErase)', and the file is '\(name)'. Nothing was changed.")
        }
        var files: [String] = []
        try trail.record(file) { _ in
            let keyring = DatabaseKeyring(databasePath: file)
            let keyringPath = keyring.path
            // What is not destroyed below would be all that is left.
            if NewFile.exists(keyringPath) { try keyring.checkCanBeDestroyed() }
            // An earlier run may have ended between the two.
            if NewFile.exists(file) || !NewFile.exists(keyringPath) {
                files = try database.erase(confirming: name).removedPaths
            }
            if NewFile.exists(keyringPath) {
                try keyring.destroy(confirming: name, lockTimeout: session.lockTimeout)
                files.append(keyringPath)
            }
            return true
        }
        session.reporter.result(
            [
                .init("path", .string(file)), .init("changed", true), .init("files", .strings(files)),
                .init("code", 0),
            ],
            text: ["\(file): erased (\(TextLayout.counted(files.count, "file", "files")))"])
        session.reporter.note(
            "Snapshots, backups and the disk itself may still have what was in it; see 'coffer erase --help'."
        )
        return .done
    }
}
