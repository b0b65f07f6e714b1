/// A parsed `ATTACH` statement, rewritten so that the connection can check its path and key before SQLite
/// opens the file.
///
/// Otherwise, SQLite would create a world-readable file, and SQLCipher would give a file without a key the
/// salt of the main database, or none of the keys that open it. Therefore, the path and key are passed
/// through two functions of the connection, see `Database+Attach.swift`: `ATTACH 'a.db' AS a` is compiled as
/// `ATTACH coffer_path('a.db') AS a KEY coffer_key()`. Users see their original text.
struct AttachStatement {
    /// The text that SQLite compiles, NUL-terminated.
    let text: [CChar]

    /// The offset of the end of the statement in the original text, after its semicolon.
    let end: Int

    static let pathFunction = "coffer_path"
    static let keyFunction = "coffer_key"

    static func isFunction(_ name: String?) -> Bool { name == pathFunction || name == keyFunction }

    private static let mark = "(/*+*/"
    private static let endMark = "/*-*/)"
    private static let absentKey = " KEY \(keyFunction)\(mark))"

    /// The kind of a statement, determined by its first word.
    enum Kind: String {
        case attach, explain, pragma, other
    }

    /// Returns the kind of the first statement, after white space, comments, and semicolons. For most
    /// statements, the first byte is sufficient.
    static func kind(of text: [CChar], from offset: Int) -> Kind {
        var index = offset
        while index < text.count {
            switch UInt8(bitPattern: text[index]) {
            case 0x09, 0x0A, 0x0C, 0x0D, 0x20, UInt8(ascii: ";"): index += 1
            case UInt8(ascii: "a"), UInt8(ascii: "A"):
                return starts(text, index, with: "attach") ? .attach : .other
            case UInt8(ascii: "e"), UInt8(ascii: "E"):
                return starts(text, index, with: "explain") ? .explain : .other
            case UInt8(ascii: "p"), UInt8(ascii: "P"):
                return starts(text, index, with: "pragma") ? .pragma : .other
            case UInt8(ascii: "-"), UInt8(ascii: "/"), 0xEF:
                var scanner = SQLScanner(text[index...].map(UInt8.init(bitPattern:)))
                // SQLite skips a byte order mark. The scanner leaves it out of `word`, because it is not
                // ASCII.
                guard let first = scanner.firstToken(), first.kind == .word else { return .other }
                return Kind(rawValue: first.word) ?? .other
            default: return .other
            }
        }
        return .other
    }

    private static func starts(_ text: [CChar], _ index: Int, with word: StaticString) -> Bool {
        let length = word.utf8CodeUnitCount
        guard index + length < text.count, !SQLScanner.isWordByte(UInt8(bitPattern: text[index + length]))
        else { return false }
        return word.withUTF8Buffer { word in
            word.indices.allSatisfy { unsafe UInt8(bitPattern: text[index + $0]) | 0x20 == word[$0] }
        }
    }

    /// Returns nil if the text is not an `ATTACH` statement that both SQLite and this type can parse.
    init?(_ text: [CChar], from offset: Int) {
        let bytes = text[offset...].dropLast().map(UInt8.init(bitPattern:))
        var scanner = SQLScanner(bytes)
        let (tokens, end) = scanner.nextStatement()
        guard let parts = Parts(tokens), !bytes.contains(0) else { return nil }
        // An unterminated literal would swallow the added text.
        guard parts.all.allSatisfy({ $0.kind != .quoted || AttachStatement.isClosed($0, in: bytes) }) else {
            return nil
        }

        var result = Array(bytes[..<parts.path.lowerBound(tokens)])
        result += Array((AttachStatement.pathFunction + AttachStatement.mark).utf8)
        result += AttachStatement.expression(tokens[parts.path], bytes) + Array(AttachStatement.endMark.utf8)
        result += bytes[parts.path.upperBound(tokens)..<parts.name.upperBound(tokens)]
        if let key = parts.key {
            result += bytes[parts.name.upperBound(tokens)..<key.lowerBound(tokens)]
            result += Array((AttachStatement.keyFunction + AttachStatement.mark).utf8)
            result += AttachStatement.expression(tokens[key], bytes) + Array(AttachStatement.endMark.utf8)
        } else {
            result += Array(AttachStatement.absentKey.utf8)
        }
        self.text = result.map(CChar.init(bitPattern:)) + [0]
        self.end = offset + end
    }

    /// Returns SQL in its original form, without the added functions.
    static func withoutWrappers(_ sql: String) -> String {
        guard sql.contains(mark) else { return sql }
        return sql.replacing(absentKey, with: "").replacing(pathFunction + mark, with: "").replacing(
            keyFunction + mark, with: ""
        )
        .replacing(endMark, with: "")
    }

