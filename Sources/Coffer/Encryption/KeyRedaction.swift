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

/// Cuts SQL into tokens as SQLite does, and goes on where SQLite gives up: an unterminated literal or comment ends with the text.
private struct SQLScanner {
    struct Token {
        enum Kind { case word, quoted, semicolon, other }
        let kind: Kind
        let range: Range<Int>
        /// A word or the content of quotes in lower case, without what is not ASCII; a single character of punctuation; else empty.
        let word: String
    }

    private let bytes: [UInt8]
    private var index = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The next token after white space and comments.
    mutating func next() -> Token? {
        skipSpaceAndComments()
        guard index < bytes.count else { return nil }
        let start = index
        switch bytes[start] {
        case UInt8(ascii: ";"):
            index += 1
            return token(.semicolon, start..<index)
        case UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "`"): return quoted(start, closing: bytes[start], doubled: true)
        case UInt8(ascii: "["): return quoted(start, closing: UInt8(ascii: "]"), doubled: false)
        case let byte where SQLScanner.isWordByte(byte):
            while index < bytes.count, SQLScanner.isWordByte(bytes[index]) { index += 1 }
            return token(.word, start..<index)
        default:
            index += 1
            return token(.other, start..<index)
        }
    }

    /// Moves to the semicolon that ends the statement, or to the end of the text, and answers where that is.
    mutating func skipStatement(from start: Int) -> Int {
        index = start
        while let token = next() {
            if token.kind == .semicolon {
                index = token.range.lowerBound
                return index
            }
        }
        return index
    }

    private mutating func quoted(_ start: Int, closing: UInt8, doubled: Bool) -> Token {
        index = start + 1
        while index < bytes.count {
            if bytes[index] == closing {
                index += 1
                guard doubled, index < bytes.count, bytes[index] == closing else { break }
            }
            index += 1
        }
        return token(.quoted, start..<index)
    }

    private func token(_ kind: Token.Kind, _ range: Range<Int>) -> Token {
        let content = kind == .quoted ? bytes[range].dropFirst().filter { !"'\"`]".utf8.contains($0) } : Array(bytes[range])
        let word = String(decoding: content.filter { $0 < 0x80 }, as: UTF8.self).lowercased()
        return Token(kind: kind, range: range, word: word)
    }

    private mutating func skipSpaceAndComments() {
        while index < bytes.count {
            let following = index + 1 < bytes.count ? bytes[index + 1] : 0
            switch (bytes[index], following) {
            case (0...0x20, _): index += 1
            case (UInt8(ascii: "-"), UInt8(ascii: "-")):
                while index < bytes.count, bytes[index] != UInt8(ascii: "\n") { index += 1 }
            case (UInt8(ascii: "/"), UInt8(ascii: "*")):
                index += 2
                while index < bytes.count, !bytes[index...].starts(with: Array("*/".utf8)) { index += 1 }
                index = min(index + 2, bytes.count)
            default: return
            }
        }
    }

    /// Letters, digits, `_`, `$`, and whatever is not ASCII.
    private static func isWordByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...:
            true
        default: false
        }
    }
}
