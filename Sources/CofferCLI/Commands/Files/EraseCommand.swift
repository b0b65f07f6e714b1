internal import ArgumentParser
internal import Coffer

struct EraseCommand: ChangingOperation, FileOperation {
    static let configuration = CommandConfiguration.coffer(
        "erase <file> --yes-erase <name> [options]",
        abstract: "Remove a database, its keyring and log, and leftovers of interrupted runs.",
        discussion: """
            Overwrites the start of each file first, including the salt, without which no passphrase opens \
            any remnants. It cannot promise more: snapshots, copy-on-write file systems and flash memory may \
            keep old content, and a raw key still reads remaining pages. Backups stay, and so do old files \
            that other commands have kept: those next to the database, or in the log of --audit, are named.

            EXAMPLES
              coffer erase old.db --dry-run
              coffer erase /srv/app/old.db --yes-erase old.db
            """)

    @Argument(help: "The database.", completion: .file())
    var file: String

    @Option(help: .value("name", "The name of the file, without its directory, to confirm."))
    var yesErase: String?

    @Flag(help: "Also erase a file that is not a database.")
    var anyFile = false

    @Flag(help: "Show the files to remove; change nothing.")
    var dryRun = false

    @OptionGroup(title: "The audit log")
    var audit: AuditOptions

    @OptionGroup(title: "Output and waiting")
    var output: OutputOptions

    func run(in session: Session, _ trail: AuditTrail) throws -> ExitStatus {
        let database = DatabaseKeyring(databasePath: file)
        let facts = ErasedFileFacts(of: file)
        guard !dryRun else {
            let files = try database.erasurePlan()
            if !anyFile { try facts.checkIsDatabase() }
            session.reporter.result(
                ["path": file, "dry_run": true, "changed": false, "files": files, "code": 0],
                text: ["\(file): would be erased; nothing was changed"] + files.map { "  \($0)" },
                isAnswer: true)
            facts.tellKeptFiles(trail.log, session.reporter)
            return .done
        }
        let name = try FileNames.confirmed(yesErase, "--yes-erase", of: file, "To erase it")
        if !anyFile { try facts.checkIsDatabase() }
        let others = SameKeyrings(as: file)
        var files: [String] = []
        try trail.record(file) { _ in
            files = try database.eraseDatabase(confirming: name, lockTimeout: session.lockTimeout)
            return true
        }
        session.reporter.result(
            ["path": file, "changed": true, "files": files, "code": 0],
            text: ["\(file): erased (\(counted: files.count, "file"))"])
        session.reporter.note(
            "Snapshots, backups and the disk itself may still have its content; see 'coffer erase --help'.")
        if facts.isLargePlaintext {
            session.reporter.warning(
                "'\(file)' was not encrypted. Only its first 64 KiB were overwritten: the disk may still "
                    + "have the rest, readable without a key.")
        }
        facts.tellKeptFiles(trail.log, session.reporter)
        others.tell(onlyMoved: true, session.reporter)
        return .done
    }
}
