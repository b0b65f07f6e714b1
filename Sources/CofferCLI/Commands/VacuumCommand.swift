internal import ArgumentParser
internal import Coffer

struct VacuumCommand: Operation {
    static let configuration = CommandConfiguration(
        commandName: "vacuum",
        abstract: "Give free pages back to the disk.",
        usage: "coffer vacuum <file> [--into <path>] [options]",
        discussion: """
            Rewrites the database without its free pages: in place, or into a new file with --into, which leaves the database as it is and \
            gives the copy a fresh salt. Content that was deleted leaves the file.

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

    func run(in session: Session) throws -> ExitStatus {
        session.reporter.start([.init("files", .strings([file])), .init("dry_run", .bool(dryRun))])
        let trail = try audit.trail(session, command: Self.title)
        try FileNames.checkExists(file)
        let opening = try session.keys.key(key.request(), subject: file)
        let configuration = session.configuration(opening.database, cipher.settings)
        guard let into else {
            try vacuum(configuration, session, trail)
            return .done
        }
        var options = DatabaseFile.ConversionOptions()
        options.cipher = cipher.settings
        options.lockTimeout = session.lockTimeout
        let source = DatabaseFile(path: file)
        let conversion = Conversion(
            source: file, destination: into, word: "copied without free pages", alreadyWord: "is there already",
            makePlan: { try source.copyPlan(to: into, key: opening.database, options: options) },
            work: { options, progress in try source.vacuum(into: into, key: opening.database, options: options, progress: progress) })
        try conversion.perform(options, isDryRun: dryRun, in: session, trail)
        return .done
    }

    private func vacuum(_ configuration: Configuration, _ session: Session, _ trail: AuditTrail) throws {
        let queue = try DatabaseQueue(path: file, configuration: configuration)
        let before = try DatabaseQueue.pageCounts(queue)
        guard !dryRun else {
            try queue.close()
            session.reporter.result(
                [
                    .init("path", .string(file)), .init("dry_run", true), .init("changed", false), .init("free_pages", .count(before.free)),
                    .init("code", 0),
                ],
                text: [
                    "\(file): \(TextLayout.counted(before.free, "free page", "free pages")) of \(TextLayout.grouped(before.all)) would go"
                ])
            return
        }
        try trail.record(file) { _ in
            try session.interruption.cooperatively(onSignal: { queue.interrupt() }) { try queue.vacuum() }
            return true
        }
        let after = try DatabaseQueue.pageCounts(queue)
        try queue.close()
        session.reporter.result(
            [
                .init("path", .string(file)), .init("changed", true), .init("pages_before", .count(before.all)),
                .init("pages", .count(after.all)), .init("code", 0),
            ],
            text: ["\(file): \(TextLayout.counted(after.all, "page", "pages")), of \(TextLayout.grouped(before.all)) before"])
    }
}

extension DatabaseQueue {
    fileprivate static func pageCounts(_ queue: DatabaseQueue) throws -> (all: Int, free: Int) {
        try queue.read { db in
            let all = try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0
            return (all, try Int.fetchOne(db, sql: "PRAGMA freelist_count") ?? 0)
        }
    }
}
