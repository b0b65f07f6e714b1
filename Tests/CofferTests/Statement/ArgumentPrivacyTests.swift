import Coffer
import CofferTestSupport
import Foundation
import Testing

@Suite("Values in descriptions of errors")
struct ArgumentPrivacyTests {
    private func queue(isPublic: Bool = false) throws -> DatabaseQueue {
        var configuration = Configuration.rawKeyed
        configuration.publicStatementArguments = isPublic
        let queue = try DatabaseQueue(configuration: configuration)
        try queue.write { db in
            try db.execute(
                sql: "CREATE VIRTUAL TABLE f USING fts5(a); CREATE TABLE t (a TEXT UNIQUE, b CHECK (b > 0))")
        }
        return queue
    }

    private static let queries = [
        "SELECT * FROM f WHERE f MATCH ?", "SELECT json_extract('{}', ?)", "SELECT * FROM json_each('{}', ?)",
        "SELECT * FROM f WHERE f MATCH 'a' AND rank MATCH ?",
    ]

    @Test(
        "an argument quoted in SQLite's message is shown only if arguments are public", arguments: queries,
        [false, true])
    func quotedArguments(sql: String, isPublic: Bool) throws {
        let queue = try queue(isPublic: isPublic)
        let argument = sql.contains("MATCH ?") ? "secretword: 123" : "secretword"
        let error = #expect(throws: DatabaseError.self) {
            try queue.read { _ = try Row.fetchAll($0, sql: sql, arguments: [argument]) }
        }
        #expect("\(error as Any)".contains("secretword") == isPublic)
        var dumped = ""
        dump(error, to: &dumped)
        #expect(dumped.contains("secretword") == isPublic)
        #expect(error?.expandedDescription.contains("secretword") == true)
    }

    @Test("an argument of another type, or one that the statement has changed, is not shown either")
    func convertedArguments() throws {
        for (sql, argument) in [
            ("SELECT json_extract('{}', ?)", 4_111_111.databaseValue),
            ("SELECT json_extract('{}', ?)", Data("4111111".utf8).databaseValue),
            ("SELECT * FROM f WHERE f MATCH ? || ':x'", 4_111_111.databaseValue),
        ] {
            let error = #expect(throws: DatabaseError.self) {
                try queue().read { _ = try Row.fetchAll($0, sql: sql, arguments: [argument]) }
            }
            #expect(!"\(error as Any)".contains("4111111"))
        }
    }

    @Test(
        "constraint and trigger messages are shown, even if they contain an argument's text")
    func constraints() throws {
        let queue = try queue()
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TRIGGER r BEFORE DELETE ON t BEGIN SELECT RAISE(ABORT, 'the limit is reached'); END
                    """)
            try db.execute(sql: "INSERT INTO t VALUES ('a', 2)")
        }
        for (sql, words) in [
            ("INSERT INTO t VALUES (?, 1)", "UNIQUE constraint failed: t.a"),
            ("DELETE FROM t WHERE a = ? OR a <> 'the'", "the limit is reached"),
        ] {
            let error = #expect(throws: DatabaseError.self) {
                try queue.write { try $0.execute(sql: sql, arguments: ["a"]) }
            }
            #expect(error?.description.contains(words) == true)
        }
    }

    @Test("a value of a row that was copied is not shown")
    func copiedRows() throws {
        let row = try queue().read { try Row.fetchOne($0, sql: "SELECT ? AS a", arguments: ["secret word"]) }
        let error = #expect(throws: RowDecodingError.self) { _ = try row?.decode(Int.self, forColumn: "a") }
        #expect(!"\(error as Any)".contains("secret"))
        #expect("\(error as Any)".contains("TEXT"))
        // The program's own values are.
        let own = #expect(throws: RowDecodingError.self) {
            _ = try (["a": "visible"] as Row).decode(Int.self, forColumn: "a")
        }
        #expect("\(own as Any)".contains("visible"))
    }

    @Test(
        "a key with an unescaped quote is hidden through the end of invalid SQL",
        arguments: [
            "PRAGMA key='it's;secretword'", "PRAGMA key=a;secretword", "PRAGMA rekey=\"pa\"ss;secretword\"",
            "ATTACH ':memory:' AS x KEY 'it's; secretword '",
        ])
    func halfKeys(sql: String) throws {
        let error = #expect(throws: DatabaseError.self) { try queue().write { try $0.execute(sql: sql) } }
        #expect(!"\(error as Any)".contains("secretword"))
        #expect(error?.sql?.contains("secretword") != true)
    }
}
