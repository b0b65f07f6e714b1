/// Removes keys from SQL that is to be shown: in errors, traces, logs and descriptions (I5). Never for SQL
/// that is to be run.
///
/// What follows the name of a keying pragma, or the word `KEY` in `ATTACH`, is replaced up to the end of its
/// statement, however it is written, also when it is not valid SQL. Where a doubt remains, too much is
/// removed rather than too little.
enum KeyRedaction {
    /// The SQL without the keys in it; the same string when there are none, which for ordinary SQL costs one
    /// or two passes over its bytes.
    ///
    /// - Parameter compiles: whether SQLite has understood the SQL. What it has not may be misspelled: more
    ///   is removed then.
    static func redactingKeys(in sql: String, compiles: Bool = true) -> String {
        let secrets = secretsOfBatch
        guard !compiles || !secrets.isEmpty || mayContainKey(sql) else { return sql }
        let sql = AttachStatement.withoutWrappers(sql)
        let bytes = Array(sql.utf8)
        let findings = findings(in: bytes, compiles: compiles, secrets: secrets)
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

    /// Whether SQL has keys in it, so that its arguments, and SQLite's messages about it, may show one as
    /// well.
    static func containsKey(_ sql: String, compiles: Bool = true) -> Bool {
        let secrets = secretsOfBatch
        guard !compiles || !secrets.isEmpty || mayContainKey(sql) else { return false }
        return !findings(
            in: Array(AttachStatement.withoutWrappers(sql).utf8), compiles: compiles, secrets: secrets
        ).isEmpty
    }

    /// Whether a closer look is worth its price: a word with `key`, and one of the statements that take keys.
    private static func mayContainKey(_ sql: String) -> Bool {
        var sql = sql
        return sql.withUTF8 { text in
            let mayAttach = { unsafe contains("attach", in: text) || contains("vacuum", in: text) }
            // Of a URI, the name of a parameter may be written with codes.
            guard unsafe contains("key", in: text) else {
                return unsafe contains("file:", in: text) && mayAttach()
            }
            return unsafe contains("pragma", in: text) || mayAttach() || contains("sqlcipher", in: text)
        }
    }

    /// Whether a text has a word in it, given in lower case, as it is or with capital letters.
    static func contains(_ word: StaticString, _ text: String) -> Bool {
        var text = text
        return text.withUTF8 { unsafe contains(word, in: $0) }
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
    fileprivate struct Finding {
        let range: Range<Int>
        let replacement: String
    }

    /// Where one statement stands on its way to a key.
    private enum Position {
        case elsewhere, afterPragma, inAttach, inVacuum
    }

    /// The parts of the text to replace, in order.
    private static func findings(in bytes: [UInt8], compiles: Bool, secrets: Set<[UInt8]>) -> [Finding] {
        var findings = findings(in: bytes)
        if !secrets.isEmpty { findings = findings.including(repetitions(of: secrets, in: bytes)) }
        if !compiles, let doubt = doubt(in: bytes, apartFrom: findings) {
            findings = findings.filter { $0.range.upperBound <= doubt.range.lowerBound } + [doubt]
        }
        return findings
    }

    /// The parts of the text to replace in SQL whose words and quotes are what they seem.
    private static func findings(in bytes: [UInt8]) -> [Finding] {
        var findings: [Finding] = []
        var scanner = SQLScanner(bytes)
        var position = Position.elsewhere
        while let token = scanner.next() {
            let isKeyName =
                switch position {
                case .afterPragma: takesKey(token.word)
                case .inAttach: token.word == "key"
                // pragma_key(...) as a table, functions of SQLCipher, and PRAGMA before a space that is none
                // for SQLite.
                case .elsewhere, .inVacuum:
                    (token.word.hasPrefix(token.kind == .word ? "pragma" : "pragma_")
                        || token.word.hasPrefix("sqlcipher_"))
                        && takesKey(token.word)
                }
            if isKeyName {
                if let finding = finding(after: token, in: bytes, scanner: &scanner) {
                    findings.append(finding)
                }
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
            // A file name like 'file:x?key=...' is a URI for programs that enable them.
            case (.quoted, let name)
            where (position == .inAttach || position == .inVacuum)
                && (name.contains("key=") || name.contains("?")):
                // In an expression, the key may be in any part that follows.
                var rest = scanner
                let next = rest.next()
                let isAlone =
                    next == nil || next?.kind == .semicolon || next?.kind == .word && next?.word == "as"
                let end =
                    isAlone ? token.range.upperBound : scanner.skipStatement(from: token.range.upperBound)
                findings.append(
                    Finding(range: token.range.lowerBound..<end, replacement: "'<redacted>'"))
            default: break
            }
        }
        return findings
    }

    /// Everything between the name of a key and the end of the statement, comments included.
    private static func finding(after name: SQLScanner.Token, in bytes: [UInt8], scanner: inout SQLScanner)
        -> Finding?
    {
        let range = name.range.upperBound..<scanner.skipStatement(from: name.range.upperBound)
        guard let first = bytes[range].first(where: { $0 > 0x20 }) else { return nil }
        switch first {
        case UInt8(ascii: "="): return Finding(range: range, replacement: " = '<redacted>'")
        case UInt8(ascii: "("): return Finding(range: range, replacement: "('<redacted>')")
        default: return Finding(range: range, replacement: " '<redacted>'")
        }
    }

    /// Whether the name of a pragma is about a key: `key`, `rekey`, `hexkey`, `textkey`, and whatever future
    /// versions add; but not about foreign keys.
    private static func takesKey(_ name: String) -> Bool {
        name.contains("key") && !name.contains("foreign_key")
    }
}

extension [KeyRedaction.Finding] {
    /// Both, in order. Of those that overlap, the ones that are here.
    fileprivate func including(_ others: [KeyRedaction.Finding]) -> [KeyRedaction.Finding] {
        let added = others.filter { other in !contains { $0.range.overlaps(other.range) } }
        return (self + added).sorted { $0.range.lowerBound < $1.range.lowerBound }
    }
}

// MARK: - SQL that SQLite does not understand

extension KeyRedaction {
    /// Where a key may begin in SQL that does not compile, although its words and quotes do not say so: the
    /// key ends with the text.
    ///
    /// A quote that is missing, or one too many, turns keywords into text and text into words. Here all bytes
    /// count as they are: a word with `key` behind `PRAGMA` or `ATTACH`, or in a statement that begins with a
    /// word that SQLite does not know.
    private static func doubt(in bytes: [UInt8], apartFrom known: [Finding]) -> Finding? {
        var isAwaitingKey = !beginsWithKnownVerb(bytes)
        var index = 0
        while index < bytes.count {
            if let finding = known.first(where: { $0.range.contains(index) }) {
                index = finding.range.upperBound
                continue
            }
            guard SQLScanner.isWordByte(bytes[index]) else {
                index += 1
                continue
            }
            let start = index
            while index < bytes.count, SQLScanner.isWordByte(bytes[index]) { index += 1 }
            let word = String(decoding: bytes[start..<index].filter { $0 < 0x80 }, as: UTF8.self).lowercased()
            if word == "attach" || word == "pragma" {
                isAwaitingKey = true
            } else if takesKey(word), !known.contains(where: { $0.range.lowerBound == index }),
                let next = bytes[index...].first(where: { $0 > 0x20 }),
                // Not PRIMARY KEY in the definition of a table.
                isAwaitingKey ? !",);".utf8.contains(next) : "'\"`[".utf8.contains(next)
            {
                return Finding(range: index..<bytes.count, replacement: " '<redacted>'")
            }
        }
        return doubtfulEndOfAttach(in: bytes, apartFrom: known)
    }

    /// What follows the name of the schema in `ATTACH` can only be the key, whatever the word before it is.
    private static func doubtfulEndOfAttach(in bytes: [UInt8], apartFrom known: [Finding]) -> Finding? {
        var scanner = SQLScanner(bytes)
        var isInAttach = false
        var tokensAfterAs: Int?
        while let token = scanner.next() {
            if known.contains(where: { $0.range.contains(token.range.lowerBound) }) { continue }
            if token.kind == .semicolon {
                (isInAttach, tokensAfterAs) = (false, nil)
            } else if token.kind == .word, token.word == "attach" {
                (isInAttach, tokensAfterAs) = (true, nil)
            } else if isInAttach, token.kind == .word, token.word == "as" {
                tokensAfterAs = 0
            } else if let count = tokensAfterAs {
                tokensAfterAs = count + 1
                if count == 1, !known.contains(where: { $0.range.lowerBound == token.range.upperBound }) {
                    return Finding(range: token.range.lowerBound..<bytes.count, replacement: "'<redacted>'")
                }
            }
        }
        return nil
    }

    /// Whether each statement of a text begins with a word that SQLite knows.
    static func hasKnownVerbs(_ text: String) -> Bool {
        var scanner = SQLScanner(Array(text.utf8))
        var isAtStart = true
        while let token = scanner.next() {
            if isAtStart, token.kind != .semicolon, token.kind != .word || !verbs.contains(token.word) {
                return false
            }
            isAtStart = token.kind == .semicolon
        }
        return true
    }

    private static func beginsWithKnownVerb(_ bytes: [UInt8]) -> Bool {
        var scanner = SQLScanner(bytes)
        while let token = scanner.next() {
            switch token.kind {
            case .semicolon: continue
            case .word: return verbs.contains(token.word)
            case .quoted, .other: return false
            }
        }
        return true
    }

    private static let verbs: Set<String> = [
        "alter", "analyze", "attach", "begin", "commit", "create", "delete", "detach", "drop", "end",
        "explain", "insert", "pragma",
        "reindex", "release", "replace", "rollback", "savepoint", "select", "update", "vacuum", "values",
        "with",
    ]
}

// MARK: - Keys that are repeated

extension KeyRedaction {
    /// The keys in the SQL text that is being executed, which other statements of the text may repeat.
    @TaskLocal static var secretsOfBatch: Set<[UInt8]> = []

    /// Runs `body`, which compiles and executes an SQL text, and redacts the keys of one statement in what is
    /// shown of the others, too.
    static func redactingKeys<T>(ofBatch sql: String, _ body: () throws -> T) rethrows -> T {
        guard mayContainKey(sql) else { return try body() }
        let bytes = Array(sql.utf8)
        var secrets: Set<[UInt8]> = []
        for finding in findings(in: bytes) {
            var scanner = SQLScanner(Array(bytes[finding.range]))
            let part = Array(bytes[finding.range])
            while let token = scanner.next() {
                switch token.kind {
                case .quoted: secrets.insert(content(of: token, in: part))
                case .word where token.range.count >= 4: secrets.insert(Array(part[token.range]))
                case .word, .semicolon, .other: break
                }
            }
        }
        secrets.remove([])
        return try $secretsOfBatch.withValue(secrets) { try body() }
    }

    private static func repetitions(of secrets: Set<[UInt8]>, in bytes: [UInt8]) -> [Finding] {
        var scanner = SQLScanner(bytes)
        var findings: [Finding] = []
        while let token = scanner.next() {
            switch token.kind {
            case .quoted where secrets.contains(content(of: token, in: bytes)),
                .word where secrets.contains(Array(bytes[token.range])):
                findings.append(Finding(range: token.range, replacement: "'<redacted>'"))
            case .quoted, .word, .semicolon, .other: break
            }
        }
        return findings
    }

    /// What is between the quotes, as it is written.
    private static func content(of token: SQLScanner.Token, in bytes: [UInt8]) -> [UInt8] {
        let isClosed = token.range.count > 1 && "'\"`]".utf8.contains(bytes[token.range.upperBound - 1])
        return Array(bytes[token.range].dropFirst().dropLast(isClosed ? 1 : 0))
    }
}
