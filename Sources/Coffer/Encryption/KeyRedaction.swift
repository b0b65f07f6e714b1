/// Removes keys from SQL that is to be shown: in errors, traces, logs and descriptions (invariant "Keys stay
/// hidden"). Never use it for SQL that is to be run.
///
/// The text after the name of a keying pragma, or after the word `KEY` in `ATTACH`, is replaced up to the end
/// of the statement, in any notation and even in invalid SQL. In case of doubt, too much is removed rather
/// than too little.
enum KeyRedaction {
    /// Returns the SQL without its keys. If there are none, it returns the same string, which for ordinary
    /// SQL costs one or two passes over its bytes.
    ///
    /// - Parameter compiles: false if the SQL does not compile. Such SQL may be misspelled, so more is
    ///   removed.
    static func redactingKeys(in sql: String, compiles: Bool = true) -> String {
        let secrets = secretsOfBatch
        guard !compiles || !secrets.isEmpty || mayContainKey(sql) else { return sql }
        let sql = originalText(sql)
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

    /// Returns true if the SQL contains keys, so that its arguments, and SQLite's messages about it, may show
    /// one as well.
    static func containsKey(_ sql: String, compiles: Bool = true) -> Bool {
        let secrets = secretsOfBatch
        guard !compiles || !secrets.isEmpty || mayContainKey(sql) else { return false }
        return !findings(
            in: Array(originalText(sql).utf8), compiles: compiles, secrets: secrets
        ).isEmpty
    }

    /// Returns the text that the application wrote, for a statement that Coffer has rewritten.
    private static func originalText(_ sql: String) -> String {
        PageSizePragma.withoutQuery(AttachStatement.withoutWrappers(sql))
    }

    /// Returns true if a full scan is needed: the text contains `key` and one of the statements that take
    /// keys.
    private static func mayContainKey(_ sql: String) -> Bool {
        var sql = sql
        return sql.withUTF8 { text in
            let mayAttach = { unsafe contains("attach", in: text) || contains("vacuum", in: text) }
            // In a URI, the parameter's name may be percent-encoded.
            guard unsafe contains("key", in: text) else {
                return unsafe contains("file:", in: text) && mayAttach()
            }
            return unsafe contains("pragma", in: text) || mayAttach() || contains("sqlcipher", in: text)
        }
    }

    /// Returns true if a text contains a word, which is given in lower case, in any combination of cases.
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

    /// The progress of a statement toward a key.
    private enum Position {
        case elsewhere, afterPragma, inAttach, inVacuum
    }

    /// Returns the parts of the text to replace, in order.
    private static func findings(in bytes: [UInt8], compiles: Bool, secrets: Set<[UInt8]>) -> [Finding] {
        var findings = findings(in: bytes)
        if !secrets.isEmpty { findings = findings.including(repetitions(of: secrets, in: bytes)) }
        guard !compiles else { return findings }
        if let doubt = doubt(in: bytes, apartFrom: findings) {
            findings = findings.filter { $0.range.upperBound <= doubt.range.lowerBound } + [doubt]
        }
        // A quote in a key that was not doubled ends it too early.
        if let index = findings.firstIndex(where: { !isReadable(bytes[$0.range.upperBound...]) }) {
            let first = findings[index]
            findings[index...] = [
                Finding(range: first.range.lowerBound..<bytes.count, replacement: first.replacement)
            ]
        }
        return findings
    }

    /// Returns true if the text after a key has only whole statements.
    private static func isReadable(_ rest: ArraySlice<UInt8>) -> Bool {
        let quotes = "'\"`".utf8
        return quotes.allSatisfy { quote in rest.count { $0 == quote } % 2 == 0 }
            && hasKnownVerbs(String(decoding: rest, as: UTF8.self))
    }

    /// Returns the parts of the text to replace, assuming that its quoting is intact.
    private static func findings(in bytes: [UInt8]) -> [Finding] {
        var findings: [Finding] = []
        var scanner = SQLScanner(bytes)
        var position = Position.elsewhere
        while let token = scanner.next() {
            let isKeyName =
                switch position {
                case .afterPragma: takesKey(token.word)
                case .inAttach: token.word == "key"
                // pragma_key(...) as a table, functions of SQLCipher, and PRAGMA followed by a space
                // character that SQLite does not treat as a space.
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
            // The value of a pragma that takes no key follows.
            case (.other, "="), (.other, "("): if position == .afterPragma { position = .elsewhere }
            // A file name like 'file:x?key=...' is a URI in programs that enable URIs.
            case (.quoted, let name)
            where (position == .inAttach || position == .inVacuum)
                && (name.contains("key=") || name.contains("?")):
                // In an expression, the key may be in any of the parts that follow.
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

    /// Returns everything between a key's name and the end of the statement, including comments.
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

    /// Returns true if the name of a pragma contains `key` (`key`, `rekey`, `hexkey`, `textkey`, and any that
    /// future versions add) but not `foreign_key`.
    private static func takesKey(_ name: String) -> Bool {
        name.contains("key") && !name.contains("foreign_key")
    }
}

extension [KeyRedaction.Finding] {
    /// Returns both lists, in order. If two findings overlap, the one from this list is kept.
    fileprivate func including(_ others: [KeyRedaction.Finding]) -> [KeyRedaction.Finding] {
        let added = others.filter { other in !contains { $0.range.overlaps(other.range) } }
        return (self + added).sorted { $0.range.lowerBound < $1.range.lowerBound }
    }
}

// MARK: - SQL that SQLite does not understand

extension KeyRedaction {
    /// Returns the place where a key may begin in SQL that does not compile, although its words and quotes do
    /// not show it. The replaced part extends to the end of the text.
    ///
    /// A missing or extra quote turns keywords into text and text into words. So this check ignores quotes:
    /// it looks for a word that contains `key` after `PRAGMA` or `ATTACH`, or in a statement that begins with
    /// a word that SQLite does not know.
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

    /// Returns the text after the schema's name in `ATTACH`. Only the key can follow there, regardless of the
    /// word before it.
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

    /// Returns true if each statement of a text begins with a word that SQLite knows.
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
        return scanner.firstToken().map { $0.kind == .word && verbs.contains($0.word) } ?? true
    }

    private static let verbs: Set<String> = [
        "alter", "analyze", "attach", "begin", "commit", "create", "delete", "detach", "drop", "end",
        "explain", "insert", "pragma",
        "reindex", "release", "replace", "rollback", "savepoint", "select", "update", "vacuum", "values",
        "with",
    ]
}

// MARK: - Repeated keys

extension KeyRedaction {
    /// The keys in the SQL text that is being executed. Other statements of the text may repeat them.
    @TaskLocal static var secretsOfBatch: Set<[UInt8]> = []

    /// Runs `body`, which compiles and executes an SQL text, and redacts the keys of each statement in
    /// messages about the others as well.
    static func redactingKeys<T>(ofBatch sql: String, _ body: () throws -> T) rethrows -> T {
        try redacting(secrets(ofBatch: sql), body)
    }

    /// Runs `body`, and redacts the secrets in all messages about its statements.
    static func redacting<T>(_ secrets: Set<[UInt8]>, _ body: () throws -> T) rethrows -> T {
        guard !secrets.isEmpty else { return try body() }
        return try $secretsOfBatch.withValue(secrets) { try body() }
    }

    /// Returns the keys in an SQL text of any number of statements. This reads the whole text.
    static func secrets(ofBatch sql: String) -> Set<[UInt8]> {
        guard mayContainKey(sql) else { return [] }
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
        return secrets
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

    /// Returns the text between the quotes, without unescaping.
    private static func content(of token: SQLScanner.Token, in bytes: [UInt8]) -> [UInt8] {
        let isClosed = token.range.count > 1 && "'\"`]".utf8.contains(bytes[token.range.upperBound - 1])
        return Array(bytes[token.range].dropFirst().dropLast(isClosed ? 1 : 0))
    }
}
