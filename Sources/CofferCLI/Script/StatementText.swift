internal import Coffer
internal import Foundation

/// What a text of SQL says at first sight.
enum StatementText {
    /// Whether a statement shows a key, or seems to.
    static func carriesKey(_ sql: String) -> Bool { SQLSecrets.containsKey(sql) || seemsToCarryKey(sql) }

    /// Whether a text has PRAGMA or ATTACH in it, and after it a key with a value in quotes, be it in a
    /// comment, in a text, or in SQL that is none: what does not compile may still show a key in its error.
    private static func seemsToCarryKey(_ sql: String) -> Bool {
        let text = sql.lowercased()
        let value = #/key[\s=(]+['"`\[]/#
        return ["pragma", "attach"].contains { word in
            text.range(of: word).map { text[$0.upperBound...].contains(value) } ?? false
        }
    }

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
