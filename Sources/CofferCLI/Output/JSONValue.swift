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

    /// The object without the strings in its members that look like keys.
    var hidingKeys: JSONObject {
        JSONObject(members.map { JSONValue.Member($0.name, HiddenKeys.hiding(in: $0.value)) })
    }

    init(dictionaryLiteral elements: (String, any JSONConvertible)...) {
        members = elements.map { JSONValue.Member($0, $1.jsonValue) }
    }

    /// The object on one line, without spaces.
    var text: String { jsonValue.text }

    /// The bytes of ``text``.
    var bytes: [UInt8] { jsonValue.bytes }

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
