internal import ArgumentParser
internal import Coffer
internal import Glibc

struct QueryCommand: FileOperation {
    static let configuration = CommandConfiguration.coffer(
        "query <file> [<sql>] [options]", abstract: "Run SQL statements; --write lets them change data.",
        discussion: """
            Read-only, unless --write is given. The statements come from the argument, from a script \
            (--from), or from the standard input ('-', or nothing), where other users of the machine cannot \
            see them. They run in order, up to the first that fails: earlier ones stay, unless all are one \
            transaction, by --transaction or by their own BEGIN and COMMIT. A transaction left open is \
            rolled back, and is an error. Values for parameters are texts, unless --bind gives another type: \
            int, real, blob (in hexadecimal digits) or null. In each format, NULL, infinities and blobs \
            differ from texts that look like them. With --json each row is a result; --format json prints an \
            array for each statement that has rows.

            EXAMPLES
              coffer query app.db "SELECT * FROM note LIMIT 10"
              coffer query app.db "SELECT * FROM note" --format csv > notes.csv
              coffer query app.db "SELECT * FROM note WHERE id = :id" --bind id:int=7
              coffer query app.db --write --transaction --from schema.sql
            """)

    @Argument(help: "The database.", completion: .file())
    var file: String

    @Argument(help: "The statements, or '-' to read them from the standard input.")
    var sql: String?

    @Option(help: .value("script", "Read the statements from a file."), completion: .file())
    var from: String?

    /// The older name of `--from`.
    @Option(name: .customLong("file"), help: .hidden, completion: .file())
    var olderFrom: String?

    @Flag(help: "Allow the statements to change the database.")
    var write = false

    @Flag(help: "Run the statements as one transaction: all or nothing.")
    var transaction = false

    @Option(help: .value("value", "A value for a parameter: name=text, or name:type=value (repeatable)."))
    var bind: [String] = []

    @OptionGroup(title: "Rows")
    var rows: RowOptions

    @Flag(help: "Compile the statements without running them.")
    var dryRun = false

    @OptionGroup(title: "The key")
    var key: FileKeyOptions

    @OptionGroup(title: "The format of the file")
    var cipher: CipherOptions

    @OptionGroup(title: "The audit log")
    var audit: AuditOptions

    @OptionGroup(title: "Output and waiting")
    var output: OutputOptions

    func validate() throws {
        try rows.check(output)
        if sql != nil && script != nil {
            throw ValidationError("Give the statements as an argument or with --from, not both.")
        }
    }

    var inputUse: String? { source == "-" ? "The statement" : nil }

    private var script: String? { from ?? olderFrom }

    /// The script to read if no argument contains statements.
    private var source: String? { script ?? (sql == nil || sql == "-" ? "-" : nil) }

    func run(in session: Session, _ trail: AuditTrail) throws -> ExitStatus {
        try FileNames.checkReadable(file)
        if sql == nil, script == nil, isatty(STDIN_FILENO) == 1 {
            throw Failure.usage(
                "Give a statement, a script with --from, or '-' to type statements up to Ctrl-D.")
        }
        if let sql, ShellWord.showsSchema(sql), !output.json, !dryRun, !transaction, bind.isEmpty {
            return try show(sql, session, trail)
        }
        let script = try Script(source.map { path throws(Failure) in try Script.read(path) } ?? sql ?? "")
        let values = try BoundValues(bind.map(BoundValue.init))
        let keys = try FileKeys(key, KeyCache(session.keys, subject: file))
        return try keys.open(file, cipher: cipher.settings) { opening in
            let run = ScriptRun(
                script, values, allowsWriting: write, isTransaction: transaction, isDryRun: dryRun,
                printer: RowPrinter(rows.style, reporter: session.reporter), reporter: session.reporter)
            _ = try run.perform(file, opening, cipher.settings, in: session, trail)
            return .done
        }
    }

    /// Runs a command of the shell.
    private func show(_ command: String, _ session: Session, _ trail: AuditTrail) throws -> ExitStatus {
        try session.keys(key, of: file).open(file, cipher: cipher.settings) { opening in
            let configuration = session.configuration(opening.database, cipher.settings, readonly: true)
            try trail.record(file, .kept(opening.key)) { _ in
                let queue = try ReadableQueue.open(file, configuration)
                let shell = ShellSession(
                    queue, name: FileNames.name(of: file), isEncrypted: true, allowsWriting: false,
                    isInteractive: false, in: session)
                try shell.take(command)
                try queue.close()
                return false
            }
            return .done
        }
    }
}
