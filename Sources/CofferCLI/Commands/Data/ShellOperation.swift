internal import ArgumentParser
internal import Coffer
internal import Foundation
internal import Glibc

struct ShellOperation: FileOperation {
    static let configuration = CommandConfiguration.coffer(
        "shell <file> [<command>...] [options]", abstract: "Run SQL interactively.",
        discussion: """
            Statements end with a semicolon, and can have several lines. Lines that begin with a dot are \
            commands: .help lists them. Tab completes commands, keywords, tables and columns; Ctrl-R \
            searches the history; Ctrl-C ends a statement or clears a line; Ctrl-D ends the shell. The \
            prompt shows the file, whether it is encrypted, and an open transaction, which is rolled back \
            at the end. Results longer than the screen go, as plaintext, through the program in \
            COFFER_PAGER, in PAGER, or 'less -FRX'; '.pager off' prevents that.
            Read-only, unless --write is given. The history is a private file (~/.coffer_history, \
            --history) without keys and values of parameters. Without a terminal, the standard input is a \
            script, and its first failure ends the shell.

            EXAMPLES
              coffer shell app.db --key file:app.key
              coffer shell app.db --write --no-history
            """)

    @Argument(help: "The database.", completion: .file())
    var file: String

    @Argument(help: .value("command", "Statements and shell commands to run instead of typed ones."))
    var commands: [String] = []

    @Flag(help: "Allow statements to change the database.")
    var write = false

    @Flag(help: "Open a database without encryption.")
    var plaintext = false

    @Option(help: .value("file", "The file of the history."), completion: .file())
    var history: String?

    @Flag(help: "Use no history.")
    var noHistory = false

    @OptionGroup(title: "Rows")
    var rows: RowOptions

    @OptionGroup(title: "The key")
    var key: FileKeyOptions

    @OptionGroup(title: "The format of the file")
    var cipher: CipherOptions

    @OptionGroup(title: "The audit log")
    var audit: AuditOptions

    @OptionGroup(title: "Output and waiting")
    var output: OutputOptions

    func validate() throws {
        if output.json {
            throw ValidationError("The shell has no --json. Use coffer query --json, or .mode jsonl.")
        }
        if noHistory, history != nil { throw ValidationError("Give --history or --no-history, not both.") }
        if plaintext, try key.isGiven { throw ValidationError("A database without encryption has no key.") }
    }

    var inputUse: String? { commands.isEmpty ? "The statements" : nil }

    func run(in session: Session, _ trail: AuditTrail) throws -> ExitStatus {
        guard !plaintext else {
            try FileNames.checkReadable(file)
            return try talk(nil, session, trail)
        }
        return try session.keys(key, of: file).open(file, cipher: cipher.settings) { opening in
            try talk(opening, session, trail)
        }
    }

    private func talk(_ opening: FileKey?, _ session: Session, _ trail: AuditTrail) throws -> ExitStatus {
        var configuration = session.configuration(opening?.database, cipher.settings, readonly: !write)
        configuration.allowsPlaintext = plaintext
        // A transaction may span several statements.
        configuration.allowsUnsafeTransactions = true
        let isInteractive = commands.isEmpty && isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1
        try trail.record(file, opening.map { .kept($0.key) } ?? .unknown) { [configuration] _ in
            let queue = try ReadableQueue.open(file, configuration)
            let shell = ShellSession(
                queue, name: FileNames.name(of: file), isEncrypted: !plaintext, allowsWriting: write,
                isInteractive: isInteractive,
                in: session)
            shell.style = rows.style
            if isInteractive {
                try shell.converse { try talk(shell, session) }
            } else if !commands.isEmpty {
                try runCommands(shell)
            } else {
                try readLines(shell, session)
            }
            if shell.isInTransaction {
                session.reporter.warning("The open transaction was rolled back.")
                try queue.writeWithoutTransaction { db in try db.rollback() }
            }
            try queue.close()
            return shell.isChanged
        }
        return .done
    }

    private func runCommands(_ shell: ShellSession) throws {
        for command in commands where !shell.isOver && !shell.reporter.isOutputClosed {
            try shell.take(command)
            if !shell.isOver { try shell.takeEnd() }
        }
    }

    /// Runs the lines of a script.
    private func readLines(_ shell: ShellSession, _ session: Session) throws {
        var reader = LineReader(STDIN_FILENO, limit: 1 << 30)
        while !shell.isOver, !shell.reporter.isOutputClosed,
            let line = try reader.next(
                of: "The standard input",
                tooLong: { .usage("Line \($0) of the standard input is too long.") })
        {
            guard let text = String(validating: line.bytes, as: UTF8.self) else {
                throw Failure.usage("Line \(line.number) of the standard input is not UTF-8.")
            }
            do {
                try shell.take(text)
            } catch {
                let failure = session.failure(error)
                // An interruption concerns the whole shell, not one line.
                guard failure.reason != "interrupted", !(error is OutputClosed) else { throw error }
                throw Failure(failure.status, failure.reason, "Line \(line.number): \(failure.message)")
            }
        }
        if !shell.isOver { try shell.takeEnd() }
    }

    /// Runs the lines that a person types.
    private func talk(_ shell: ShellSession, _ session: Session) throws {
        let editor = LineEditor { before in
            let known = try? shell.access { db in try ShellCompletion(db) }
            return (known ?? ShellCompletion()).words(for: before)
        }
        guard let editor else {
            throw Failure(.unavailable, "terminal", "The terminal cannot be used for input.")
        }
        let kept = noHistory ? nil : (history ?? ShellHistory.standardPath).map(ShellHistory.init)
        session.reporter.warn { () throws(Failure) in
            for line in try kept?.load() ?? [] { editor.remember(line) }
        }
        session.reporter.warn { () throws(Failure) in
            shell.pager = try Pager.named(in: ProcessInfo.processInfo.environment)
        }
        session.reporter.note(
            "coffer \(EngineVersions.coffer): .help lists the commands, Ctrl-D ends the "
                + "shell\(write ? "" : "; it is read-only without --write")"
        )
        while !shell.isOver, !shell.reporter.isOutputClosed {
            let width = shell.reporter.outputWidth ?? 80
            shell.beginLine()
            switch editor.read(prompt: shell.prompt(width: width)) {
            case .cancelled: shell.cancel()
            case .end:
                shell.reporter.raw("\n")
                shell.quit()
            case .text(let text): try shell.take(text)
            }
            let lines = shell.takeHistory()
            for line in lines { editor.remember(line.text) }
            session.reporter.warn { () throws(Failure) in
                try kept?.add(lines.filter(\.isStored).map(\.text))
            }
        }
    }
}
