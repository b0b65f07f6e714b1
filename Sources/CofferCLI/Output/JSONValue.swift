/// A JSON value whose objects keep the order of their members, so output is deterministic.
enum JSONValue: Sendable, Hashable {
    case null
    case bool(Bool)
    case int(Int64)
    case double(Double)
    case string(String)
    case array([JSONValue])
    case object([Member])

    struct Member: Sendable, Hashable {
        let name: String
        let value: JSONValue

        init(_ name: String, _ value: JSONValue) {
            self.name = name
            self.value = value
        }
    }
}

// MARK: - Objects

/// The members of a JSON object, in their order.
struct JSONObject: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    private(set) var members: [JSONValue.Member]

    init(_ members: [JSONValue.Member]) { self.members = members }

    /// Joins the members of objects.
    init(_ parts: JSONObject...) { self.init(joining: parts) }

    init(joining parts: [JSONObject]) { members = parts.flatMap(\.members) }

    init(dictionaryLiteral elements: (String, any JSONConvertible)...) {
        members = elements.map { JSONValue.Member($0, $1.jsonValue) }
    }

    /// The object on one line, without spaces.
    var text: String { jsonValue.text }

    static func += (first: inout JSONObject, second: JSONObject) { first.members += second.members }
}

/// A value with a form in JSON.
protocol JSONConvertible {
    var jsonValue: JSONValue { get }
}

extension JSONValue: JSONConvertible {
    var jsonValue: JSONValue { self }
}

extension JSONObject: JSONConvertible {
    var jsonValue: JSONValue { .object(members) }
}

extension String: JSONConvertible {
    var jsonValue: JSONValue { .string(self) }
}

extension Bool: JSONConvertible {
    var jsonValue: JSONValue { .bool(self) }
}

extension Double: JSONConvertible {
    var jsonValue: JSONValue { .double(self) }
}

extension JSONConvertible where Self: BinaryInteger {
    var jsonValue: JSONValue { .int(Int64(clamping: self)) }
}

extension Int: JSONConvertible {}
extension Int32: JSONConvertible {}
extension Int64: JSONConvertible {}
extension UInt32: JSONConvertible {}

extension Array: JSONConvertible where Element: JSONConvertible {
    var jsonValue: JSONValue { .array(map(\.jsonValue)) }
}

extension Optional: JSONConvertible where Wrapped: JSONConvertible {
    var jsonValue: JSONValue { self?.jsonValue ?? .null }
}

// MARK: - Text

extension JSONValue {
    /// The value on one line, without spaces.
    var text: String {
        var text = ""
        append(to: &text)
        return text
    }

    private func append(to text: inout String) {
        switch self {
        case .null: text += "null"
        case .bool(let value): text += value ? "true" : "false"
        case .int(let value): text += String(value)
        // JSON has no infinities.
        case .double(let value): text += value.isFinite ? "\(value)" : "null"
        case .string(let value): JSONValue.append(value, to: &text)
        case .array(let values):
            text += "["
            for (index, value) in values.enumerated() {
                if index > 0 { text += "," }
                value.append(to: &text)
            }
            text += "]"
        case .object(let members):
            text += "{"
            for (index, member) in members.enumerated() {
                if index > 0 { text += "," }
                JSONValue.append(member.name, to: &text)
                text += ":"
                member.value.append(to: &text)
            }
            text += "}"
        }
    }

    private static func append(_ string: String, to text: inout String) {
        text += "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            // Also escapes separators that some readers treat as line ends, and characters that terminals
            // interpret as commands or as a change of direction.
            case "\u{0}"..."\u{1f}", "\u{7f}"..."\u{9f}", "\u{2028}"..."\u{202e}", "\u{2066}"..."\u{2069}":
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }
}
