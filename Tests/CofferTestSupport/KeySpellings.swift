/// Failing statements that contain a key, in hundreds of spellings, for tests that no error, trace, log or
/// output shows the key.
///
/// Most of them fail because of their context: the folder does not exist, the connection already has its key,
/// or the SQL is invalid. Each contains the key as text, as the digits of a blob, or both.
public enum KeySpellings {
    /// The key as text. No test uses it for anything else.
    public static let secret = "tr0ub4dor"

    /// The key as hexadecimal digits.
    public static let digits = "5ec2e75ec2e75ec2e75ec2e75ec2e75ec2e75ec2e75ec2e75ec2e75ec2e75ec2"

    /// The key as a number.
    public static let number = "73193719371"

    /// The parts of the key that must not be shown anywhere.
    public static let fragments = ["tr0ub4dor", "0ub4dor", "tr0ub4d", "5ec2e7", "73193719"]

    /// Returns true if a text shows a part of the key.
    public static func isShown(in text: String) -> Bool { fragments.contains { text.contains($0) } }

    /// Statements that fail on an encrypted connection.
    public static let failing: [String] = attachments + pragmas + batches + mistakes

    /// Statements that fail and contain a key in a URI that is an expression, several words, or a number.
    public static let expressions: [String] =
        ["key", "KEY", "hexkey", "textkey", "%6bey"].flatMap { name in
            let start = "file:/nonexistent/x?\(name)="
            return [
                "('\(start)'||'\(secret)')", "'\(start)' || '\(secret)'", "'\(start)'/**/||/**/x'\(digits)'",
                "'file:/nonexistent/x?' || '\(name)=' || '\(secret)'", "printf('\(start)%s', '\(secret)')",
                "(SELECT '\(start)'||'\(secret)')", "\"\(start)\" || \"\(secret)\"",
                "'file:/nonexistent/x?a=it''s&\(name)='||'\(secret)'", "'\(start)'||(('\(secret)'))",
                "'\(start)' || \(number)", "'\(start)\(secret)' COLLATE nocase", "'\(start)' || '\(secret)",
            ].flatMap { path in
                ["ATTACH \(path) AS y", "ATTACH DATABASE \(path) AS y KEY 'x'", "VACUUM INTO \(path)"]
            }
        }
        + [
            "1 \(number)", "\(number) \(number)", "-\(number) 1", "\(number) + 1", "a b \(secret)",
            "a.\(secret)",
        ]
        .flatMap { value in
            [
                "PRAGMA key = \(value)", "PRAGMA main.rekey(\(value))", "PRAGMA hexkey \(value)",
                "ATTACH '/nonexistent/x.db' AS y KEY \(value)", "ATTACH ':memory:' AS y KEY \(value)",
                "PRAGM key = \(value)", "/* it's */ PRAGMA key = \(value) -- it's",
            ]
        }

    /// Statements that fail and contain a literal that is a key to people, but not to SQL. Only a log, which
    /// contains only pieces of them, must not show it.
    public static let literals: [String] = [
        "'\(secret)'", "\"\(secret)\"", "x'\(digits)'", "('\(secret)')", "'it''s \(secret)'", "[\(secret)]",
        "`\(secret)`", number, "'\(secret)", "\"\(secret)", "/* ' */ '\(secret)'", "\"'\" || '\(secret)'",
    ].flatMap { literal in
        [
            "CREATE TABLE k(key TEXT DEFAULT \(literal)); PRAGMA nothing",
            "CREATE TABLE k(key TEXT DEFAULT \(literal)); CREATE TABLE k(key TEXT DEFAULT \(literal))",
            "CREATE TABLE k(key TEXT DEFAULT \(literal), )",
            "CREATE TABLE k(a, key DEFAULT \(literal) garbage)",
            "SELECT key FROM nowhere WHERE key = \(literal)", "INSERT INTO nowhere(key) VALUES (\(literal))",
            "SELECT 1; -- it's\nSELECT key FROM nowhere WHERE key = \(literal)",
            "SELECT \(literal) FROM nowhere; PRAGMA key = \(literal) garbage",
            "SELECT key \(literal) \(literal)",
            "PRAGMA nothing(\(literal)); SELECT \(literal) FROM nowhere",
        ]
    }

