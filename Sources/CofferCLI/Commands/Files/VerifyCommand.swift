internal import ArgumentParser
internal import Coffer

struct VerifyCommand: RecordedOperation, MeasuredOperation, EachFileOperation {
    static let configuration = CommandConfiguration.coffer(
        "verify <file or folder>... [options]", abstract: "Check every page and the structure of files.",
        discussion: """
            Checks the MAC of each page, as a reader would see it with the write-ahead log, and then the \
            structure. Changes nothing without --heal-log. Exit code 65 means damage, and the pages are \
            named; 77 means a wrong key. An empty file has lost its content, unless --allow-empty accepts it \
            as never used: SQLite creates such files, coffer does not. A file or page that was replaced by \
            an older copy is not detected. A damaged keyring next to an intact file is a warning.

            In a folder, all databases below it: 'coffer help folders'.

            EXAMPLES
              coffer verify app.db
              coffer verify --structure full --key file:app.key /srv/db/*.db
              coffer verify --threads 8 --key file:app.key large.db
              coffer verify /srv --name '*.vault' --key file:app.key
            """)

    @Argument(help: "The files, and folders of files.", completion: .file())
    var files: [String]

    @OptionGroup
    var search: SearchOptions

    @Option(
        help: .value(
            "depth", "The depth of the structure check: full also compares indexes with their tables."))
    var structure = Structure.quick

    @Flag(help: "Accept empty files as databases that were never used. Otherwise they are damaged.")
    var allowEmpty = false

    @Flag(help: "First checkpoint commits that only processes with the file open can read.")
    var healLog = false

    @Option(help: .value("number", "The number of threads that check pages, from 1 to 64."))
    var threads = ThreadCount.usual

    @OptionGroup(title: "The key")
    var key: FileKeyOptions

    @OptionGroup(title: "The format of the files")
    var cipher: CipherOptions

    @OptionGroup(title: "The audit log")
    var audit: AuditOptions

    @OptionGroup(title: "Metrics")
    var metrics: MetricsOptions

    @OptionGroup(title: "Output and waiting")
    var output: OutputOptions

    enum Structure: String, ExpressibleByArgument, CaseIterable, Sendable {
        case none, quick, full

        /// - Parameter cipher: the cipher settings, or nil to detect the format.
        func options(_ cipher: CipherSettings?, in session: Session) -> DatabaseFile.VerificationOptions {
            var options = DatabaseFile.VerificationOptions()
            options.lockTimeout = session.lockTimeout
            options.cipher = cipher
            options.structure = .init(rawValue: rawValue) ?? .quick
            return options
        }
    }

    var measuredWork: RunMetrics.Work { .verify }
    var names: [String] { files }

    func run(in session: Session, _ trail: AuditTrail) throws -> ExitStatus {
        let hasFolder = files.contains(where: FileSearch.isFolder)
        if hasFolder { try metrics.checkIsOneTarget(files) }
        let found = try session.files(of: files, search, .databasesAndBackups)
        // Asks for no key if no file has one.
        let needsKey = try key.isGiven || found.contains { !isPlaintext($0.path) }
        let keys = try needsKey ? session.keys(key, of: found) : nil
        var options = structure.options(cipher.given, in: session)
        options.threadCount = threads.number
        let status = try session.forEach(found) { path in
            try FileNames.checkReadable(path)
            guard let keys else { throw Failure(.badData, "plaintext", Failure.plaintextAdvice) }
            try keys.open(path, cipher: options.cipher, isNamed: true) { opening in
                try FileVerification(
                    path: path, name: path, key: opening, options: options, isKeyTold: !keys.isOne,
                    allowsEmpty: allowEmpty, healsLog: healLog
                )
                .run(in: session, trail)
            }
        }
        if hasFolder { tell(found, session) }
        return status
    }

    private func isPlaintext(_ path: String) -> Bool {
        (try? DatabaseFile(path: path).inspect().kind) == .plaintext
    }

    /// Reports how many files of folders were verified.
    private func tell(_ found: [FoundFile], _ session: Session) {
        let failed = found.count { session.meter.result(of: $0.path)?.status != .done }
        let bytes = found.reduce(Int64(0)) { $0 + ($1.problem == nil ? FileNames.size($1.path) ?? 0 : 0) }
        session.meter.note(.init(files: found.count, failed: failed, bytes: bytes))
        // The line about a single file says the same.
        guard found.count > 1 else { return }
        session.reporter.note(
            "\(counted: found.count, "file"), \(grouped: failed) failed (\(size: bytes))")
    }

    func runs(_ meter: RunMeter, _ status: ExitStatus) -> [(target: String, run: RunMetrics.Run)] {
        guard let result = meter.batch else { return runs(meter, status, of: names) }
        let run = RunMetrics.Run(
            status: status, end: RunMetrics.now, seconds: meter.seconds, files: result.files,
            failedFiles: result.failed, bytes: result.bytes)
        return [(metrics.target ?? FileNames.canonical(files[0]), run)]
    }
}
