import Coffer
import CofferTestSupport
import Foundation

/// An open database and the steps that a program runs on it.
struct Session {
    /// Thrown to end a transaction or a savepoint.
    private struct Stop: Error {}

    private var database: (any DatabaseWriter)?

    mutating func run(_ step: Step) -> Reply {
        var reply = Reply()
        do {
            switch step.kind {
            case .open: database = try Session.open(try path(of: step), step.options)
            case .close:
                try open().close()
                database = nil
            case .write: try write(step, &reply)
            case .raw: try open().writeWithoutTransaction { try Session.runRaw(step.body ?? [], $0, &reply) }
            case .read: reply.answers.append(try open().read { Session.answer(step.sql ?? "", $0) })
            case .count:
                let count = try open().read { try Table(step.name ?? "").fetchCount($0) }
                reply.answers.append(Reply.Answer(rows: [["i\(count)"]]))
            case .checkpoint: try checkpoint(step)
            case .content: reply.content = try content(of: step)
            }
        } catch is Stop {
            // The program asked for this rollback.
        } catch {
            reply.error = Reply.Failure(error)
        }
        return reply
    }

    private func open() throws -> any DatabaseWriter {
        guard let database else { throw DatabaseError(message: "no database is open") }
        return database
    }

    private func path(of step: Step) throws -> String {
        guard let path = step.path else { throw DatabaseError(message: "the step has no path") }
        return path
    }

    private static func open(_ path: String, _ options: Step.Options?) throws -> any DatabaseWriter {
        var configuration = Configuration.rawKeyed
        configuration.busyMode = .timeout(Patience.seconds)
        configuration.maximumReaderCount = 2
        configuration.journalMode = .wal
        if let options {
            configuration.cipher.pageSize = options.pageSize
            configuration.pageCacheSize = options.pageCacheSize
            configuration.prepareDatabase { db in
                if options.isAttaching {
                    try db.execute(sql: "ATTACH ? AS other", arguments: [path + "-other"])
                }
                for sql in options.preparations { try db.execute(sql: sql) }
            }
        }
        let database: any DatabaseWriter =
            options?.isQueue ?? true
            ? try DatabaseQueue(path: path, configuration: configuration)
            : try DatabasePool(path: path, configuration: configuration)
        if options?.isAttaching ?? false {
            try database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA other.journal_mode = wal") }
        }
        return database
    }

    // MARK: Statements

    /// Runs one statement. Its error is a result, after which the program continues.
    private static func answer(_ sql: String, _ db: Database) -> Reply.Answer {
        var answer: Reply.Answer
        let isInTransaction = db.isInsideTransaction
        do {
            answer = Reply.Answer(try Row.fetchAll(db, sql: sql))
        } catch {
            let isOpen = db.isInsideTransaction
            answer = Reply.Answer(
                error: Reply.Failure(
                    error, hasEndedTransaction: isInTransaction && !isOpen,
                    hasEndedStatements: isOpen && (try? Int.fetchOne(db, sql: "SELECT 1")) == nil))
        }
        answer.isInTransaction = db.isInsideTransaction
        return answer
    }

    private func write(_ step: Step, _ reply: inout Reply) throws {
        let (body, end) = (step.body ?? [], step.end ?? .commit)
        switch end {
        case .rollback:
            try open().writeWithoutTransaction { db in
                try db.inTransaction {
                    try Session.runBody(body, db, &reply)
                    return .rollback
                }
            }
        case .commit, .error:
            try open().write { db in
                try Session.runBody(body, db, &reply)
                if end == .error { throw Stop() }
            }
        }
    }

    private static func runBody(_ body: [Step.Item], _ db: Database, _ reply: inout Reply) throws {
        for item in body {
            guard let inner = item.savepoint else {
                reply.answers.append(answer(item.sql ?? "", db))
                continue
            }
            do {
                try db.inSavepoint {
                    try runBody(inner, db, &reply)
                    if item.end == .error { throw Stop() }
                    return item.end == .rollback ? .rollback : .commit
                }
            } catch is Stop {
                // The program asked for this rollback.
            }
        }
    }

    private static func runRaw(_ body: [Step.Item], _ db: Database, _ reply: inout Reply) throws {
        for item in body { reply.answers.append(answer(item.sql ?? "", db)) }
        // A transaction that outlives its access is an error of the program.
        if db.isInsideTransaction { try db.rollback() }
    }

    private func checkpoint(_ step: Step) throws {
        let kinds: [String: Database.CheckpointMode] = [
            "passive": .passive, "full": .full, "restart": .restart, "truncate": .truncate,
        ]
        try open().writeWithoutTransaction { _ = try $0.checkpoint(kinds[step.name ?? ""] ?? .passive) }
    }

    // MARK: Content

    private func content(of step: Step) throws -> [Reply.Table] {
        guard step.path != nil else { return try open().read(Session.content) }
        let copy = try Session.open(try path(of: step), step.options)
        let content = try copy.read(Session.content)
        try copy.close()
        return content
    }

    private static func content(_ db: Database) throws -> [Reply.Table] {
        let tables = try Row.fetchAll(
            db,
            sql: """
                SELECT schema, name, type FROM pragma_table_list
                WHERE schema <> 'temp' AND type <> 'view' ORDER BY schema, name
                """)
        var content = tables.map { row in
            let (schema, name): (String, String) = (row["schema"], row["name"])
            return Reply.Table(
                name: "\(schema).\(name)", isShadow: row["type"] == "shadow",
                answer: answer("SELECT * FROM \(schema).\"\(name)\"", db))
        }
        content.append(
            Reply.Table(
                name: "integrity_check", isShadow: false, answer: answer("PRAGMA integrity_check", db)))
        return content
    }
}
