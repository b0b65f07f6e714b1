/// Finds the ends of the statements in an SQL text as its bytes arrive. A statement ends at a semicolon
/// outside of quotes and comments; the definition of a trigger ends at the semicolon after its `END`.
/// SQLite's shell follows the same rules (<https://www.sqlite.org/c3ref/complete.html>).
struct StatementSplitter {
    /// The lexical context of the next byte.
    private enum Lexeme: Equatable {
        case between, word, dash, slash, lineComment, blockComment, blockCommentStar
        /// Inside quotes, which this byte closes.
        case quoted(UInt8)
    }

    /// The kind of statement, according to its tokens so far.
    private enum Progress {
        case blank, ordinary, explain, create, trigger
        /// Inside a trigger, after a semicolon.
        case triggerPause
        /// Inside a trigger, after an `END` that follows a semicolon.
        case triggerEnd
    }

    private var lexeme = Lexeme.between
    private var progress = Progress.blank
    /// The current word in lowercase, up to the length that matters.
    private var word: [UInt8] = []
    private static let longestWord = 9

    /// True if the statement that ended last contained only white space and comments.
    private(set) var endedBlank = true

    /// True if there has been only white space and comments since the last statement ended.
    var isBlank: Bool {
        progress == .blank && [.between, .lineComment, .blockComment, .blockCommentStar].contains(lexeme)
    }

    /// True if the text ends inside quotes or a block comment.
    var isInside: Bool { isInQuotes || lexeme == .blockComment || lexeme == .blockCommentStar }

    /// True if a line break would not mean the same as a space.
    var isBreakSignificant: Bool { isInQuotes || lexeme == .lineComment }

    private var isInQuotes: Bool { if case .quoted = lexeme { true } else { false } }

    /// Returns true if the text ends with a semicolon that ends a statement.
    static func isWhole(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        var splitter = StatementSplitter()
        var start = 0
        while let end = splitter.end(in: bytes, from: start) { start = end }
        return start == bytes.count
    }

    /// Continues to the end of the text, over the ends of statements.
    mutating func skip(_ bytes: [UInt8]) {
        var start = 0
        while let end = end(in: bytes, from: start) { start = end }
    }

    /// Continues the search.
    ///
    /// - Parameters:
    ///   - bytes: the whole text.
    ///   - start: the index of the first byte that has not been searched.
    /// - Returns: the index after the semicolon that ends a statement, or nil if more text is needed.
    mutating func end(in bytes: borrowing [UInt8], from start: Int) -> Int? {
        var index = start
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            switch lexeme {
            case .quoted(let closing):
                if byte == closing { lexeme = .between }
            case .lineComment:
                if byte == UInt8(ascii: "\n") { lexeme = .between }
            case .blockComment:
                if byte == UInt8(ascii: "*") { lexeme = .blockCommentStar }
            case .blockCommentStar:
                lexeme =
                    byte == UInt8(ascii: "/")
                    ? .between : byte == UInt8(ascii: "*") ? .blockCommentStar : .blockComment
            case .dash where byte == UInt8(ascii: "-"): lexeme = .lineComment
            case .slash where byte == UInt8(ascii: "*"): lexeme = .blockComment
            case .dash, .slash:
                take(.other)
                lexeme = .between
                if takeBetween(byte) { return index }
            case .word where StatementSplitter.isWordByte(byte):
                if word.count <= StatementSplitter.longestWord { word.append(byte | 0x20) }
            case .word:
                endWord()
                if takeBetween(byte) { return index }
            case .between:
                if takeBetween(byte) { return index }
            }
        }
        return nil
    }

    /// Processes a byte that begins a token. Returns true if it ends the statement.
    private mutating func takeBetween(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: ";"): return takeSemicolon()
        case UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "`"):
            take(.other)
            lexeme = .quoted(byte)
        case UInt8(ascii: "["):
            take(.other)
            lexeme = .quoted(UInt8(ascii: "]"))
        case UInt8(ascii: "-"): lexeme = .dash
        case UInt8(ascii: "/"): lexeme = .slash
        case UInt8(ascii: " "), 0x09...0x0d: break
        case let byte where StatementSplitter.isWordByte(byte):
            lexeme = .word
            // Keeps the memory of the word before.
            word.removeAll(keepingCapacity: true)
            word.append(byte | 0x20)
        default: take(.other)
        }
        return false
    }

    private static func isWordByte(_ byte: UInt8) -> Bool {
        byte.isLetterOrDigit || byte >= 0x80 || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "$")
    }

    // MARK: Tokens

    private enum Token { case explain, create, temporary, trigger, end, other }

    private mutating func endWord() {
        lexeme = .between
        // No word matters any more, and scripts of many rows have many words.
        guard progress != .ordinary else { return }
        switch String(decoding: word, as: UTF8.self) {
        case "explain": take(.explain)
        case "create": take(.create)
        case "temp", "temporary": take(.temporary)
        case "trigger": take(.trigger)
        case "end": take(.end)
        default: take(.other)
        }
    }

    private mutating func take(_ token: Token) {
        switch (progress, token) {
        case (.blank, .explain): progress = .explain
        case (.blank, .create), (.explain, .create): progress = .create
        case (.create, .temporary): break
        case (.create, .trigger): progress = .trigger
        case (.triggerPause, .end): progress = .triggerEnd
        case (.trigger, _), (.triggerPause, _), (.triggerEnd, _): progress = .trigger
        case (.blank, _), (.ordinary, _), (.explain, _), (.create, _): progress = .ordinary
        }
    }

    private mutating func takeSemicolon() -> Bool {
        switch progress {
        case .trigger, .triggerPause:
            progress = .triggerPause
            return false
        case .blank, .ordinary, .explain, .create, .triggerEnd:
            endedBlank = progress == .blank
            progress = .blank
            return true
        }
    }
}
