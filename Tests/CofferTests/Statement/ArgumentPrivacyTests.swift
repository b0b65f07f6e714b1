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

    @Test("an argument that SQLite's message quotes is not shown", arguments: queries, [false, true])
    func quotedArguments(sql: String, isPublic: Bool) throws {
        let queue = try queue(isPublic: isPublic)
        let argument = sql.contains("MATCH ?") ? "secretword: 123" : "secretword"
        let error = #expect(throws: DatabaseError.self) {
            try queue.read { _ = try Row.fetchAll($0, sql: sql, arguments: [argument]) }
        }
        #expect("\(error as Any)".contains("secretword") == isPublic)
        #expect(error?.expandedDescription.contains("secretword") == true)
    }

    @Test("a violated constraint is named, also if an argument has a part of its name")
    func constraints() throws {
        let queue = try queue()
        for arguments in [["a", 1], ["b", -1]] as [StatementArguments] {
            let error = #expect(throws: DatabaseError.self) {
                try queue.write { db in
                    try db.execute(sql: "INSERT OR IGNORE INTO t VALUES ('a', 2)")
                    try db.execute(sql: "INSERT INTO t VALUES (?, ?)", arguments: arguments)
                }
            }
            #expect(error?.description.contains(" constraint failed: ") == true)
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
        "a key whose quote was not doubled is hidden to the end of SQL that does not compile",
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
