internal import Coffer
internal import Foundation

/// A conversation with one database: statements and commands, line by line.
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
    private(set) var isOver = false
    private(set) var isChanged = false
    private(set) var isInTransaction = false

    /// Lines that are no whole statement yet.
    private var pending: [UInt8] = []
    private var searched = 0
    private var splitter = StatementSplitter()
    private var depth = 0

    /// Statements and commands that may be kept in the history, since the last call of ``takeHistory()``.
    private var history: [String] = []

    var reporter: Reporter { session.reporter }

    init(_ queue: DatabaseQueue, name: String, isEncrypted: Bool, allowsWriting: Bool, isInteractive: Bool, in session: Session) {
        self.queue = queue
        self.session = session
        self.name = name
        self.isEncrypted = isEncrypted
        self.allowsWriting = allowsWriting
        self.isInteractive = isInteractive
    }

    /// What stands before the cursor: the file, whether it is encrypted, an open transaction; dots within a statement.
    func prompt(width: Int) -> String {
        guard isBetweenStatements else { return splitter.isInside ? "   ''> " : "   ...> " }
        let state = (isEncrypted ? "encrypted" : "PLAINTEXT") + (isInTransaction ? ", transaction" : "")
        // Half of a narrow terminal is left for the statement, where that is possible.
        let room = max(8, width / 2 - state.count - 5)
        return "\(TextLayout.shortened(TextLayout.harmless(name), to: room)) (\(state))> "
    }

    var isBetweenStatements: Bool { splitter.isBlank }

    /// Gives up a statement that is not whole.
    func cancel() { (pending, searched, splitter) = ([], 0, StatementSplitter()) }

    func quit() { isOver = true }

    func takeHistory() -> [String] {
        defer { history = [] }
        return history
    }

    // MARK: Lines

    /// Takes a line, and does what it completes.
    ///
    /// - Throws: the first failure, where no person is there to go on.
    func take(_ line: String) throws {
        let trimmed = line.trimmingCharacters(in: .whitespaces)
        if isBetweenStatements, trimmed.hasPrefix(".") {
            cancel()
            keep(trimmed)
            return try going { try ShellCommand.perform(trimmed, in: self) }
        }
        pending += Array((line + "\n").utf8)
        while let end = splitter.end(in: pending, from: searched) {
            let isBlank = splitter.endedBlank
            let statement = String(decoding: pending[..<end], as: UTF8.self)
            pending.removeFirst(end)
            searched = 0
            guard !isBlank else { continue }
            keep(statement)
            try going { try perform(statement) }
            if isOver { return }
        }
        searched = pending.count
        if splitter.isBlank { cancel() }
    }

    /// At the end of the input: a last statement needs no semicolon.
    func takeEnd() throws {
        guard !isBetweenStatements else { return }
        let statement = String(decoding: pending, as: UTF8.self)
        cancel()
        try going { try perform(statement) }
    }

    private func keep(_ text: String) {
        guard isInteractive, depth == 0 else { return }
        let line = text.split(whereSeparator: \.isNewline).joined(separator: " ").trimmingCharacters(in: .whitespaces)
        if ShellHistory.mayKeep(line) { history.append(line) }
    }

    /// Reports a failure where a person can go on.
    private func going(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch {
            guard isInteractive, depth == 0 else { throw error }
            let failure = session.failure(error)
            if failure.reason == "interrupted" { reporter.note("interrupted") } else { reporter.failure(failure) }
        }
    }

    /// Takes the lines of a script.
    func read(_ path: String) throws {
        guard depth < 16 else { throw Failure.usage("Scripts that read scripts may be 16 deep.") }
        let text = try Script.read(path)
        let outer = (pending, searched, splitter)
        depth += 1
        cancel()
        defer {
            depth -= 1
            (pending, searched, splitter) = outer
        }
        for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            do {
                try take(String(line))
            } catch let error where depth == 1 {
                let failure = session.failure(error)
                throw Failure(failure.status, failure.reason, "'\(path)', line \(number + 1): \(failure.message)")
            }
            if isOver { return }
        }
        try takeEnd()
    }

    // MARK: Statements

    private func perform(_ text: String) throws {
        guard !text.utf8.contains(0) else { throw Failure.usage("The statement has a byte of zero in it, where SQLite would end it.") }
        guard !StatementText.carriesKey(text) else {
            throw Failure.usage("The statement carries a key, where everybody can see it. Use 'coffer rotate' and the key options.")
        }
        let began = ContinuousClock.now
        try access { db in try run(text, db) }
        if timesStatements { reporter.note("time: \(TextLayout.milliseconds(ContinuousClock.now - began))") }
    }

    /// Runs work that Ctrl-C ends, and that alone.
    func access<Result>(_ body: (Database) throws -> Result) throws -> Result {
        let queue = queue
        func work() throws -> Result {
            try queue.writeWithoutTransaction { db in
                defer { isInTransaction = db.isInsideTransaction }
                return try body(db)
            }
        }
        guard isInteractive else { return try session.interruption.cooperatively(onSignal: { queue.interrupt() }, work) }
        return try session.interruption.conversationally(onInterrupt: { queue.interrupt() }, work)
    }

    private func run(_ text: String, _ db: Database) throws {
        var bound = try BoundValues(values)
        let statements = try db.allStatements(sql: text)
        while let statement = try statements.next() {
            guard statement.isReadonly || allowsWriting else {
                throw Failure.usage("The statement changes the database, and this shell only reads. Start it with --write.")
            }
            let arguments = try bound.arguments(of: statement)
            if !statement.isReadonly { isChanged = true }
            let before = db.totalChangesCount
            guard statement.columnCount > 0 else {
                try statement.execute(arguments: arguments)
                let count = db.totalChangesCount - before
                if count > 0 { reporter.note("\(TextLayout.counted(count, "row", "rows")) changed") }
                continue
            }
            let printer = RowPrinter(style, reporter: reporter)
            printer.begin(Array(statement.columnNames))
            let rows = try Row.fetchCursor(statement, arguments: arguments)
            while let row = try rows.next(), !reporter.isOutputClosed { printer.add(Array(row.databaseValues)) }
            printer.end()
        }
    }

    func noteChange() { isChanged = true }

    func checkMayWrite() throws {
        guard allowsWriting else { throw Failure.usage("This shell only reads. Start it with --write.") }
    }
}
