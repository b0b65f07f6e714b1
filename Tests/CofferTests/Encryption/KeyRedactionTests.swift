import Testing

@testable import Coffer

@Suite("Keys in SQL that is shown")
struct KeyRedactionTests {
    static let redacted: [(String, String)] = [
        ("PRAGMA key = 'S3CRET'", "PRAGMA key = '<redacted>'"),
        ("pragma KEY='S3CRET';", "pragma KEY = '<redacted>';"),
        ("PRAGMA key('S3CRET'); SELECT 1", "PRAGMA key('<redacted>'); SELECT 1"),
        ("PRAGMA key = \"x'53CRET'\"; SELECT 1", "PRAGMA key = '<redacted>'; SELECT 1"),
        ("PRAGMA main.rekey = S3CRET", "PRAGMA main.rekey = '<redacted>'"),
        ("PRAGMA \"main\" . \"hexkey\" = 'S3CRET'", "PRAGMA \"main\" . \"hexkey\" = '<redacted>'"),
        ("PRAGMA [textkey] = `S3CRET`", "PRAGMA [textkey] = '<redacted>'"),
        (
            "PRAGMA hexrekey = 'S3CRET' ; PRAGMA user_version",
            "PRAGMA hexrekey = '<redacted>'; PRAGMA user_version"
        ),
        ("PRAGMA textrekey = 'a''S3CRET;''b'; SELECT 2", "PRAGMA textrekey = '<redacted>'; SELECT 2"),
        (
            "PRAGMA/**/key/* S3CRET */=/* S3CRET */'S3CRET' -- S3CRET\n;SELECT 3",
            "PRAGMA/**/key '<redacted>';SELECT 3"
        ),
        ("PRAGMA key 'S3CRET'", "PRAGMA key '<redacted>'"),
        ("PRAGMA key = 'S3CRET", "PRAGMA key = '<redacted>'"),
        ("PRAGMA key = S3CRET S3CRET 'S3CRET'", "PRAGMA key = '<redacted>'"),
        ("EXPLAIN PRAGMA key = 'S3CRET'", "EXPLAIN PRAGMA key = '<redacted>'"),
        ("SELECT 1; -- it's\nPRAGMA key = 'S3CRET'", "SELECT 1; -- it's\nPRAGMA key = '<redacted>'"),
        ("SELECT ';'; PRAGMA key = 'S3CRET'", "SELECT ';'; PRAGMA key = '<redacted>'"),
        ("\u{FEFF}PRAGMA key = 'S3CRET'", "\u{FEFF}PRAGMA key = '<redacted>'"),
        ("ATTACH DATABASE 'a.db' AS a KEY 'S3CRET'", "ATTACH DATABASE 'a.db' AS a KEY '<redacted>'"),
        ("attach 'a.db' as a key x'53CRET'; select 1", "attach 'a.db' as a key '<redacted>'; select 1"),
        ("ATTACH 'key; KEY.db' AS a KEY/**/\"S3CRET\"", "ATTACH 'key; KEY.db' AS a KEY '<redacted>'"),
        ("ATTACH 'file:a.db?key=S3CRET' AS a", "ATTACH '<redacted>' AS a"),
        ("ATTACH 'file:a.db?%6bey=S3CRET' AS a", "ATTACH '<redacted>' AS a"),
        ("ATTACH 'file:a.db?key=' || 'S3CRET' AS a; SELECT 1", "ATTACH '<redacted>'; SELECT 1"),
        ("VACUUM INTO printf('file:a.db?%s=%s', 'key', 'S3CRET')", "VACUUM INTO printf('<redacted>'"),
        ("VACUUM INTO 'file:a.db?hexkey=S3CRET'", "VACUUM INTO '<redacted>'"),
        ("SELECT * FROM pragma_key('S3CRET')", "SELECT * FROM pragma_key('<redacted>')"),
    ]

    @Test("keys are removed, and the rest stays", arguments: redacted)
    func redacts(sql: String, expected: String) {
        #expect(KeyRedaction.redactingKeys(in: sql) == expected)
        #expect(KeyRedaction.containsKey(sql))
        #expect(KeyRedaction.redactingKeys(in: expected).contains("redacted"))
    }

    @Test(
        "ordinary SQL stays unchanged",
        arguments: [
            "", "SELECT 1", "CREATE TABLE player(id INTEGER PRIMARY KEY, attached TEXT)",
            "PRAGMA foreign_keys = ON",
            "PRAGMA main.foreign_key_check(monkeys)", "PRAGMA table_info('keys')",
            "PRAGMA index_list(api_key); SELECT 'a'",
            "PRAGMA defer_foreign_keys = ON", "INSERT INTO t VALUES ('PRAGMA key = 1')",
            "-- PRAGMA key = 'x'\nSELECT 1",
            "ATTACH 'a.db' AS keys", "SELECT key FROM attachment WHERE key = 'a'", "VACUUM INTO 'keys.db'",
            "PRAGMA key", "PRAGMA key ;",
            "SELECT sqlcipher_export('monkey')", "/* PRAGMA key */ SELECT 'unterminated",
        ])
    func keeps(sql: String) {
        #expect(KeyRedaction.redactingKeys(in: sql) == sql)
        #expect(!KeyRedaction.containsKey(sql))
    }

