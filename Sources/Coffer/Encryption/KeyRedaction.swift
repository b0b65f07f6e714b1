/// Removes keys from SQL that is to be shown: in errors, traces, logs and descriptions (I5). Never for SQL that is to be run.
///
/// What follows the name of a keying pragma, or the word `KEY` in `ATTACH`, is replaced up to the end of its statement, however it is
/// written, also when it is not valid SQL. Where a doubt remains, too much is removed rather than too little.
enum KeyRedaction {
    /// The SQL without the keys in it; the same string when there are none, which for ordinary SQL costs one or two passes over its bytes.
    static func redactingKeys(in sql: String) -> String {
        guard mayContainKey(sql) else { return sql }
        let bytes = Array(sql.utf8)
        let findings = findings(in: bytes)
        guard !findings.isEmpty else { return sql }
        var result: [UInt8] = []
        var position = 0
        for finding in findings {
            result += bytes[position..<finding.range.lowerBound]
            result += Array(finding.replacement.utf8)
            position = finding.range.upperBound
        }
        result += bytes[position...]
        return String(decoding: result, as: UTF8.self)
    }

    /// Whether SQL has keys in it, so that its arguments, and SQLite's messages about it, may show one as well.
    static func containsKey(_ sql: String) -> Bool {
        mayContainKey(sql) && !findings(in: Array(sql.utf8)).isEmpty
    }

    /// Whether a closer look is worth its price: a word with `key`, and one of the statements that take keys.
    private static func mayContainKey(_ sql: String) -> Bool {
        var sql = sql
        return sql.withUTF8 { text in
            guard unsafe contains("key", in: text) else { return false }
            return unsafe contains("pragma", in: text) || contains("attach", in: text) || contains("vacuum", in: text)
                || contains("sqlcipher", in: text)
        }
    }

    private static func contains(_ word: StaticString, in text: UnsafeBufferPointer<UInt8>) -> Bool {
        word.withUTF8Buffer { word in
            guard text.count >= word.count, let first = unsafe word.first else { return false }
            for start in 0...text.count - word.count {
                guard unsafe text[start] | 0x20 == first else { continue }
                var length = 1
                while length < word.count, unsafe text[start + length] | 0x20 == word[length] { length += 1 }
                if length == word.count { return true }
            }
            return false
        }
    }
}

// MARK: - Finding keys

extension KeyRedaction {
    /// A part of the text to replace.
    private struct Finding {
        let range: Range<Int>
        let replacement: String
    }

    /// Where one statement stands on its way to a key.
    private enum Position {
        case elsewhere, afterPragma, inAttach, inVacuum
    }

    /// The parts of the text to replace, in order.
    private static func findings(in bytes: [UInt8]) -> [Finding] {
        var findings: [Finding] = []
        var scanner = SQLScanner(bytes)
        var position = Position.elsewhere
        while let token = scanner.next() {
            let isKeyName =
                switch position {
                case .afterPragma: takesKey(token.word)
                case .inAttach: token.word == "key"
                // pragma_key(...) as a table, functions of SQLCipher, and PRAGMA before a space that is none for SQLite.
                case .elsewhere, .inVacuum:
                    (token.word.hasPrefix(token.kind == .word ? "pragma" : "pragma_") || token.word.hasPrefix("sqlcipher_"))
                        && takesKey(token.word)
                }
            if isKeyName {
                if let finding = finding(after: token, in: bytes, scanner: &scanner) { findings.append(finding) }
                position = .elsewhere
                continue
            }
            switch (token.kind, token.word) {
            case (.semicolon, _): position = .elsewhere
            case (.word, "pragma"): position = .afterPragma
            case (.word, "attach"): position = .inAttach
            case (.word, "vacuum"): position = .inVacuum
            // What follows is the value of a pragma that takes no key.
            case (.other, "="), (.other, "("): if position == .afterPragma { position = .elsewhere }
            // A file name like 'file:x?key=...' is a URI to whoever enables them.
            case (.quoted, let name) where (position == .inAttach || position == .inVacuum) && name.contains("key="):
                findings.append(Finding(range: token.range, replacement: "'<redacted>'"))
            default: break
            }
        }
        return findings
    }

    /// Everything between the name of a key and the end of the statement, comments included.
    private static func finding(after name: SQLScanner.Token, in bytes: [UInt8], scanner: inout SQLScanner) -> Finding? {
        let range = name.range.upperBound..<scanner.skipStatement(from: name.range.upperBound)
        guard let first = bytes[range].first(where: { $0 > 0x20 }) else { return nil }
        switch first {
        case UInt8(ascii: "="): return Finding(range: range, replacement: " = '<redacted>'")
        case UInt8(ascii: "("): return Finding(range: range, replacement: "('<redacted>')")
        default: return Finding(range: range, replacement: " '<redacted>'")
        }
    }

    /// Whether the name of a pragma is about a key: `key`, `rekey`, `hexkey`, `textkey`, and whatever future versions add; but not about
    /// foreign keys.
    private static func takesKey(_ name: String) -> Bool {
        name.contains("key") && !name.contains("foreign_key")
    }
}
