internal import SQLCipherBridge

extension String {
    /// The string as an SQL identifier: in double quotes, with the quotes that it contains doubled.
    ///
    /// Every name of a table, column, index, alias or collation that Coffer writes into SQL passes here, so
    /// that a hostile name stays a name. A NUL character ends the SQL text in the middle of the quoted name,
    /// which SQLite refuses to compile.
    public var quotedDatabaseIdentifier: String {
        var result = ""
        result.append(quotedIdentifier: self)
        return result
    }

    /// The name as it is, if it is a word without a meaning in SQL, and as ``quotedDatabaseIdentifier``
    /// otherwise.
    var quotedUnlessWord: String {
        let isWord =
            utf8.first.map { !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } == true
            && utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"),
                    UInt8(ascii: "_"):
                    true
                default: false
                }
            }
        return isWord && !Engine.isKeyword(self) ? self : quotedDatabaseIdentifier
    }

    /// Appends a name as an SQL identifier, as ``quotedDatabaseIdentifier``.
    mutating func append(quotedIdentifier name: String) {
        append("\"")
        if name.utf8.contains(UInt8(ascii: "\"")) {
            // Scalars, not characters: a combining mark after a quote forms one character with it, and must
            // not hide it.
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
    /// Two lower-case digits for each byte, as blobs and keys have them in SQL. For bytes that are no
    /// secrets.
    var hexadecimal: String { map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
}

/// A comma-separated list of question marks, to write as many arguments into an SQL text.
///
///     let sql = "DELETE FROM attachment WHERE fileName IN (\(databaseQuestionMarks(count: names.count)))"
public func databaseQuestionMarks(count: Int) -> String {
    repeatElement("?", count: count).joined(separator: ",")
}