    /// The spellings of a key, including invalid SQL.
    private static let values = [
        "'\(secret)'", "\"\(secret)\"", "`\(secret)`", "[\(secret)]", secret, "x'\(digits)'", "X'\(digits)'",
        "\"x'\(digits)'\"",
        "'x''\(digits)'''", "'it''s \(secret)'", "'\(secret)' || '\(secret)'", "lower('\(secret)')",
        "('\(secret)')", "'\(secret)",
        "\"\(secret)", "x'\(digits)", "/* \(secret) */ '\(secret)'", "-- \(secret)\n'\(secret)'",
        "N'\(secret)'",
        "'\(secret)' COLLATE nocase",
        "CAST('\(secret)' AS TEXT)", "(SELECT '\(secret)')", "?1 || '\(secret)'", "'🔑\(secret)'",
        "‘\(secret)’",
    ]

    private static let attachments: [String] =
        values.flatMap { value in
            [
                "ATTACH '/nonexistent/x.db' AS y KEY \(value)",
                "attach database \"/nonexistent/x.db\" as [y] key \(value)",
                "ATTACH/**/'/nonexistent/x.db'/**/AS/**/y/**/KEY/**/\(value)",
                "ATTACH '/nonexistent/x.db' AS main KEY \(value) garbage",
                "/* one */ -- two\n;; ATTACH '/nonexistent/x.db' AS y\nKEY\n\(value);",
            ]
        } + [
            "ATTACH '/nonexistent/x.db' y KEY '\(secret)'", "ATTACH '/nonexistent/x.db' KEY '\(secret)' AS y",
            "EXPLAIN ATTACH '/nonexistent/x.db' AS y KEY '\(secret)' garbage",
            "EXPLAIN QUERY PLAN ATTACH '/nonexistent/x' AS y KEY '\(secret)",
            "ATTACH 'file:/nonexistent/x?key=\(secret)' AS y",
            "ATTACH 'file:/nonexistent/x?hexkey=\(digits)' AS y",
            "ATTACH 'file:/nonexistent/x?textkey=\(secret)' AS y",
            "ATTACH ('file:/nonexistent/' || 'x?key=\(secret)') AS y",
            "ATTACH '/nonexistent/x.db' AS key KEY '\(secret)'", "ATTACH key AS key KEY key || '\(secret)",
            "VACUUM INTO 'file:/nonexistent/x?key=\(secret)'",
            "VACUUM main INTO 'file:/nonexistent/x?hexkey=\(digits)'",
            "ATTACH 'it's' AS y KEY '\(secret)'", "ATTACH 'it's' AS y KEY '\(secret)' -- it's",
            "ATTACH 'a'b' AS y KEY '\(secret)' -- it's", "ATTACH \"a' AS y KEY '\(secret)'",
            "ATTACH 'a\" AS y KEY \"\(secret)\"",
            "ATTACH [a' AS y KEY '\(secret)'", "ATTACH '/nonexistent/x.db' AS y K\u{200B}EY '\(secret)'",
            "ATTACH '/nonexistent/x.db' AS y \u{212A}EY '\(secret)'",
            "ATTACH '/nonexistent/x.db' AS y KEZ '\(secret)'",
            "ATTACH '/nonexistent/x.db' AS y PASSWORD '\(secret)'",
            "ATTACH '/nonexistent/x.db' AS y '\(secret)'",
        ]

    private static let pragmas: [String] =
        values.flatMap { value in
            [
                "PRAGMA key = \(value)", "pragma main.rekey(\(value))",
                "PRAGMA/**/\"key\"/**/=/**/\(value) garbage",
                "PRAGMA nowhere.key = \(value) + 1",
            ]
        }
        + ["hexkey", "textkey", "hexrekey", "textrekey", "rekey"].flatMap { name in
            [
                "PRAGMA \(name) = '\(secret)'", "PRAGMA \(name)('\(digits)')",
                "PRAGMA main.\(name) = \"\(secret)\"",
                "EXPLAIN PRAGMA \(name) = '\(secret)'", "PRAGMA \(name) '\(secret)'",
                "PRAGMA 'main' . [\(name)] == `\(secret)`",
            ]
        } + [
            "PRAGMA\u{A0}key = '\(secret)'", "PRAGMA key\u{A0}= '\(secret)'",
            "\u{FEFF}PRAGMA key ' = '\(secret)'",
            "PRAGMA key ''\(secret)''",
            "PRAGMA cipher_migrate = 1, key = '\(secret)'",
            "PRAGMA cipher_page_size = 512; PRAGMA key = '\(secret)'",
            "PRAGMA rekey_cipher = '\(secret)' '", "PRAGMA kdf_iter = 1 key '\(secret)'",
            "PRAGMA key = '\(secret)' '\(secret)'",
            "SELECT * FROM pragma_key('\(secret)')", "SELECT sqlcipher_key('\(secret)')",
            "SELECT * FROM main.pragma_rekey(\"\(secret)\")",
        ]

