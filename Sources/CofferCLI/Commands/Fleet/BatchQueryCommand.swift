internal import ArgumentParser
internal import Coffer

struct BatchQueryCommand: AccessOperation, BatchOperation {
    static let configuration = CommandConfiguration(
        commandName: "query",
        abstract: "Run the same SQL statements in many files.",
        usage: "coffer batch query [<sql>] --manifest <file> [options]",
        discussion: """
            Read-only, unless --write is given. The first column of the rows is the path of the file; in \
            JSON, each object has it. With --write and --transaction, each file gets all of the statements \
            or none.

            \(Manifest.help)

            EXAMPLES
              coffer batch query "SELECT count(*) FROM note" --manifest list --format csv --key-file app.key
              coffer batch query --file change.sql --write --transaction --manifest list --key-file app.key
            """)

    static let title = "batch query"

    @Argument(help: "The statements.")
    var sql: String?

    @Option(
        name: .customLong("file"),
        help: ArgumentHelp("Read the statements from a file.", valueName: "script"), completion: .file())
    var script: String?

    @Flag(help: "Allow the statements to change the databases.")
    var write = false

    @Flag(help: "Run the statements as one transaction per file: all or nothing.")
    var transaction = false

    @Option(help: ArgumentHelp("A value for a parameter: name=text, or name:type=value.", valueName: "value"))
    var bind: [String] = []

    @OptionGroup(title: "Rows")
    var rows: RowOptions

    @OptionGroup
    var batch: BatchOptions

    @Flag(help: "Compile the statements without running them.")
    var dryRun = false

    @OptionGroup
    var access: AccessOptions<SeveralFiles, NoOptions>

    var onlyReads: Bool { !write }

    func validate() throws {
        try rows.check(output)
        guard (sql == nil) != (script == nil) else {
            throw ValidationError("Give the statements as an argument or with --file.")
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
        let (script, bind) = try (Script(text), bind.map(BoundValue.init))
        let (cipher, style, session) = (cipher.settings, rows.style, setting.session)
        let (allowsWriting, isTransaction, isDryRun) = (write, transaction, dryRun)
        let hasHeader = Latch()
        return BatchJob(identity: ([text] + self.bind).joined(separator: "\0")) { item in
            setting.opens(item, cipher: cipher)
        } prepare: { item in
            try FileNames.checkReadable(item.location)
            try FileNames.checkHasBytes(item.location)
            let keys = try setting.keys(of: item)
            return {
                try keys.open(item.location, cipher: item.cipher ?? cipher) { key in
                    var configuration = session.configuration(key.database, item.cipher ?? cipher)
                    configuration.readonly = !allowsWriting
                    // A script that leaves a transaction open is rolled back, and this is reported.
                    configuration.allowsUnsafeTransactions = true
                    let printer = RowPrinter(
                        style, reporter: session.reporter, path: item.path, header: hasHeader)
                    let run = try ScriptRun(
                        script, BoundValues(bind), allowsWriting: allowsWriting, isTransaction: isTransaction,
                        isDryRun: isDryRun,
                        printer: printer, reporter: session.reporter, path: item.path)
                    var isChanged = false
                    if isDryRun {
                        _ = try run.perform(item.location, configuration, in: session)
                    } else {
                        try setting.trail.record(item.location, .kept(key.key)) { _ in
                            isChanged = try run.perform(item.location, configuration, in: session)
                            return isChanged
                        }
                    }
                    return .init(isChanged: isChanged, group: key.option)
                }
            }
        }
    }
}
