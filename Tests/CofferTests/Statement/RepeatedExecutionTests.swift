import CofferTestSupport
import SQLCipherBridge
import Testing

@testable import Coffer

@Suite("Executions of the same SQL")
struct RepeatedExecutionTests {
    let queue: DatabaseQueue

    init() throws {
        queue = try DatabaseQueue()
        try queue.write { try $0.execute(sql: "CREATE TABLE t (a, b)") }
    }

    private static let insert = "INSERT INTO t VALUES (?, ?)"

    private func rows() throws -> [Row] {
        try queue.read { try Row.fetchAll($0, sql: "SELECT * FROM t ORDER BY rowid") }
    }

    @Test("an insertion with arguments is prepared once, and each has its own values")
    func reuse() throws {
        try queue.write { db in
            var statements: Set<ObjectIdentifier> = []
            for number in 0..<5 {
                try db.execute(sql: Self.insert, arguments: [number, number == 3 ? nil : "n\(number)"])
                statements.insert(ObjectIdentifier(try #require(db.statementCaches[.execution][Self.insert])))
            }
            #expect(statements.count == 1)
        }
        let names = try queue.read { try String?.fetchAll($0, sql: "SELECT b FROM t ORDER BY a") }
        #expect(names == ["n0", "n1", "n2", nil, "n4"])
    }

    @Test("arguments are unbound from SQLite's statement after an execution, and bound again for the next")
    func temporaryBindings() throws {
        try queue.write { (db) throws in
            let statement = try db.makeStatement(sql: Self.insert)
            try statement.execute(arguments: [1, "a"])
            #expect(statement.handle.step() == EngineCode.done)
            statement.handle.reset()
            #expect(statement.arguments == [1, "a"])
            try statement.execute()
        }
        let stored: [Row] = [["a": 1, "b": "a"], ["a": nil, "b": nil], ["a": 1, "b": "a"]]
        #expect(try rows() == stored)
    }

    @Test("a statement that is kept holds no values")
    func values() throws {
        try queue.write { db in
            for _ in 0..<2 {
                try db.execute(sql: Self.insert, arguments: [1, "secret"])
                let statement = try #require(db.statementCaches[.execution][Self.insert])
                #expect(statement.arguments.isEmpty)
            }
        }
    }

    @Test("statements with named values, with several statements, or without row changes are not cached")
    func others() throws {
        try queue.inDatabase { db in
            try db.execute(sql: "INSERT INTO t VALUES (1, 2)")
            try db.execute(sql: "INSERT INTO t VALUES (:a, :b)", arguments: ["a": 1, "b": 2])
            try db.execute(
                sql: "INSERT INTO t VALUES (?, 1); INSERT INTO t VALUES (?, 2)", arguments: [1, 2])
            try db.execute(sql: "SELECT ?", arguments: [1])
            try db.execute(sql: "ATTACH DATABASE ? AS other KEY ?", arguments: [":memory:", "secret"])
            try db.execute(
                sql: "INSERT INTO t VALUES (?, 1) -- \(String(repeating: "x", count: 5000))", arguments: [1])
            #expect(db.statementCaches[.execution].isEmpty)
        }
    }

    @Test("too few or too many values are an error each time", arguments: 0...1)
    func wrongCount(earlierExecutions: Int) throws {
        try queue.inDatabase { db in
            for _ in 0..<earlierExecutions { try db.execute(sql: Self.insert, arguments: [1, 2]) }
            #expect(throws: DatabaseError.self) { try db.execute(sql: Self.insert, arguments: [1]) }
            #expect(throws: DatabaseError.self) { try db.execute(sql: Self.insert, arguments: [1, 2, 3]) }
        }
    }

    @Test("a failure shows the SQL and, if they are public, the values; the next execution succeeds")
    func failure() throws {
        let queue = try DatabaseQueue(
            configuration: Configuration().with { $0.publicStatementArguments = true })
        try queue.inDatabase { db in
            try db.execute(sql: "CREATE TABLE u (a UNIQUE)")
            let insert = "INSERT INTO u VALUES (?)"
            try db.execute(sql: insert, arguments: ["x"])
            for _ in 0..<2 {
                let error = #expect(throws: DatabaseError.self) {
                    try db.execute(sql: insert, arguments: ["x"])
                }
                #expect(error?.sql == insert)
                #expect(error?.arguments == ["x"])
                try db.execute(sql: insert, arguments: [db.totalChangesCount])
            }
        }
    }

    @Test("texts that look the same and have other bytes are other statements")
    func equivalentTexts() throws {
        try queue.inDatabase { db in
            try db.execute(sql: "INSERT INTO t VALUES ('Caf\u{e9}', 0), ('Cafe\u{301}', 0)")
            for (number, name) in ["Caf\u{e9}", "Cafe\u{301}", "Caf\u{e9}"].enumerated() {
                try db.execute(sql: "UPDATE t SET b = ? WHERE a = '\(name)'", arguments: [number + 1])
            }
            #expect(try Int.fetchAll(db, sql: "SELECT b FROM t ORDER BY rowid") == [3, 2])
            let statement = try db.cachedStatement(sql: "SELECT 'Caf\u{e9}'")
            #expect(try db.cachedStatement(sql: "SELECT 'Cafe\u{301}'") !== statement)
        }
    }

    @Test("the schema may change in between")
    func schemaChange() throws {
        try queue.inDatabase { db in
            try db.execute(sql: Self.insert, arguments: [1, 2])
            try db.execute(sql: "ALTER TABLE t ADD COLUMN c")
            #expect(throws: DatabaseError.self) { try db.execute(sql: Self.insert, arguments: [1, 2]) }
            try db.execute(sql: "DROP TABLE t; CREATE TABLE t (b, a)")
            try db.execute(sql: Self.insert, arguments: [3, 4])
        }
        #expect(try rows() == [["b": 3, "a": 4]])
    }
}
