internal import Coffer

/// Formats values as text.
enum RowText {
    /// Returns the text for people. A string that looks like NULL, an infinity, a blob or a quoted string is
    /// quoted.
    static func plain(_ value: DatabaseValue) -> String {
        switch value.storage {
        case .null: "NULL"
        case .int64(let number): String(number)
        case .double(let number): real(number)
        case .string(let text):
            text == "NULL" || isMistakable(text) || isBetween(text, "'") ? value.dumpLiteral : text
        case .blob: blob(value)
        }
    }

    /// Returns a field as defined by RFC 4180. Strings are quoted if they are ambiguous; NULL and other
    /// values never are.
    static func csv(_ value: DatabaseValue, null: String) -> String {
        switch value.storage {
        case .null: null
        case .int64(let number): String(number)
        case .double(let number): real(number)
        case .string(let text):
            text == null || text.isEmpty || isMistakable(text) ? quotedField(text) : csvField(text)
        case .blob: blob(value)
        }
    }

    /// Returns a column name or an unambiguous string as a field of RFC 4180.
    static func csvField(_ text: String) -> String {
        text.utf8.contains {
            [UInt8(ascii: ","), UInt8(ascii: "\""), UInt8(ascii: "\n"), UInt8(ascii: "\r")].contains($0)
        }
            ? quotedField(text) : text
    }

    private static func quotedField(_ text: String) -> String {
        // Scalars, not characters: a combining mark after a quote forms one character with it.
        var result = "\""
        for scalar in text.unicodeScalars {
            if scalar == "\"" { result.unicodeScalars.append(scalar) }
            result.unicodeScalars.append(scalar)
        }
        return result + "\""
    }

    /// Returns a field of tab-separated values. A backslash is followed by `N` for NULL, by `x` and digits
    /// for a blob, by a letter for a control character, and otherwise by the escaped character itself.
    static func tsv(_ value: DatabaseValue) -> String {
        switch value.storage {
        case .null: "\\N"
        case .int64(let number): String(number)
        case .double(let number): real(number)
        case .string(let text): (text == "Inf" || text == "-Inf" ? "\\" : "") + tsvField(text)
        case .blob(let data): "\\x" + Hex.digits(data)
        }
    }

    static func tsvField(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": result += "\\\\"
            case "\t": result += "\\t"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// Escapes a cell of a Markdown table.
    static func markdown(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\n": result += "<br>"
            case "\\", "|", "<", "*", "_", "`", "[", "]": result += "\\\(scalar)"
            default: result += TextLayout.harmless(String(scalar))
            }
        }
        return result
    }

    private static func real(_ number: Double) -> String {
        number.isInfinite ? (number < 0 ? "-Inf" : "Inf") : number.description
    }

    private static func blob(_ value: DatabaseValue) -> String {
        guard case .blob(let data) = value.storage else { return "" }
        return "x'\(Hex.digits(data))'"
    }

    /// Returns true if a field of CSV with this text, without quotes, is a number or a blob.
    static func isOfValue(_ text: String) -> Bool {
        isMistakable(text) || Int64(text).map(String.init) == text || Double(text).map(real) == text
    }

    /// Returns true if a string looks like an infinity or a blob.
    private static func isMistakable(_ text: String) -> Bool {
        text == "Inf" || text == "-Inf" || isBetween(text, "x'")
    }

    private static func isBetween(_ text: String, _ start: String) -> Bool {
        text.utf8.count > start.utf8.count && text.utf8.starts(with: start.utf8)
            && text.utf8.last == UInt8(ascii: "'")
    }
}
