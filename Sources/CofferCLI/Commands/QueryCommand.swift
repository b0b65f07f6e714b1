internal import ArgumentParser
internal import Coffer
internal import Foundation

struct QueryCommand: RecordedOperation {
    static let configuration = CommandConfiguration(
        commandName: "query",
        abstract: "Run one SQL statement.",
        usage: "coffer query <file> <sql> [options]",
        discussion: """
            Reads only, unless --write is given. Each call is a transaction of its own: BEGIN, SAVEPOINT and the like are refused. Give '-' in \
            place of the statement to read it from the standard input, where other users of the machine cannot see it. With --json each row is a result; --format json prints one array.

            EXAMPLES
              coffer query app.db "SELECT * FROM note LIMIT 10"
              coffer query app.db "SELECT * FROM note" --format csv > notes.csv
              coffer query app.db "INSERT INTO note(text) VALUES ('milk')" --write
            """)

    @Argument(help: "The database.", completion: .file())
    var file: String

    @Argument(help: "The statement, or '-' to read it from the standard input.")
    var sql: String

    @Flag(help: "Allow the statement to change the database.")
    var write = false

    @Option(help: ArgumentHelp("How rows are printed.", valueName: "format"))
    var format = RowFormat.table

    @Flag(help: "Leave out the names of the columns.")
    var noHeader = false

    @Flag(help: "Check that the statement compiles, and do not run it.")
    var dryRun = false

    @OptionGroup(title: "The key")
    var key: KeyOptions

    @OptionGroup(title: "The format of the file")
    var cipher: CipherOptions

    @OptionGroup
    var record: RecordOptions

    func validate() throws {
        if sql == "-", try key.request().source == .standardInput {
            throw ValidationError("The statement and the key cannot both come from the standard input.")
        }
    }

    var subject: String? { file }
    var names: [String] { [file] }

    func run(in session: Session, _ trail: AuditTrail) throws -> ExitStatus {
        try FileNames.checkReadable(file)
        let statement = sql == "-" ? try QueryCommand.readStatement() : sql
        guard !SQLSecrets.containsKey(statement), !StatementText.seemsToCarryKey(statement) else {
            throw Failure.usage("The statement carries a key, where everybody can see it. Use 'coffer rotate' and the key options.")
        }
        let key = try session.keys.key(key.request(), subject: file)
        var configuration = session.configuration(key.database, cipher.settings)
        configuration.readonly = !write
        // What leaves one open is rolled back, and reported.
        configuration.allowsUnsafeTransactions = true
        let query = Query(sql: statement, allowsWriting: write, isDryRun: dryRun, printer: printer(session))
        if dryRun {
            _ = try run(query, configuration, in: session)
        } else {
            // What is read is recorded too: a query shows the content.
            try trail.record(file) { _ in try run(query, configuration, in: session) }
        }
        return .done
    }

    /// Returns whether the database may have been changed.
    private func run(_ query: Query, _ configuration: Configuration, in session: Session) throws -> Bool {
        let queue = try open(configuration)
        let isChanged = try session.interruption.cooperatively(onSignal: { queue.interrupt() }) {
            session.reporter.detail("running the statement")
            if write && !dryRun { return try queue.writeWithoutTransaction { try query.run($0, session.reporter) } }
            return try queue.unsafeRead { try query.run($0, session.reporter) }
        }
        try queue.close()
        return isChanged
    }

    private func open(_ configuration: Configuration) throws -> DatabaseQueue {
        do {
            return try DatabaseQueue(path: file, configuration: configuration)
        } catch let error as DatabaseError where !write && error.resultCode == .SQLITE_READONLY {
            // An interrupted process has left a journal, which only a connection that may write can play back.
            var configuration = configuration
            configuration.readonly = false
            configuration.prepareDatabase { db in try db.execute(sql: "PRAGMA query_only = 1") }
            return try DatabaseQueue(path: file, configuration: configuration)
        }
    }

    private func printer(_ session: Session) -> RowPrinter {
        session.reporter.style.isJSON
            ? RowPrinter(format: .lines, hasHeader: true, reporter: session.reporter)
            : RowPrinter(format: format.layout, hasHeader: !noHeader, reporter: session.reporter)
    }

    private static func readStatement() throws -> String {
        guard let data = try FileHandle.standardInput.readToEnd(), let text = String(data: data, encoding: .utf8) else {
            throw Failure.usage("The standard input has no statement in UTF-8.")
        }
        return text
    }
}

enum RowFormat: String, ExpressibleByArgument, CaseIterable, Sendable {
    case table, csv, json

    var layout: RowPrinter.Layout {
        switch self {
        case .table: .table
        case .csv: .csv
        case .json: .array
        }
    }
}

/// One statement, and what becomes of its rows.
struct Query {
    let sql: String
    let allowsWriting: Bool
    let isDryRun: Bool
    let printer: RowPrinter

    /// Returns whether the database may have been changed.
    func run(_ db: Database, _ reporter: Reporter) throws -> Bool {
        guard !["BEGIN", "SAVEPOINT", "COMMIT", "END", "ROLLBACK", "RELEASE"].contains(StatementText.firstWord(of: sql)) else {
            throw Query.isTransaction
        }
        let statement = try prepare(db)
        // Nothing that it has begun goes on after it, however it was written.
        defer { if db.isInsideTransaction { try? db.rollback() } }
        guard statement.isReadonly || allowsWriting else {
            throw Failure.usage("The statement changes the database. Give --write if it is to.")
        }
        guard !isDryRun else {
            let words = statement.isReadonly ? "reads" : "changes the database"
            reporter.result(
                [.init("dry_run", true), .init("changed", false), .init("code", 0)], text: ["the statement is good, and \(words)"])
            return false
        }
        guard statement.columnCount > 0 else {
            let before = db.totalChangesCount
            try statement.execute()
            guard !db.isInsideTransaction else { throw Query.isTransaction }
            let count = db.totalChangesCount - before
            if reporter.style.isJSON {
                reporter.result(
                    [.init("changed", .bool(!statement.isReadonly)), .init("rows_changed", .count(count)), .init("code", 0)], text: [])
            } else {
                // "0 rows" would be an odd word about a table that was made.
                reporter.note(count > 0 || changesRows ? "\(TextLayout.counted(count, "row", "rows")) changed" : "done")
            }
            return !statement.isReadonly
        }
        printer.begin(Array(statement.columnNames))
        let rows = try Row.fetchCursor(statement)
        while let row = try rows.next(), !reporter.isOutputClosed { printer.add(Array(row.databaseValues)) }
        printer.end()
        return !statement.isReadonly
    }

    private var changesRows: Bool {
        ["INSERT", "UPDATE", "DELETE", "REPLACE", "WITH"].contains(StatementText.firstWord(of: sql))
    }

    private func prepare(_ db: Database) throws -> Statement {
        let statements = try db.allStatements(sql: sql)
        guard let statement = try statements.next() else { throw Failure.usage("There is no statement.") }
        // The next one may need what this one makes, so that it need not compile: that it is there is enough.
        let second: Statement?
        do { second = try statements.next() } catch { throw Query.tooMany }
        guard second == nil else { throw Query.tooMany }
        return statement
    }

    private static let isTransaction = Failure.usage(
        "The statement begins or ends a transaction, and each call of coffer query is one of its own: nothing of it was kept.")

    private static let tooMany = Failure.usage("There is more than one statement. Give them one by one.")
}
