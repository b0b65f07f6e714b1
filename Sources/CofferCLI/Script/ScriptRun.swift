internal import Coffer

/// Runs the statements of a script in order and prints their rows.
final class ScriptRun {
    private let script: Script
    private var values: BoundValues
    private let allowsWriting: Bool
    /// True if all statements are one transaction.
    private let isTransaction: Bool
    private let isDryRun: Bool
    private let printer: RowPrinter
    private let reporter: Reporter
    /// The path of the file, if there are several files.
    private let path: String?

    private var changedRowCount = 0
    private var isChanged = false
    /// True if the current transaction has changes.
    private var hasOpenChanges = false
    /// The part of the changes that stays if a later step fails.
    private var kept = Failure.Part.none
    private let commits = CommitCounter()

    private static let wordsOfRowChanges = ["INSERT", "UPDATE", "DELETE", "REPLACE", "WITH"]
    private static let wordsWithoutChanges = [
        "BEGIN", "COMMIT", "END", "ROLLBACK", "SAVEPOINT", "RELEASE", "EXPLAIN",
    ]

    init(
        _ script: Script, _ values: BoundValues, allowsWriting: Bool, isTransaction: Bool, isDryRun: Bool,
        printer: RowPrinter,
        reporter: Reporter, path: String? = nil
    ) {
        self.script = script
        self.values = values
        self.allowsWriting = allowsWriting
        self.isTransaction = isTransaction
        self.isDryRun = isDryRun
        self.printer = printer
        self.reporter = reporter
        self.path = path
    }

    /// Returns true if the database may have been changed.
    func perform(_ db: Database) throws -> Bool {
        // No transaction stays open when this method returns or throws.
        defer { if db.isInsideTransaction { try? db.rollback() } }
        if mayWrite { db.add(transactionObserver: commits) }
        if isTransaction && !isDryRun { try db.beginTransaction(allowsWriting ? .immediate : .deferred) }
        for index in script.statements.indices {
            do {
                try perform(script.statements[index], number: index + 1, db)
            } catch {
                throw located(error, at: index)
            }
        }
        if isTransaction && !isDryRun {
            try db.commit()
        } else if db.isInsideTransaction {
            throw Failure.usage(
                "A transaction was left open, and was rolled back. A transaction cannot span calls of coffer "
                    + "query."
            )
        }
        if isMany, !isDryRun, !reporter.style.isJSON, isChanged {
            let rows = TextLayout.counted(changedRowCount, "row")
            reporter.note("\(place)\(counted: script.statements.count, "statement") done, \(rows) changed")
        }
        for name in values.unused {
            reporter.warning("--bind gives a value for '\(name)', but no statement has such a parameter.")
        }
        if isChanged { kept = .all }
        return isChanged
    }

    /// True if the statements are run and may change the database.
    var mayWrite: Bool { allowsWriting && !isDryRun }

    private var place: String { path.map { "\(harmless: $0): " } ?? "" }

    private var isMany: Bool { script.statements.count > 1 }

    /// Adds the number of the failed statement to an error, if there are several statements.
    private func located(_ error: any Error, at index: Int) -> any Error {
        let failure = Failure(error)
        // An interruption concerns the whole invocation, not one statement.
        guard isMany, failure.status != .runAgain else { return error }
        let statement = script.statements[index]
        let before =
            index == 0 || isDryRun
            ? ""
            : isTransaction
                ? " Nothing was kept." : " Earlier statements stay, unless a transaction was rolled back."
        return Failure(
            failure.status, failure.reason,
            "Statement \(index + 1) (line \(statement.line)): "
                + "\(failure.message)\(allowsWriting ? before : "")")
    }

    private func perform(_ piece: Script.Statement, number: Int, _ db: Database) throws {
        let kind = StatementText.firstWord(of: piece.text)
        guard !isTransaction || !["BEGIN", "COMMIT", "END", "ROLLBACK"].contains(kind) else {
            throw Failure.usage(
                "The statement begins or ends a transaction, which --transaction does for all statements.")
        }
        let statements = try db.allStatements(sql: piece.text)
        var isEmpty = true
        while let statement = try statements.next() {
            isEmpty = false
            try perform(statement, kind, number: number, db)
        }
        guard !isEmpty else { throw Failure.usage("There is no statement.") }
    }

