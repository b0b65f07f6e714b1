internal import Coffer
internal import Foundation
internal import Glibc

/// A session with one database: statements and commands, line by line.
final class ShellSession {
    let queue: DatabaseQueue
    let session: Session
    let isInteractive: Bool
    private let name: String
    private let isEncrypted: Bool
    private let allowsWriting: Bool

    var style = RowStyle()
    var timesStatements = false
    var values: [BoundValue] = []
    /// The pager for long results, or nil for none.
    var pager: Pager?
    /// The file for the rows of the next statement that has any.
    var once: RowFile?
    private(set) var isOver = false
    private(set) var isChanged = false
    private(set) var isInTransaction = false

    /// The lines of an incomplete statement.
    private var pending: [UInt8] = []
    private var searched = 0
    private var splitter = StatementSplitter()
    private var depth = 0
    /// Set if Ctrl-C is to end the work of the typed line, from its first statement to its last. The thread
    /// that receives signals sets it, and the thread of the shell checks it.
    private let isStopped = Latch()

    /// The statements and commands since the last call of ``takeHistory()`` that may be stored.
    private var history: [ShellHistory.Entry] = []
    /// True if the last statement compiled. Text that SQLite does not understand may be anything, even a
    /// misplaced secret.
    private var hasCompiled = false

    var reporter: Reporter { session.reporter }

    init(
        _ queue: DatabaseQueue, name: String, isEncrypted: Bool, allowsWriting: Bool, isInteractive: Bool,
        in session: Session
    ) {
        self.queue = queue
        self.session = session
        self.name = name
        self.isEncrypted = isEncrypted
        self.allowsWriting = allowsWriting
        self.isInteractive = isInteractive
    }

    /// Returns the prompt. It shows the file, whether it is encrypted, and whether a transaction is open, or
    /// dots within a statement.
    func prompt(width: Int) -> String {
        guard isBetweenStatements else { return splitter.isInside ? "   ''> " : "   ...> " }
        let state = (isEncrypted ? "encrypted" : "PLAINTEXT") + (isInTransaction ? ", transaction" : "")
        // Half of a narrow terminal is left for the statement, if possible.
        let room = max(8, width / 2 - state.count - 5)
        return "\(TextLayout.shortened(TextLayout.harmless(name), to: room)) (\(state))> "
    }

    var isBetweenStatements: Bool { splitter.isBlank }

    /// Discards an incomplete statement.
    func cancel() { (pending, searched, splitter) = ([], 0, StatementSplitter()) }

    func quit() { isOver = true }

    /// Clears the interruption of the previous line. Must be called before a person types a line, not when
    /// the line begins to run: Ctrl-C raises a signal as soon as the line is complete.
    func beginLine() { isStopped.clear() }

    func takeHistory() -> [ShellHistory.Entry] {
        defer { history = [] }
        return history
    }

    // MARK: Lines

    /// Processes a line, and runs the statements that it completes.
    ///
    /// - Throws: the first failure, unless the session is interactive.
    func take(_ line: String) throws {
        let trimmed = line.trimmingCharacters(in: .whitespaces)
        if isBetweenStatements, trimmed.hasPrefix(".") {
            cancel()
            keep(trimmed, inFile: true)
            return try going { try ShellCommand.perform(trimmed, in: self) }
        }
        pending += Array((line + "\n").utf8)
        while let end = splitter.end(in: pending, from: searched) {
            let isBlank = splitter.endedBlank
            let statement = String(decoding: pending[..<end], as: UTF8.self)
            pending.removeFirst(end)
            searched = 0
            guard !isBlank else { continue }
            hasCompiled = false
            try going { try perform(statement) }
            // A statement with a mistake can be called back and corrected. It is not SQL, so it may be
            // anything, and does not go to the file.
            keep(statement, inFile: hasCompiled)
            if isOver { return }
            // After an interruption, the remaining statements are discarded.
            if isStopped.isSet { return cancel() }
        }
        searched = pending.count
        if splitter.isBlank { cancel() }
    }

    /// Ends the input. The last statement needs no semicolon.
    func takeEnd() throws {
        guard !isBetweenStatements else { return }
        let statement = String(decoding: pending, as: UTF8.self)
        cancel()
        try going { try perform(statement) }
    }

    private func keep(_ text: String, inFile isStored: Bool) {
        guard isInteractive, depth == 0 else { return }
        history += ShellHistory.entries(text, isStored: isStored)
    }

    /// Reports a failure in an interactive session, and throws it otherwise.
    private func going(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch {
            guard isInteractive, depth == 0 else { throw error }
            let failure = session.failure(error)
            if failure.reason == "interrupted" {
                reporter.note("interrupted")
            } else {
                reporter.failure(failure)
            }
        }
    }

