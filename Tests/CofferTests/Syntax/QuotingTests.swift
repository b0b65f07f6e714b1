import Coffer
import Testing

@Suite("Quoting")
struct QuotingTests {
    @Test(
        "an identifier is in double quotes, and its own quotes are doubled",
        arguments: [
            ("name", #""name""#),
            ("", #""""#),
            (#"a"b"#, #""a""b""#),
            (#"""#, #""""""#),
            ("a b", #""a b""#),
            ("\"\u{301}", "\"\"\"\u{301}\""),
            ("'", #""'""#),
        ])
    func quoting(name: String, quoted: String) {
        #expect(Array(name.quotedDatabaseIdentifier.unicodeScalars) == Array(quoted.unicodeScalars))
    }

    @Test("SQLite reads a quoted identifier as the original name", arguments: hostileTexts)
    func roundTrip(name: String) throws {
        try makeCanaryQueue().write { db throws in
            try db.execute(
                sql:
                    "CREATE TABLE \("hostile\(name)".quotedDatabaseIdentifier) (\(name.quotedDatabaseIdentifier))"
            )
            let row = try #require(
                try Row.fetchOne(db, sql: "SELECT name FROM sqlite_master WHERE name LIKE 'hostile%'"))
            #expect(row[0] as String == "hostile\(name)")
            #expect(try isCanaryAlive(db))
        }
    }

    @Test("a NUL character in an identifier is refused by SQLite, and does not cut the identifier short")
    func nulCharacter() throws {
        try makeCanaryQueue().write { db throws in
            #expect(throws: DatabaseError.self) {
                try db.execute(sql: "DELETE FROM \("canary\0".quotedDatabaseIdentifier)")
            }
            #expect(try isCanaryAlive(db))
        }
    }

    @Test("question marks are separated by commas", arguments: [(0, ""), (1, "?"), (3, "?,?,?")])
    func questionMarks(count: Int, expected: String) {
        #expect(databaseQuestionMarks(count: count) == expected)
    }
}
