internal import ArgumentParser

struct BatchQueryCommand: BatchOperation {
    static let configuration = CommandConfiguration.batch(
        "query", abstract: "Run the same SQL statements in many files.",
        arguments: "[<sql>] ",
        discussion: """
            Read-only, unless --write is given: then folders need --name. The first column of the rows is \
            the path of the file; in JSON, each object has it. With --write and --transaction, each file \
            gets all of the statements or none.
            """,
        examples: """
              coffer batch query "SELECT count(*) FROM note" --manifest list --format csv --key file:app.key
              coffer batch query --from change.sql --write --transaction --manifest list --key file:app.key
            """)

    @Argument(help: "The statements.")
    var sql: String?

    @Option(help: .value("script", "Read the statements from a file."), completion: .file())
    var from: String?

    /// The older name of `--from`.
    @Option(name: .customLong("file"), help: .hidden, completion: .file())
    var olderFrom: String?

    @Flag(help: "Allow the statements to change the databases.")
    var write = false

    @Flag(help: "Run the statements as one transaction per file: all or nothing.")
    var transaction = false

    @Flag(help: "With --continue, also run files in which an earlier run ended in the middle of its work.")
    var repeatUnfinished = false

    @Option(help: .value("value", "A value for a parameter: name=text, or name:type=value (repeatable)."))
    var bind: [String] = []

    @OptionGroup(title: "Rows")
    var rows: RowOptions

    @OptionGroup
    var batch: BatchOptions

    @Flag(help: "Compile the statements without running them.")
    var dryRun = false

    @OptionGroup(title: "The key")
    var key: FileKeyOptions

    @OptionGroup(title: "The format of the files")
    var cipher: CipherOptions

    @OptionGroup(title: "The audit log")
    var audit: AuditOptions

    @OptionGroup(title: "Output and waiting")
    var output: OutputOptions

    var onlyReads: Bool { !write }

    private var script: String? { from ?? olderFrom }

    /// The first argument is a folder too if the statements are in a file.
    var folders: [String] { (script == nil ? [] : [sql].compactMap { $0 }) + batch.folders }

    func validate() throws {
        try rows.check(output)
        let isTwice = script != nil && batch.list.manifest != nil && sql != nil
        guard sql != nil || script != nil, !isTwice else {
            throw ValidationError("Give the statements as an argument or with --from.")
        }
        if repeatUnfinished, !(write && batch.continues) {
            throw ValidationError("--repeat-unfinished needs --write and --continue.")
        }
        if sql == "-" || script == "-" {
            throw ValidationError("The statements of a batch come from an argument or a file.")
        }
        if batch.jobs > 1, !output.json {
            throw ValidationError("The rows of several files would mix: --jobs needs --json here.")
        }
    }

    func job(_ setting: BatchSetting) throws -> BatchJob {
        let text = try script.map { path throws(Failure) in try Script.read(path) } ?? sql ?? ""
        let (script, values) = try (Script(text), bind.map(BoundValue.init))
        let header = SharedHeader()
        let identity = ([text] + bind).joined(separator: "\0")
        return BatchJob(
            identity: identity, isUnrepeatable: write && !dryRun, repeatsUnfinished: repeatUnfinished
        ) { item in
            setting.opens(item, cipher: cipher.settings)
        } prepare: { item in
            let keys = try setting.keysOfPresent(item)
            let cipher = item.cipher ?? cipher.settings
            return {
                // The rows of this file would be lost.
                try setting.session.reporter.checkOutput()
                return try keys.open(item.location, cipher: cipher) { key in
                    let run = try ScriptRun(
                        script, BoundValues(values), allowsWriting: write, isTransaction: transaction,
                        isDryRun: dryRun,
                        printer: RowPrinter(
                            rows.style, reporter: setting.session.reporter, path: item.path, header: header
                        ),
                        reporter: setting.session.reporter, path: item.path)
                    let isChanged = try run.perform(
                        item.location, key, cipher, in: setting.session, setting.trail)
                    // A failure would let the next run repeat a committed change.
                    if !isChanged { try setting.session.reporter.checkOutput() }
                    return .init(isChanged: isChanged, group: key.option)
                }
            }
        }
    }
}
