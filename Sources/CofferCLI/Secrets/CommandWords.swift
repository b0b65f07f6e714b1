/// Splits a command into words as a shell does, but without expanding variables, patterns or substitutions.
enum CommandWords {
    /// - Throws: ``Failure`` with the status `usage` for an unclosed quote, or for a text without a word.
    static func split(_ text: String) throws(Failure) -> [String] {
        var words: [String] = []
        var word: String?
        var rest = Substring(text)
        while let character = rest.popFirst() {
            switch character {
            case " ", "\t", "\n":
                if let complete = word { words.append(complete) }
                word = nil
            case "'":
                word = (word ?? "") + (try quoted(until: "'", in: &rest))
            case "\"":
                word = (word ?? "") + (try quoted(until: "\"", in: &rest))
            case "\\":
                guard let next = rest.popFirst() else { throw .usage("The command ends with a backslash.") }
                word = (word ?? "") + String(next)
            default:
                word = (word ?? "") + String(character)
            }
        }
        if let word { words.append(word) }
        guard let program = words.first, !program.isEmpty else { throw .usage("The command is empty.") }
        return words
    }

    /// Returns a word as a shell needs it to be typed.
    static func quoted(_ word: String) -> String {
        let isPlain = word.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte & 0xdf) || "._-/:".utf8.contains(byte)
        }
        return isPlain && !word.isEmpty ? word : "'\(word.replacing("'", with: "'\\''"))'"
    }

    private static func quoted(until quote: Character, in rest: inout Substring) throws(Failure) -> String {
        var text = ""
        while let character = rest.popFirst() {
            if character == quote { return text }
            if character == "\\", quote == "\"", let next = rest.first, next == "\"" || next == "\\" {
                text.append(next)
                rest.removeFirst()
            } else {
                text.append(character)
            }
        }
        throw .usage("A quote (\(quote)) in the command is not closed.")
    }
}