    private static func isClosed(_ token: SQLScanner.Token, in bytes: [UInt8]) -> Bool {
        let first = bytes[token.range.lowerBound]
        let last = bytes[token.range.upperBound - 1]
        return token.range.count > 1 && last == (first == UInt8(ascii: "[") ? UInt8(ascii: "]") : first)
    }

    /// Returns a path or a key as the argument of a function. A bare name is a string in `ATTACH`, but would
    /// be a column in a function call, so it is converted to a string literal.
    private static func expression(_ tokens: ArraySlice<SQLScanner.Token>, _ bytes: [UInt8]) -> [UInt8] {
        guard let first = tokens.first, let last = tokens.last else { return [] }
        let whole = Array(bytes[first.range.lowerBound..<last.range.upperBound])
        guard tokens.count == 1, let start = whole.first else { return whole }
        let quote = UInt8(ascii: "'")
        var name: [UInt8]
        switch first.kind {
        case .quoted where start != quote:
            name = Array(whole.dropFirst().dropLast())
            if start != UInt8(ascii: "[") { name = undoubled(name, start) }
        case .word where !"0123456789$".utf8.contains(start) && !constants.contains(first.word):
            name = whole
        default:
            return whole
        }
        return [quote] + name.flatMap { $0 == quote ? [quote, quote] : [$0] } + [quote]
    }

    private static let constants: Set<String> = ["null", "current_date", "current_time", "current_timestamp"]

    private static func undoubled(_ bytes: [UInt8], _ quote: UInt8) -> [UInt8] {
        var result: [UInt8] = []
        var index = 0
        while index < bytes.count {
            result.append(bytes[index])
            index += bytes[index] == quote && index + 1 < bytes.count && bytes[index + 1] == quote ? 2 : 1
        }
        return result
    }
}

// MARK: - Grammar

/// `ATTACH [DATABASE] path AS name [KEY key]`, as positions of tokens.
private struct Parts {
    let path: Range<Int>
    let name: Range<Int>
    let key: Range<Int>?
    let all: [SQLScanner.Token]

    init?(_ tokens: [SQLScanner.Token]) {
        guard tokens.count >= 4, tokens[0].isWord("attach") else { return nil }
        let start = tokens[1].isWord("database") ? 2 : 1
        guard let separator = Parts.first("as", in: tokens, from: start), separator > start,
            separator + 1 < tokens.count,
            Parts.isBalanced(tokens[start..<separator])
        else { return nil }
        // The name must be one word, one string, or one parameter: anything longer could not be distinguished
        // from a key.
        var end = separator + 2
        let first = tokens[separator + 1]
        switch first.kind {
        case .word, .quoted: break
        case .other where ["?", ":", "@"].contains(first.word):
            if end < tokens.count, tokens[end].kind == .word,
                tokens[end].range.lowerBound == first.range.upperBound
            {
                end += 1
            }
        case .other, .semicolon: return nil
        }
        path = start..<separator
        name = separator + 1..<end
        all = tokens
        guard end < tokens.count else {
            key = nil
            return
        }
        guard tokens[end].isWord("key"), end + 1 < tokens.count, Parts.isBalanced(tokens[(end + 1)...]) else {
            return nil
        }
        key = end + 1..<tokens.count
    }

    private static func first(_ word: String, in tokens: [SQLScanner.Token], from start: Int) -> Int? {
        var depth = 0
        for index in tokens.indices.dropFirst(start) {
            switch tokens[index].word {
            case "(" where tokens[index].kind == .other: depth += 1
            case ")" where tokens[index].kind == .other: depth -= 1
            case word where depth == 0 && tokens[index].kind == .word: return index
            default: break
            }
        }
        return nil
    }

    private static func isBalanced(_ tokens: ArraySlice<SQLScanner.Token>) -> Bool {
        var depth = 0
        for token in tokens where token.kind == .other {
            if token.word == "(" { depth += 1 }
            if token.word == ")" { depth -= 1 }
            // A comma would separate two arguments of the added function.
            if depth < 0 || (depth == 0 && token.word == ",") { return false }
        }
        return depth == 0
    }
}

extension SQLScanner.Token {
    fileprivate func isWord(_ word: String) -> Bool { kind == .word && self.word == word }
}

extension Range<Int> {
    /// The offset in the text at which the first of these tokens starts.
    fileprivate func lowerBound(_ tokens: [SQLScanner.Token]) -> Int { tokens[lowerBound].range.lowerBound }

    /// The offset in the text at which the last of these tokens ends.
    fileprivate func upperBound(_ tokens: [SQLScanner.Token]) -> Int {
        tokens[upperBound - 1].range.upperBound
    }
}
