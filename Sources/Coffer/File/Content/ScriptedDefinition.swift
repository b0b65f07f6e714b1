/// The text of a table, index, view or trigger in the schema, and the statements that create this object
/// wherever a script runs.
///
/// The text may have been put into the schema by hand, and shells split scripts into statements and commands
/// by their own rules. So a text is written as a statement only if all of them parse it as this one
/// statement, and if SQLite stores exactly this text for it.
struct ScriptedDefinition {
    private let text: [UInt8]
    private let tokens: [SQLScanner.Token]

    init(_ text: [UInt8]) {
        self.text = text
        var scanner = SQLScanner(text)
        var tokens: [SQLScanner.Token] = []
        while let token = scanner.next() { tokens.append(token) }
        self.tokens = tokens
    }

    private enum Kind: String, CaseIterable {
        case table = "CREATE TABLE "
        case index = "CREATE INDEX "
        case uniqueIndex = "CREATE UNIQUE INDEX "
        case view = "CREATE VIEW "
        case trigger = "CREATE TRIGGER "

        var words: [Substring] { rawValue.lowercased().split(separator: " ") }
    }

    /// The text as a statement, with its semicolon; nil if it has to be written to the schema as a value.
    var statement: [UInt8]? {
        guard let kind = Kind.allCases.first(where: { text.starts(with: $0.rawValue.utf8) }),
            hasPlainName(after: kind), isReadAlike,
            let last = tokens.last
        else { return nil }
        let rest = text[last.range.upperBound...]
        switch kind {
        case .table:
            // After the parenthesis, SQLite stores only the table options with any text that follows them.
            // Without options, it stores nothing more.
            guard isOne, last.kind == .word || rest.isEmpty else { return nil }
        case .index, .uniqueIndex:
            guard isOne else { return nil }
        case .view:
            // SQLite drops trailing white space, which may end a comment.
            guard isOne, let byte = text.last, byte > 0x20 else { return nil }
            return ended(";\n") ?? ended("\n;\n")
        case .trigger:
            guard isOneTrigger, rest.isEmpty else { return nil }
        }
        return ended(";\n")
    }

    /// A statement that creates the same table or index, but without the comments and the spacing of the
    /// text.
    ///
    /// SQLite uses the first statement of a text as the definition.
    var creation: [UInt8]? {
        let first = tokens.prefix { $0.kind != .semicolon }
        let words = first.prefix(3).map(\.word)
        guard words.first == "create",
            words.dropFirst().first == "table" || words.dropFirst().contains("index")
        else { return nil }
        var result: [UInt8] = []
        var end: Int?
        for token in first {
            if let end, end < token.range.lowerBound { result.append(UInt8(ascii: " ")) }
            result += text[token.range]
            end = token.range.upperBound
        }
        return result + Array(";\n".utf8)
    }

    // MARK: Unambiguous text

    private func hasPlainName(after kind: Kind) -> Bool {
        let count = kind.words.count
        guard tokens.count > count + 1,
            zip(tokens, kind.words).allSatisfy({ $0.kind == .word && $0.word == $1 })
        else { return false }
        let name = tokens[count]
        return name.range.lowerBound == kind.rawValue.utf8.count && [.word, .quoted].contains(name.kind)
            && name.word != "if"
            && tokens[count + 1].word != "."
    }

    /// True if the text has nothing that shells read differently from SQLite: variable names, which can hide
    /// quotes; lines that replace a semicolon; CRLF line ends, which are converted; and characters that are
    /// not part of SQL.
    private var isReadAlike: Bool {
        let spaces: [UInt8] = [0x09, 0x0a, 0x0c, 0x0d]
        guard text.allSatisfy({ $0 >= 0x20 || spaces.contains($0) }), !text.hasLineEndOfTwoBytes else {
            return false
        }
        let lines = String(decoding: text, as: UTF8.self).lowercased().split(separator: "\n").map {
            $0.filter { !$0.isWhitespace }
        }
        guard !lines.contains(where: { $0 == "/" || $0 == "go" || $0 == "go;" || $0 == "/;" }) else {
            return false
        }
        return tokens.allSatisfy { token in
            switch token.kind {
            case .word: text[token.range.lowerBound] != UInt8(ascii: "$")
            case .other: ![":", "@", "?", "#"].contains(token.word)
            case .quoted, .semicolon: true
            }
        }
    }

    private var isOne: Bool { !tokens.contains { $0.kind == .semicolon } }

    /// The statements in a trigger end with semicolons. For shells, the trigger ends with a semicolon after
    /// an `END` that follows one of these.
    private var isOneTrigger: Bool {
        let ends = tokens.indices.dropFirst().filter { index in
            tokens[index - 1].kind == .semicolon && tokens[index].kind == .word && tokens[index].word == "end"
        }
        return ends == [tokens.count - 1]
    }

    /// Returns the text with `end` appended; nil if that would be inside a comment.
    private func ended(_ end: String) -> [UInt8]? {
        let whole = text + Array(end.utf8)
        var scanner = SQLScanner(whole)
        var last: SQLScanner.Token?
        while let token = scanner.next() { last = token }
        guard let last, last.kind == .semicolon, last.range.lowerBound >= text.count else { return nil }
        return whole
    }
}

extension [UInt8] {
    /// True if there are CRLF line ends, which shells convert to LF.
    var hasLineEndOfTwoBytes: Bool {
        zip(self, dropFirst()).contains { $0 == UInt8(ascii: "\r") && $1 == UInt8(ascii: "\n") }
    }
}
