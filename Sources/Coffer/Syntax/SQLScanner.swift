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

extension UInt8 {
    var isASCIIDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    var isASCIIAlphanumeric: Bool {
        isASCIIDigit || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20)
    }

    /// True for ASCII letters, digits, and `_`.
    var isASCIIWord: Bool { isASCIIAlphanumeric || self == UInt8(ascii: "_") }
}