    /// Texts of several statements that contain a key, in which one statement fails.
    private static let batches: [String] = [
        "SELECT 1; PRAGMA key = '\(secret)'", "SELEC 1; PRAGMA key = '\(secret)'",
        "SELECT 1 FROM nowhere; ATTACH '/nonexistent/x.db' AS y KEY '\(secret)'",
        "CREATE TABLE k (a); INSERT INTO k VALUES (1; PRAGMA rekey='\(secret)'",
        "/* PRAGMA */ PRAGMA key='\(secret)'; bad",
        "SELECT sqlcipher_export('y'); ATTACH '/nonexistent/x.db' AS y KEY '\(secret)' '",
        "SELECT '\(secret)' FROM nowhere; ATTACH '/nonexistent/x' AS y KEY '\(secret)'",
        "ATTACH '/nonexistent/x.db' AS y KEY '\(secret)'; SELECT sqlcipher_export('y'); DETACH y",
        "ATTACH ':memory:' AS y KEY '\(secret)'; SELECT '\(secret)' FROM nowhere",
        "SELECT x'\(digits)' FROM nowhere; PRAGMA hexkey = '\(digits)'",
        "ATTACH ':memory:' AS y KEY '\(secret)'; SELECT \"\(secret)\"",
        "ATTACH ':memory:' AS y KEY '\(secret)'; SELECT \(secret)",
        "ATTACH ':memory:' AS y KEY '\(secret)'; INSERT INTO y.t VALUES ('\(secret)')",
        "ATTACH ':memory:' AS y KEY '\(secret)'; SELECT json_extract('{', '\(secret)')",
        "CREATE TRIGGER g AFTER INSERT ON k BEGIN ATTACH '/nonexistent/x' AS y KEY '\(secret)'; END",
        "CREATE TEMP TRIGGER g AFTER INSERT ON k BEGIN SELECT 1; PRAGMA key = '\(secret)'; END",
        "CREATE VIEW v AS ATTACH '/nonexistent/x' AS y KEY '\(secret)'",
        "WITH k AS (ATTACH '/nonexistent/x' AS y KEY '\(secret)') SELECT 1",
        "BEGIN; ROLLBACK; PRAGMA rekey = '\(secret)'; COMMIT",
        "; ; PRAGMA key = '\(secret)",
        String(repeating: " ", count: 300) + "ATTACH '/nonexistent/x.db' AS y KEY \(secret) \(secret)",
        "/* \(String(repeating: "long ", count: 100)) */ PRAGMA key = \(secret) \(secret)",
        "ATTACH '/nonexistent/\(String(repeating: "long ", count: 60))' AS y KEY '\(secret)'",
    ]

    /// Typical typing mistakes.
    private static let mistakes: [String] = [
        "PRAGM key = '\(secret)'", "PRAGMAkey = '\(secret)'",
        "ATACH '/nonexistent/x.db' AS y KEY '\(secret)'",
        "ATTACH DATABSE '/nonexistent/x' AS y KEY '\(secret)'",
        "KEY '\(secret)'", "key = '\(secret)'", ".open x.db; PRAGMA key = '\(secret)'",
        "SET key = '\(secret)'",
        "sqlite> PRAGMA key = '\(secret)'",
        "SELECT 'abc; PRAGMA key='\(secret)'", "SELECT 'it's'; PRAGMA key = '\(secret)'",
        "SELECT \"; ATTACH '/nonexistent/x' AS y KEY '\(secret)'",
        "SELECT 1 /* PRAGMA key = '\(secret)' */ FROM", "REKEY '\(secret)'", "ALTER DATABASE KEY '\(secret)'",
        "$ PRAGMA key = '\(secret)'",
    ]
}
