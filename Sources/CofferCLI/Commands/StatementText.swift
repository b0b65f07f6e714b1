/// What a text of SQL says at first sight.
enum StatementText {
    /// The first word, in capitals, after white space, comments and empty statements.
    static func firstWord(of sql: String) -> String {
        var rest = Substring(sql).unicodeScalars
        while let scalar = rest.first {
            if scalar == ";" || scalar.properties.isWhitespace || scalar == "\u{feff}" {
                rest.removeFirst()
            } else if rest.starts(with: "--".unicodeScalars) {
                rest = rest.drop { $0 != "\n" }
            } else if rest.starts(with: "/*".unicodeScalars) {
                rest.removeFirst(2)
                while !rest.isEmpty, !rest.starts(with: "*/".unicodeScalars) { rest.removeFirst() }
                rest = rest.dropFirst(2)
            } else {
                break
            }
        }
        return String(Substring(rest.prefix { $0.properties.isAlphabetic || $0 == "_" })).uppercased()
    }
}
