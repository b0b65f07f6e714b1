import Foundation

/// Results and errors as lines of text that are independent of the library.
enum Text {
    private static let module = String(reflecting: Text.self).components(separatedBy: ".")[0] + "."

    static func lines(of value: Any) -> [String] {
        if let lines = value as? [String] { return lines.isEmpty ? ["[]"] : lines.map(oneLine) }
        let mirror = Mirror(reflecting: value)
        switch (value, mirror.displayStyle) {
        case (is Void, _): return ["done"]
        case (is Row, _), (is Data, _): return [text(of: value)]
        case (_, .set):
            return ["{" + mirror.children.map { text(of: $0.value) }.sorted().joined(separator: ", ") + "}"]
        case (_, .collection):
            return mirror.children.isEmpty ? ["[]"] : mirror.children.map { "- " + text(of: $0.value) }
        default: return [text(of: value)]
        }
    }

    static func text(of value: Any) -> String {
        switch value {
        case let row as Row: return oneLine(row.description)
        case let data as Data: return "x'" + data.map { String(format: "%02x", $0) }.joined() + "'"
        case let date as Date: return "\(date.timeIntervalSince1970)"
        case let string as String: return oneLine(string)
        case let error as any Error: return lines(of: error).joined(separator: " / ")
        default: break
        }
        let mirror = Mirror(reflecting: value)
        switch mirror.displayStyle {
        case .optional: return mirror.children.first.map { text(of: $0.value) } ?? "nil"
        case .tuple: return "(" + mirror.children.map { text(of: $0.value) }.joined(separator: ", ") + ")"
        case .collection:
            return "[" + mirror.children.map { text(of: $0.value) }.joined(separator: ", ") + "]"
        case .set:
            return "{" + mirror.children.map { text(of: $0.value) }.sorted().joined(separator: ", ") + "}"
        case .dictionary:
            return "{" + mirror.children.map { text(of: $0.value) }.sorted().joined(separator: ", ") + "}"
        default: return oneLine("\(value)")
        }
    }

    static func lines(of error: any Error) -> [String] {
        switch error {
        case let error as DatabaseError:
            return [
                "DatabaseError \(error.resultCode.rawValue) \(error.extendedResultCode.rawValue): "
                    + "\(oneLine(error.message ?? "-"))",
                "  of \(oneLine(error.sql ?? "-")) with \(error.arguments.map { "\($0)" } ?? "-")",
            ]
        case let error as DecodingError: return ["DecodingError " + text(of: error)]
        default: return ["\(type(of: error)) " + oneLine("\(error)")]
        }
    }

    private static func text(of error: DecodingError) -> String {
        let (kind, context): (String, DecodingError.Context) =
            switch error {
            case .typeMismatch(let type, let context): ("type \(type)", context)
            case .valueNotFound(let type, let context): ("value \(type)", context)
            case .keyNotFound(let key, let context): ("key \(key.stringValue)", context)
            case .dataCorrupted(let context): ("corrupted", context)
            @unknown default: ("other", DecodingError.Context(codingPath: [], debugDescription: ""))
            }
        return "\(kind) at \(context.codingPath.map(\.stringValue)): " + oneLine(context.debugDescription)
    }

    static func oneLine(_ text: String) -> String {
        text.replacingOccurrences(of: module, with: "").replacingOccurrences(of: Library.module, with: "")
            // The context of a private type contains an address.
            .replacingOccurrences(
                of: #"\(unknown context at \$[0-9a-f]+\)\."#, with: "", options: .regularExpression
            )
            .replacingOccurrences(of: "\n", with: "\\n")
    }
}
