import Testing

@testable import Coffer

@Suite("Literals in SQL")
struct SQLLiteralTests {
    @Test(
        "logs show a question mark for each literal, and no comments",
        arguments: [
            (
                "SELECT * FROM note WHERE text = 'it''s' AND id<42",
                "SELECT * FROM note WHERE text = ? AND id<?"
            ),
            (
                "INSERT INTO \"a'b\"\n  VALUES (x'00ff', 0x1F, ?1, :1, $name)",
                "INSERT INTO \"a'b\" VALUES (x?, ?, ?1, :1, $name)"
            ),
            ("-- of Ada\nSELECT a1, 7 /* 'Ada' */ FROM [t 1]", "SELECT a1, ? FROM [t 1]"),
            // A text is no part of a parameter, not even in SQL that does not compile.
            ("SELECT ?'Ada', :'Ada', @'Ada', ?2", "SELECT ??, :?, @?, ?2"),
            ("SELECT 'open", "SELECT ?"), ("", ""), ("'all'", "?"), ("SELECT 1.5e3", "SELECT ?.?"),
        ])
    func literals(sql: String, shown: String) {
        #expect(SQLSecrets.withoutLiterals(sql) == shown)
    }
}