    /// Processes the lines of a script.
    func read(_ path: String) throws {
        guard depth < 16 else { throw Failure.usage("Scripts can be nested at most 16 deep.") }
        let text = try Script.read(path, flags: O_NONBLOCK) { () throws(Failure) in
            try self.checkNotInterrupted()
        }
        let outer = (pending, searched, splitter)
        depth += 1
        cancel()
        defer {
            depth -= 1
            (pending, searched, splitter) = outer
        }
        for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            do {
                try checkNotInterrupted()
                try take(String(line))
            } catch let error where depth == 1 {
                let failure = session.failure(error)
                throw Failure(
                    failure.status, failure.reason, "'\(path)', line \(number + 1): \(failure.message)")
            }
            if isOver { return }
        }
        try takeEnd()
    }

    // MARK: Statements

    private func perform(_ text: String) throws {
        guard !text.utf8.contains(0) else {
            throw Failure.usage("The statement contains a NUL byte, at which SQLite would stop reading.")
        }
        guard !StatementText.carriesKey(text) else {
            throw Failure.usage(
                "The statement contains a key, which others can see there. Use 'coffer rotate' and the key "
                    + "options."
            )
        }
        let began = ContinuousClock.now
        // The time that a person reads does not count.
        let time = try paging { output in
            try access { db in try run(text, db, output) }
            return ContinuousClock.now - began
        }
        if timesStatements { reporter.note("time: \(TextLayout.milliseconds(time))") }
    }

    /// Calls `body` with the output for a result, which goes through the pager if it is longer than the
    /// screen of an interactive session.
    func paging<Value>(_ body: (Reporter) throws -> Value) throws -> Value {
        guard isInteractive, let pager, let pages = PagedText(pager: pager.words) else {
            return try body(reporter)
        }
        let output = OutputFile(pages)
        // Notes on the result, such as the number of rows, come after it.
        let errors = OutputFile.errors.isTerminal ? output : .errors
        let result = Result {
            try body(
                Reporter(command: reporter.command, style: reporter.style, output: output, errors: errors))
        }
        if let problem = pages.finish() {
            pager.warning(problem).map(reporter.warning)
            self.pager = nil
        }
        return try result.get()
    }

    /// Accesses the database. Ctrl-C interrupts the access.
    func access<Result>(_ body: (Database) throws -> Result) throws -> Result {
        try checkNotInterrupted()
        let queue = queue
        func use() throws -> Result {
            try queue.writeWithoutTransaction { db in
                defer { isInTransaction = db.isInsideTransaction }
                return try body(db)
            }
        }
        return isInteractive
            ? try use() : try session.interruption.cooperatively(onSignal: { queue.interrupt() }, use)
    }

    // MARK: Interruptions

    /// Runs an interactive session, in which Ctrl-C always ends the work of a line but not the shell.
    func converse(_ body: () throws -> Void) rethrows {
        let (queue, isStopped) = (queue, isStopped)
        let stop: @Sendable () -> Void = {
            isStopped.set()
            queue.interrupt()
        }
        // Repeated, because SQLite forgets an interrupt that arrives just before a statement begins.
        try session.interruption.conversationally(onInterrupt: stop, repeatedWhile: { isStopped.isSet }, body)
    }

    /// - Throws: ``Failure`` with the reason `interrupted` if the work of the line is to end.
    func checkNotInterrupted() throws(Failure) {
        if isStopped.isSet { throw session.interruption.failure(.interrupted) }
        try session.interruption.check()
    }

    private func run(_ text: String, _ db: Database, _ output: Reporter) throws {
        var bound = try BoundValues(values)
        let statements = try db.allStatements(sql: text)
        while let statement = try nextStatement(statements) {
            guard statement.isReadonly || allowsWriting else {
                throw Failure.usage(
                    "The statement changes the database, but this shell is read-only. Start it with --write.")
            }
            let arguments = try bound.arguments(of: statement)
            if !statement.isReadonly { isChanged = true }
            let before = db.totalChangesCount
            guard statement.columnCount > 0 else {
                try statement.execute(arguments: arguments)
                let count = db.totalChangesCount - before
                if count > 0 { reporter.note("\(counted: count, "row") changed") }
                continue
            }
            let file = once
            once = nil
            let output = file?.reporter ?? output
            let printer = RowPrinter(style, reporter: output)
            printer.mayBePlan = StatementText.firstWord(of: text) == "EXPLAIN"
            try printer.print(statement, arguments)
            try file?.reporter.checkOutput()
        }
    }

    private func nextStatement(_ statements: SQLStatementCursor) throws -> Statement? {
        hasCompiled = false
        let statement = try statements.next()
        hasCompiled = true
        return statement
    }

    func noteChange() { isChanged = true }

    func checkMayWrite() throws {
        guard allowsWriting else { throw Failure.usage("This shell is read-only. Start it with --write.") }
    }
}