    @Test("no secret survives among random fragments")
    func fuzz() {
        var generator = SystemRandomNumberGenerator()
        let before = [
            "SELECT 1;", "-- c'omment\n", "/* ' */", "SELECT 'it''s; fine';", " ", "\n\t",
            "PRAGMA user_version;", "SELECT \"a;b\", [c'd];",
            "EXPLAIN ", "INSERT INTO k VALUES (x'00');", "ATTACH 'f' AS g;", ";", "é",
        ]
        let keying = [
            "PRAGMA key=", "PRAGMA main.key =", "pRaGmA rekey(", "PRAGMA 'key' = ", "PRAGMA/*;*/hexkey/*'*/=",
            "PRAGMA\n--'\nkey\n=\n",
            "ATTACH 'file' AS a KEY ", "ATTACH DATABASE \"f;g\" AS 'b' key\t", "PRAGMA temp . textkey = ",
            "PRAGMA [rekey] =",
            "PRAGMA key ",
            "PRAGMA `hexrekey`(",
        ]
        let quotes = [
            ("'", "'"), ("\"", "\""), ("`", "`"), ("[", "]"), ("", ""), ("x'", "'"), ("'a''", "'"), ("'", ""),
            ("\"x'", "'\""),
        ]
        let after = ["", ")", ";", "; SELECT 1", " -- c", " /* c", "\n", ") ; PRAGMA cache_size = 5"]
        for _ in 0..<20000 {
            let quote = quotes.randomElement(using: &generator) ?? ("'", "'")
            let parts = (0..<Int.random(in: 0...4, using: &generator)).compactMap { _ in
                before.randomElement(using: &generator)
            }
            let sql =
                parts.joined() + (parts.last == "é" ? " " : "")
                + (keying.randomElement(using: &generator) ?? "") + quote.0 + "S3CRET"
                + quote.1 + (after.randomElement(using: &generator) ?? "")
            let result = KeyRedaction.redactingKeys(in: sql)
            #expect(!result.contains("S3CRET"), "\(sql)")
        }
    }

    @Test(
        "an error about SQL with a key shows neither SQLite's message nor the arguments",
        arguments: ["PRAGMA key 'S3CRET", "ATTACH 'a' AS b KEY ?"])
    func errors(sql: String) {
        let error = DatabaseError(
            message: "unrecognized token: \"'S3CRET\"", sql: sql, arguments: ["S3CRET"],
            publicStatementArguments: true)
        #expect(!error.description.contains("S3CRET"))
        #expect(!error.expandedDescription.contains("S3CRET"))
        #expect(error.description.contains("SQL logic error"))
    }

    @Test(
        "a truncated message of SQLite's log shows no words from the truncated SQL",
        arguments: ["SELECT 1 ", "PRAGMA ", "ATTACH ", "ATTACH 'a.db' AS b ", "UPDATE t SET a = 1 ", ""])
    func cutLogMessages(start: String) {
        // The key comes after the end of the quoted text, and caused SQLite's error.
        let quoted = start + String(repeating: " ", count: 300)
        for words in [
            "near \"S3CRET\": syntax error", "unrecognized token: \"'S3CRET\"", "no such column: S3CRET",
        ] {
            let message = String("\(words) in \"\(quoted)".prefix(209))
            for text in [quoted + "KEY S3CRET", nil] {
                let shown = KeyRedaction.redactingKeys(
                    inLogMessage: message, description: "SQL logic error", compiling: text)
                #expect(!shown.contains("S3CRET"), "\(message)")
            }
        }
    }

    @Test("a message of SQLite's log about SQL without keys ends before the first literal")
    func logMessages() {
        let redacted = { (message: String, text: String?) in
            KeyRedaction.redactingKeys(inLogMessage: message, description: "SQL logic error", compiling: text)
        }
        let missing = "no such table: t in \"SELECT * FROM t\""
        #expect(redacted(missing, "SELECT * FROM t") == missing)
        #expect(redacted(missing, nil) == "SQL logic error")
        #expect(redacted(missing, "SELECT * FROM t; PRAGMA cache_size") == "SQL logic error")
        let literal = "no such table: t in \"SELECT 'a' FROM t\""
        #expect(redacted(literal, "SELECT 'a' FROM t") == "no such table: t in \"SELECT …")
        let unique =
            "statement aborts at 9: [INSERT INTO \"t\" (\"a\") VALUES (?)] UNIQUE constraint failed: t.a"
        #expect(redacted(unique, nil) == unique)
        let values = "statement aborts at 9: [INSERT INTO t VALUES ('a')] UNIQUE constraint failed: t.a"
        #expect(
            redacted(values, nil) == "statement aborts at 9: SQL logic error; [INSERT INTO t VALUES (…")
        #expect(
            redacted("statement aborts at 5: [ATTACH ? AS a] unable to open database: x", nil)
                == "statement aborts at 5: SQL logic error")
        #expect(
            redacted("os_unix.c:1: (2) open(/keys/a.db) - ", nil) == "os_unix.c:1: (2) open(/keys/a.db) - ")
        #expect(redacted("os_unix.c:1: (2) open(/a.db?%6bey=x) - ", nil) == "os_unix.c:1: (2) open(/a.db…")
    }

    @Test("any text can be redacted, and every change is marked")
    func arbitrary() {
        var generator = SystemRandomNumberGenerator()
        let alphabet = [
            "'", "\"", "`", "[", "]", ";", "--", "/*", "*/", "\n", "=", "(", ")", "key", "PRAGMA", "attach",
            " ", "\0", "é", ".",
        ]
        for _ in 0..<5000 {
            let sql = (0..<12).compactMap { _ in alphabet.randomElement(using: &generator) }.joined()
            let once = KeyRedaction.redactingKeys(in: sql)
            #expect(once == sql || once.contains("redacted"))
        }
    }
}
