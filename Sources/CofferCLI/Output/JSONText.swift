/// JSON on one line, without spaces, to which values are appended.
struct JSONText {
    private(set) var bytes: [UInt8] = []

    mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

    /// Appends text that is JSON already.
    mutating func append(raw text: some Collection<UInt8>) { bytes.append(contentsOf: text) }

    mutating func append(raw text: StaticString) {
        text.withUTF8Buffer { unsafe bytes.append(contentsOf: $0) }
    }

    mutating func append(_ value: Int64) { append(raw: String(value).utf8) }

    /// JSON has no infinities, and no values that are not numbers: null stands for them.
    mutating func append(_ value: Double) {
        if value.isFinite { append(raw: value.description.utf8) } else { append(raw: "null") }
    }

    mutating func append(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        if JSONText.mayNeedEscapes(text.utf8.span) {
            for scalar in text.unicodeScalars { append(escaping: scalar) }
        } else {
            append(raw: text.utf8)
        }
        bytes.append(UInt8(ascii: "\""))
    }

    mutating func append(_ value: JSONValue) {
        switch value {
        case .null: append(raw: "null")
        case .bool(let value): append(raw: value ? "true" : "false")
        case .int(let value): append(value)
        case .double(let value): append(value)
        case .string(let value): append(value)
        case .array(let values):
            append(raw: "[")
            for (index, value) in values.enumerated() {
                if index > 0 { append(raw: ",") }
                append(value)
            }
            append(raw: "]")
        case .object(let members):
            append(raw: "{")
            for (index, member) in members.enumerated() {
                if index > 0 { append(raw: ",") }
                append(member.name)
                append(raw: ":")
                append(member.value)
            }
            append(raw: "}")
        }
    }

    // MARK: Strings

    /// Returns false if no scalar of a text in UTF-8 is escaped.
    private static func mayNeedEscapes(_ text: Span<UInt8>) -> Bool {
        for index in text.indices {
            switch text[index] {
            // The last two begin U+0080 to U+00BF, and U+2000 to U+2FFF.
            case ..<0x20, UInt8(ascii: "\""), UInt8(ascii: "\\"), 0x7f, 0xc2, 0xe2: return true
            default: continue
            }
        }
        return false
    }

    private mutating func append(escaping scalar: Unicode.Scalar) {
        switch scalar {
        case "\"": append(raw: "\\\"")
        case "\\": append(raw: "\\\\")
        case "\n": append(raw: "\\n")
        case "\r": append(raw: "\\r")
        case "\t": append(raw: "\\t")
        // Also escapes separators that some readers treat as line ends, and characters that terminals
        // interpret as commands or as a change of direction.
        case "\u{0}"..."\u{1f}", "\u{7f}"..."\u{9f}", "\u{2028}"..."\u{202e}", "\u{2066}"..."\u{2069}":
            append(raw: "\\u")
            let digits = String(scalar.value, radix: 16)
            for _ in digits.utf8.count..<4 { append(raw: "0") }
            append(raw: digits.utf8)
        default: append(raw: scalar.utf8)
        }
    }
}

extension JSONValue {
    /// The value on one line, without spaces.
    var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The bytes of ``text``.
    var bytes: [UInt8] {
        var text = JSONText()
        text.append(self)
        return text.bytes
    }
}
