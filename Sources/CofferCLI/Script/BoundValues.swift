internal import ArgumentParser
internal import Coffer
internal import SQLCipherBridge

/// A value for a parameter of statements: `name=text` or `name:type=value`. Its type is stated, never
/// guessed.
struct BoundValue: ExpressibleByArgument, Sendable, Hashable {
    enum Kind: String, CaseIterable {
        case text, int, real, blob, null
    }

    /// The parameter without its prefix: `id` for `:id`, `2` for `?2`.
    let name: String
    let value: DatabaseValue

    init?(argument: String) { try? self.init(argument) }

    init(_ argument: String) throws(Failure) {
        guard let equals = argument.firstIndex(of: "=") else {
            throw BoundValue.refusal(argument, "it has no '='")
        }
        var name = argument[..<equals]
        if let first = name.first, ":@$?".contains(first) { name.removeFirst() }
        var kind = Kind.text
        if let colon = name.lastIndex(of: ":") {
            guard let named = Kind(rawValue: String(name[name.index(after: colon)...])) else {
                throw BoundValue.refusal(
                    argument, "the types are \(Kind.allCases.map(\.rawValue).joined(separator: ", "))")
            }
            kind = named
            name = name[..<colon]
        }
        guard !name.isEmpty else { throw BoundValue.refusal(argument, "it has no name") }
        self.name = String(name)
        value = try BoundValue.value(String(argument[argument.index(after: equals)...]), kind, argument)
    }

    private static func value(_ text: String, _ kind: Kind, _ argument: String) throws(Failure)
        -> DatabaseValue
    {
        switch kind {
        case .text: return text.databaseValue
        case .int:
            guard let number = Int64(text) else { throw refusal(argument, "it is not a 64-bit integer") }
            return number.databaseValue
        case .real:
            guard let number = Double(text), !number.isNaN else {
                throw refusal(argument, "it is not a number")
            }
            return number.databaseValue
        case .blob:
            guard let bytes = Hex.bytes(text) else {
                throw refusal(argument, "a blob is an even number of hexadecimal digits")
            }
            return bytes.databaseValue
        case .null:
            guard text.isEmpty else { throw refusal(argument, "NULL has no value: give 'name:null='") }
            return .null
        }
    }

    private static func refusal(_ argument: String, _ reason: String) -> Failure {
        // The value may be personal data.
        let place = argument.contains("=") ? ", not '\(argument.prefix { $0 != "=" })=...'" : ""
        return Failure.usage("--bind takes name=text or name:type=value\(place): \(reason).")
    }
}

/// The values for the parameters of all statements in one invocation.
struct BoundValues {
    private let values: [ExactText: DatabaseValue]
    private var used: Set<ExactText> = []

    init(_ given: [BoundValue]) throws(Failure) {
        var values: [ExactText: DatabaseValue] = [:]
        for one in given {
            guard values.updateValue(one.value, forKey: ExactText(one.name)) == nil else {
                throw Failure.usage("--bind gives two values for the parameter '\(one.name)'.")
            }
        }
        self.values = values
    }

    /// Returns the values for the parameters of a statement: by name, or by number for parameters without a
    /// name.
    mutating func arguments(of statement: Statement) throws(Failure) -> StatementArguments {
        let handle = unsafe StatementHandle(statement.sqliteStatement)
        let count = handle.parameterCount
        guard count > 0 else { return StatementArguments() }
        var ordered: [DatabaseValue] = []
        for index in 1...CInt(count) {
            let sign = handle.parameterName(at: index)
            let name = sign.map { String($0.dropFirst()) } ?? String(index)
            guard let value = values[ExactText(name)] else {
                let words = sign ?? "number \(index)"
                throw Failure.usage(
                    "The statement has a parameter without a value: \(words). Give the value with --bind, an "
                        + "argument of its own."
                )
            }
            used.insert(ExactText(name))
            ordered.append(value)
        }
        // In their order, because the arguments by name compare names as strings.
        return StatementArguments(ordered)
    }

    /// The names of values that no statement has used.
    var unused: [String] { values.keys.filter { !used.contains($0) }.sorted().map(\.text) }
}
