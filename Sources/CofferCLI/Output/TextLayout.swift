/// Text for people: numbers, sizes, columns.
enum TextLayout {
    /// 1234567 as "1,234,567".
    static func grouped(_ number: some BinaryInteger) -> String {
        let digits = String(number.magnitude)
        var result = ""
        for (index, digit) in digits.enumerated() {
            if index > 0 && (digits.count - index).isMultiple(of: 3) { result += "," }
            result.append(digit)
        }
        return number < 0 ? "-" + result : result
    }

    /// 4931584 as "4.9 MB".
    static func size(_ bytes: Int64) -> String {
        guard bytes >= 1000 else { return "\(bytes) bytes" }
        var value = Double(bytes)
        var unit = ""
        for next in ["kB", "MB", "GB", "TB"] where value >= 999.5 {
            value /= 1000
            unit = next
        }
        return value < 9.95 ? "\(tenths(value)) \(unit)" : "\(Int(value.rounded())) \(unit)"
    }

    static func seconds(_ duration: Duration) -> String {
        let value = Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
        if value < 60 { return "\(tenths(value)) s" }
        let whole = Int(value.rounded())
        return whole < 3600 ? "\(whole / 60) min \(whole % 60) s" : "\(whole / 3600) h \(whole % 3600 / 60) min"
    }

    private static func tenths(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }

    static func counted(_ count: Int, _ one: String, _ many: String) -> String { "\(grouped(count)) \(count == 1 ? one : many)" }

    /// The end of a text that is too long, after an ellipsis: the end of a path says more than its start.
    static func shortened(_ text: String, to width: Int) -> String {
        guard text.count > width else { return text }
        return width > 0 ? "…" + text.suffix(width - 1) : ""
    }

    /// Names and values in two columns.
    static func pairs(_ pairs: [(String, String)], indent: String = "  ") -> [String] {
        let width = pairs.map(\.0.count).max() ?? 0
        return pairs.map { name, value in indent + name + String(repeating: " ", count: width - name.count + 2) + value }
    }

    /// Text that cannot move the cursor or change the colour of a terminal, whatever a file contains.
    static func harmless(_ text: String, keepingLines: Bool = false) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\n" where keepingLines, "\t" where keepingLines: result.unicodeScalars.append(scalar)
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case "\u{0}"..."\u{1f}", "\u{7f}"..."\u{9f}", "\u{202a}"..."\u{202e}", "\u{2066}"..."\u{2069}":
                result += "\\u{\(String(scalar.value, radix: 16))}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
