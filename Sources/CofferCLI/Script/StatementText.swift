internal import Coffer
internal import Foundation

/// Inspects SQL text without parsing it.
enum StatementText {
    /// Returns true if a statement contains a key or seems to.
    static func carriesKey(_ sql: String) -> Bool { SQLSecrets.containsKey(sql) || seemsToCarryKey(sql) }

    /// Returns true if a text contains PRAGMA or ATTACH, followed by a key with a quoted value. It does not
    /// matter whether this is in a comment, in a string, or in invalid SQL: the error message for text that
    /// does not compile may still show a key.
    private static func seemsToCarryKey(_ sql: String) -> Bool {
        let text = sql.lowercased()
        let value = #/key[\s=(]+['"`\[]/#
        return ["pragma", "attach"].contains { word in
            text.range(of: word).map { text[$0.upperBound...].contains(value) } ?? false
        }
    }

    /// Returns the first word in uppercase, after white space, comments and empty statements.
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
