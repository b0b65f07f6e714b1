/// Formats text for people: numbers, sizes and columns.
enum TextLayout {
    /// Formats 1234567 as "1,234,567".
    static func grouped(_ number: some BinaryInteger) -> String {
        let digits = String(number.magnitude)
        var result = ""
        for (index, digit) in digits.enumerated() {
            if index > 0 && (digits.count - index).isMultiple(of: 3) { result += "," }
            result.append(digit)
        }
        return number < 0 ? "-" + result : result
    }

    /// Formats 4931584 as "4.9 MB".
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
        let value = duration / .seconds(1)
        if value < 60 { return "\(tenths(value)) s" }
        let whole = Int(value.rounded())
        return whole < 3600
            ? "\(whole / 60) min \(whole % 60) s" : "\(whole / 3600) h \(whole % 3600 / 60) min"
    }

    static func milliseconds(_ duration: Duration) -> String {
        let value = duration / .milliseconds(1)
        return value < 1000 ? "\(tenths(value)) ms" : seconds(duration)
    }

    private static func tenths(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }

    /// Formats 1 and "row" as "1 row", and 2 as "2 rows".
    static func counted(_ count: Int, _ noun: String) -> String {
        "\(grouped(count)) \(noun)\(count == 1 ? "" : "s")"
    }

    /// Shortens a text to its end, after an ellipsis. The end of a path is more useful than its start.
    static func shortened(_ text: String, to width: Int) -> String {
        guard columns(text) > width else { return text }
        guard width > 0 else { return "" }
        return "…" + String(start(of: String(text.reversed()), columns: width - 1).reversed())
    }

    /// Returns as much of the start of a text as fits.
    static func start(of text: String, columns width: Int) -> String {
        var rest = width
        return String(
            text.prefix { character in
                rest -= columns(character)
                return rest >= 0
            })
    }

    /// Returns the number of terminal columns that a text takes.
    static func columns(_ text: String) -> Int { text.reduce(0) { $0 + columns($1) } }

    private static func columns(_ character: Character) -> Int {
        guard let scalar = character.unicodeScalars.first, scalar.value >= 0x1100 else { return 1 }
        return wide.contains { $0.contains(scalar.value) } ? 2 : 1
    }

    /// The blocks of ideographs, kana, hangul, full-width forms and pictographs: the large ones in Unicode's
    /// table of East Asian widths.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115f, 0x2e80...0x303e, 0x3041...0xa4cf, 0xa960...0xa97c, 0xac00...0xd7a3, 0xf900...0xfaff,
        0xfe30...0xfe6f,
        0xff00...0xff60, 0xffe0...0xffe6, 0x1f300...0x1f64f, 0x1f680...0x1f6ff, 0x1f900...0x1faff,
        0x20000...0x3fffd,
    ]

    /// Formats names and values in two columns.
    static func pairs(_ pairs: [(String, String)], indent: String = "  ") -> [String] {
        let width = pairs.map(\.0.count).max() ?? 0
        return pairs.map { name, value in
            indent + name + String(repeating: " ", count: width - name.count + 2) + value
        }
    }

    /// Formats rows of texts in columns. The last column is not padded.
    static func table(_ rows: [[String]]) -> [String] {
        let count = rows.map(\.count).max() ?? 0
        let widths = (0..<count).map { index in
            rows.map { $0.count > index ? columns($0[index]) : 0 }.max() ?? 0
        }
        return rows.map { row in
            row.enumerated().map { index, text in
                index == row.count - 1
                    ? text : text + String(repeating: " ", count: widths[index] - columns(text) + 2)
            }.joined()
        }
    }

    /// Escapes text so that a file's content cannot begin a new line, move the cursor of a terminal, or
    /// change its color.
    ///
    /// - Parameter keepingLines: true to keep line breaks and tabs.
    static func harmless(_ text: String, keepingLines: Bool = false) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\n" where keepingLines, "\t" where keepingLines: result.unicodeScalars.append(scalar)
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case "\u{0}"..."\u{1f}", "\u{7f}"..."\u{9f}", "\u{2028}"..."\u{202e}", "\u{2066}"..."\u{2069}":
                result += "\\u{\(String(scalar.value, radix: 16))}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}

/// Formats numbers and texts where they stand in a sentence, as in `"\(counted: 2, "row")"`.
extension DefaultStringInterpolation {
    mutating func appendInterpolation(counted count: Int, _ noun: String) {
        appendLiteral(TextLayout.counted(count, noun))
    }

    mutating func appendInterpolation(grouped number: some BinaryInteger) {
        appendLiteral(TextLayout.grouped(number))
    }

    mutating func appendInterpolation(size bytes: Int64) { appendLiteral(TextLayout.size(bytes)) }
    mutating func appendInterpolation(seconds duration: Duration) {
        appendLiteral(TextLayout.seconds(duration))
    }
    mutating func appendInterpolation(harmless text: String) { appendLiteral(TextLayout.harmless(text)) }
}
