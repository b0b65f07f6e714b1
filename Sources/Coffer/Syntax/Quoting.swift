internal import SQLCipherBridge

extension String {
    /// The string as an SQL identifier: in double quotes, with embedded double quotes doubled.
    ///
    /// Coffer quotes every table, column, index, alias, and collation name here before writing it into SQL,
    /// so that a hostile name cannot end the identifier. A NUL character ends the SQL text inside the quoted
    /// name, and SQLite then refuses to compile it.
    public var quotedDatabaseIdentifier: String {
        var result = ""
        result.append(quotedIdentifier: self)
        return result
    }

    /// The unchanged name if it is a word but not an SQL keyword, otherwise ``quotedDatabaseIdentifier``.
    var quotedUnlessWord: String {
        let isWord = utf8.first?.isASCIIDigit == false && utf8.allSatisfy(\.isASCIIWord)
        return isWord && !Engine.isKeyword(self) ? self : quotedDatabaseIdentifier
    }

    /// Appends a name in the form of ``quotedDatabaseIdentifier``.
    mutating func append(quotedIdentifier name: String) {
        append("\"")
        if name.utf8.contains(UInt8(ascii: "\"")) {
            // Compares scalars, not characters: a quote and a combining mark after it form one character,
            // which is not equal to a quote.
            for scalar in name.unicodeScalars {
                if scalar == "\"" { unicodeScalars.append(scalar) }
                unicodeScalars.append(scalar)
            }
        } else {
            append(name)
        }
        append("\"")
    }
}

extension Sequence where Element == UInt8 {
    /// Two lower-case hexadecimal digits for each byte, as in SQL blobs and keys. Not for secret bytes.
    var hexadecimal: String { map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
}

/// Returns a comma-separated list of question marks, for that number of arguments in an SQL text.
///
///     let sql = "DELETE FROM attachment WHERE fileName IN (\(databaseQuestionMarks(count: names.count)))"
public func databaseQuestionMarks(count: Int) -> String {
    repeatElement("?", count: count).joined(separator: ",")
}
