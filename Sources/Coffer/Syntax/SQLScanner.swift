/// A scanner that splits SQL into tokens like SQLite. It also accepts unterminated literals and comments,
/// which SQLite rejects: they end with the text.
struct SQLScanner {
    struct Token {
        enum Kind { case word, quoted, semicolon, other }
        let kind: Kind
        let range: Range<Int>
        /// The token in lower case without non-ASCII characters: a word, the content of quotes, or a
        /// punctuation character. Otherwise empty.
        let word: String
    }

    private let bytes: [UInt8]
    private var index = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Returns the next token after white space and comments.
    mutating func next() -> Token? {
        skipSpaceAndComments()
        guard index < bytes.count else { return nil }
        let start = index
        switch bytes[start] {
        case UInt8(ascii: ";"):
            index += 1
            return token(.semicolon, start..<index)
        case UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "`"):
            return quoted(start, closing: bytes[start], doubled: true)
        case UInt8(ascii: "["): return quoted(start, closing: UInt8(ascii: "]"), doubled: false)
        case let byte where SQLScanner.isWordByte(byte):
            while index < bytes.count, SQLScanner.isWordByte(bytes[index]) { index += 1 }
            return token(.word, start..<index)
        default:
            index += 1
            return token(.other, start..<index)
        }
    }

    /// Returns the tokens of the next statement, and its end: after its semicolon, or at the end of the text.
    /// Semicolons before it are skipped.
    ///
    /// - Parameter limit: the number of tokens after which to stop.
    mutating func nextStatement(limit: Int = .max) -> (tokens: [Token], end: Int) {
        var tokens: [Token] = []
        while tokens.count < limit, let token = next() {
            guard token.kind == .semicolon else {
                tokens.append(token)
                continue
            }
            if !tokens.isEmpty { return (tokens, token.range.upperBound) }
        }
        return (tokens, bytes.count)
    }

    /// Returns the first token of the next statement, after any semicolons.
    mutating func firstToken() -> Token? { nextStatement(limit: 1).tokens.first }

    /// Moves to the semicolon that ends the statement, or to the end of the text, and returns that position.
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
        let content =
            kind == .quoted
            ? bytes[range].dropFirst().filter { !"'\"`]".utf8.contains($0) } : Array(bytes[range])
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

    /// Returns true for ASCII letters, digits, `_`, `$`, and bytes outside ASCII.
    static func isWordByte(_ byte: UInt8) -> Bool {
        byte.isASCIIWord || byte == UInt8(ascii: "$") || byte >= 0x80
    }
}

// MARK: - Searching

extension SQLScanner {
    /// Returns true if SQL may contain the keyword `REPLACE`, as in `INSERT OR REPLACE` and `ON CONFLICT
    /// REPLACE`.
    ///
    /// Calls of the function `replace` do not count.
    static func mentionsReplace(_ sql: String) -> Bool {
        // Most texts need no scanner.
        guard sql.uppercased().contains("REPLACE") else { return false }
        var scanner = SQLScanner(Array(sql.utf8))
        var isKeyword = false
        while let token = scanner.next() {
            if isKeyword, token.kind != .other || token.word != "(" { return true }
            isKeyword = token.kind == .word && token.word == "replace"
        }
        return isKeyword
    }

    /// Returns true if the word `IN` may precede a subquery or a table in SQL.
    ///
    /// The result is false for most lists of values.
    static func mayHaveInQuery(_ sql: String) -> Bool {
        var sql = sql
        return sql.withUTF8 { buffer in
            let bytes = unsafe buffer.span
            return bytes.indices.dropLast(2).contains { index in
                isIn(bytes, at: index) && mayBeginWithQuery(bytes, at: index + 2)
            }
        }
    }

    /// Returns true if the word `IN` begins at an index.
    private static func isIn(_ bytes: Span<UInt8>, at index: Int) -> Bool {
        guard bytes[index] | 0x20 == UInt8(ascii: "i"), bytes[index + 1] | 0x20 == UInt8(ascii: "n"),
            !isWordByte(bytes[index + 2])
        else { return false }
        guard index > 0 else { return true }
        // A digit can be the end of a parameter, as in `?1IN`.
        let previous = bytes[index - 1]
        return !isWordByte(previous) || previous.isASCIIDigit
    }

    /// Returns false if the text after `IN` is certainly a list of values.
    private static func mayBeginWithQuery(_ bytes: Span<UInt8>, at start: Int) -> Bool {
        var index = start
        var isInParentheses = false
        while index < bytes.count {
            switch bytes[index] {
            case 0...0x20: break
            case UInt8(ascii: "("): isInParentheses = true
            // A word, or a comment.
            case UInt8(ascii: "-"), UInt8(ascii: "/"): return true
            case let byte:
                return !isInParentheses || [UInt8(ascii: "s"), UInt8(ascii: "w")].contains(byte | 0x20)
            }
            index += 1
        }
        return false
    }
}

extension UInt8 {
    var isASCIIDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    var isASCIIAlphanumeric: Bool {
        isASCIIDigit || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20)
    }

    /// True for ASCII letters, digits, and `_`.
    var isASCIIWord: Bool { isASCIIAlphanumeric || self == UInt8(ascii: "_") }
}
