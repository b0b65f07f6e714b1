import Testing

@testable import Coffer

@Suite struct DatabaseTraceTests {
    /// The output of a trace, on one thread.
    private final class Log {
        var lines: [String] = []
    }

    private func trace(
        _ options: Database.TracingOptions, publicArguments: Bool = false,
        _ describe: @escaping (Database.TraceEvent) -> String,
        _ body: (Database) throws -> Void
    ) throws -> [String] {
        var configuration = Configuration()
        configuration.publicStatementArguments = publicArguments
        let log = Log()
        try DatabaseQueue(configuration: configuration).writeWithoutTransaction { db throws in
            try db.execute(sql: "CREATE TABLE t (a)")
            db.trace(options: options) { log.lines.append(describe($0)) }
            try body(db)
            db.trace()
            try db.execute(sql: "SELECT 'after the trace'")
        }
        return log.lines
    }

    @Test("statements are traced as they start, without their values")
    func statements() throws {
        let lines = try trace(.statement, { $0.description }) { db in
            try db.execute(sql: "INSERT INTO t VALUES (?) ; ", arguments: ["secret"])
            try db.execute(sql: "BEGIN; COMMIT")
        }
        #expect(lines == ["INSERT INTO t VALUES (?)", "BEGIN", "COMMIT"])
    }

    @Test("values are shown on request, or if the configuration makes them public")
    func values() throws {
        let insert = { (db: Database) in try db.execute(sql: "INSERT INTO t VALUES (?)", arguments: ["it's"])
        }
        #expect(
            try trace(.statement, { $0.expandedDescription }, insert) == ["INSERT INTO t VALUES ('it''s')"])
        #expect(
            try trace(.statement, publicArguments: true, { $0.description }, insert) == [
                "INSERT INTO t VALUES ('it''s')"
            ])
        let both = try trace(
            .statement,
            { event in
                guard case .statement(let statement) = event else { return "" }
                return statement.sql + "|" + statement.expandedSQL
            }, insert)
        #expect(both == ["INSERT INTO t VALUES (?)|INSERT INTO t VALUES ('it''s')"])
    }

    @Test("durations are traced as statements end")
    func profile() throws {
        let lines = try trace(.profile, { $0.description }) { db in
            try db.execute(sql: "SELECT ?", arguments: [1])
        }
        #expect(lines.count == 1)
        let line = try #require(lines.first)
        #expect(line.wholeMatch(of: /\d+\.\d\d\ds SELECT \?/) != nil, "\(line)")
        #expect(
            try trace([.profile, .statement], { _ in "event" }) { try $0.execute(sql: "SELECT 1") }.count == 2
        )
        #expect(try trace([], { _ in "event" }) { try $0.execute(sql: "SELECT 1") } == [])
    }

    @Test("triggers are traced by their names")
    func triggers() throws {
        let lines = try trace(.statement, { $0.expandedDescription }) { db in
            try db.execute(
                sql:
                    "CREATE TABLE u (a); CREATE TRIGGER copy AFTER INSERT ON t BEGIN INSERT INTO u VALUES (1); END"
            )
            try db.execute(sql: "INSERT INTO t VALUES (1)")
        }
        #expect(lines.contains("-- TRIGGER copy"), "\(lines)")
    }

    @Test("an event kept after its callback no longer shows values")
    func keptEvents() throws {
        var kept: [Database.TraceEvent] = []
        try DatabaseQueue().writeWithoutTransaction { db throws in
            db.trace { kept.append($0) }
            try db.execute(sql: "SELECT ?", arguments: ["x"])
        }
        #expect(kept.map(\.expandedDescription).first == "SELECT ?")
    }

    @Test("keys are never traced, nor shown with the values", arguments: [true, false])
    func keys(publicArguments: Bool) throws {
        var lines: [String] = []
        for describe in [{ $0.description }, { $0.expandedDescription }] as [(Database.TraceEvent) -> String]
        {
            lines += try trace([.statement, .profile], publicArguments: publicArguments, describe) { db in
                try db.execute(
                    sql: "ATTACH ':memory:' AS a KEY 'hunter2'; ATTACH ':memory:' AS b KEY ?",
                    arguments: ["hunter2"])
                try? db.execute(sql: "PRAGMA a.key = 'hunter2'")
            }
        }
        #expect(lines.count >= 8)
        #expect(!lines.contains { $0.contains("hunter2") }, "\(lines)")
    }
}