    private func perform(_ statement: Statement, _ kind: String, number: Int, _ db: Database) throws {
        guard statement.isReadonly || allowsWriting else {
            throw Failure.usage("The statement changes the database. Give --write to allow this.")
        }
        guard !isDryRun else { return reportPlan(statement, number: number) }
        let arguments = try values.arguments(of: statement)
        let mayChange = !statement.isReadonly && !ScriptRun.wordsWithoutChanges.contains(kind)
        // For the log, a statement that fails may still have changed something.
        if mayChange { isChanged = true }
        let (before, commits) = (db.totalChangesCount, commits.count)
        var hasSucceeded = false
        defer {
            let count = db.totalChangesCount - before
            changedRowCount += count
            if hasSucceeded, mayChange, count > 0 || !ScriptRun.wordsOfRowChanges.contains(kind) {
                hasOpenChanges = true
            }
            if !db.isInsideTransaction {
                // A statement that fails may keep rows (OR FAIL), and then commits them.
                let isKept =
                    hasSucceeded ? hasOpenChanges && kind != "ROLLBACK" : self.commits.count > commits
                if isKept { kept = .some }
                hasOpenChanges = false
            }
        }
        guard statement.columnCount > 0 else {
            try statement.execute(arguments: arguments)
            hasSucceeded = true
            return reportChange(statement, kind, number: number, count: db.totalChangesCount - before)
        }
        printer.statement = isMany ? number : nil
        printer.mayBePlan = kind == "EXPLAIN"
        try printer.print(statement, arguments)
        hasSucceeded = true
    }

    private func reportPlan(_ statement: Statement, number: Int) {
        let words = statement.isReadonly ? "reads" : "changes the database"
        reporter.result(
            numbered(number), ["dry_run": true, "changed": false, "code": 0],
            text: [
                place
                    + (isMany
                        ? "statement \(number) is valid, and \(words)"
                        : "the statement is valid, and \(words)")
            ])
    }

    private func reportChange(_ statement: Statement, _ kind: String, number: Int, count: Int) {
        // If the transaction is left open, nothing of it is kept.
        guard !["BEGIN", "SAVEPOINT"].contains(kind) else { return }
        if reporter.style.isJSON {
            reporter.result(
                numbered(number), ["changed": !statement.isReadonly, "rows_changed": count, "code": 0],
                text: [])
        } else if !isMany {
            // "0 rows" would be odd for a statement that creates a table.
            let changesRows = ScriptRun.wordsOfRowChanges.contains(kind)
            reporter.note(place + (count > 0 || changesRows ? "\(counted: count, "row") changed" : "done"))
        }
    }

    private func numbered(_ number: Int) -> JSONObject {
        JSONObject(path.map { ["path": $0] } ?? [:], isMany ? ["statement": number] : [:])
    }
}

extension ScriptRun {
    /// Runs the script on a file and records it in the audit log, unless it is a dry run. Reads are recorded
    /// too, because a query reveals content.
    ///
    /// - Returns: true if the database may have been changed.
    func perform(
        _ path: String, _ key: FileKey, _ cipher: CipherSettings, in session: Session, _ trail: AuditTrail
    ) throws -> Bool {
        var configuration = session.configuration(key.database, cipher, readonly: !allowsWriting)
        // A script that leaves a transaction open is rolled back, and this is reported.
        configuration.allowsUnsafeTransactions = true
        guard !isDryRun else { return try perform(path, configuration, in: session) }
        var isChanged = false
        try trail.record(path, .kept(key.key)) { [configuration] _ in
            do {
                isChanged = try perform(path, configuration, in: session)
            } catch {
                throw kept == .none ? error : session.failure(error).after(kept)
            }
            return isChanged
        }
        return isChanged
    }

    private func perform(_ path: String, _ configuration: Configuration, in session: Session) throws -> Bool {
        let queue = try ReadableQueue.open(path, configuration)
        return try session.interruption.cooperatively(onSignal: { queue.interrupt() }) {
            session.reporter.detail("running the statement")
            let isChanged =
                mayWrite
                ? try queue.writeWithoutTransaction { try self.perform($0) }
                : try queue.unsafeRead { try self.perform($0) }
            try queue.close()
            return isChanged
        }
    }
}

/// Counts the transactions that were committed.
private final class CommitCounter: TransactionObserver {
    private(set) var count = 0

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { false }
    func databaseDidChange(with event: DatabaseEvent) {}
    func databaseDidCommit(_ db: Database) { count += 1 }
    func databaseDidRollback(_ db: Database) {}
}
