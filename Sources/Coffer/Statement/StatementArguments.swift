/// The values for the parameters of a statement: in order, by name, or both.
public struct StatementArguments: Hashable, Sendable {
    /// The values for anonymous parameters, and for named ones that have no value in ``namedValues``.
    @usableFromInline
    var values: [DatabaseValue]

    /// The values by parameter name, without the `:`, `@` or `$` of the SQL text.
    @usableFromInline
    var namedValues: [String: DatabaseValue]

    @usableFromInline
    init(values: [DatabaseValue], namedValues: [String: DatabaseValue] = [:]) {
        self.values = values
        self.namedValues = namedValues
    }

    /// A Boolean value that indicates whether there are no values.
    public var isEmpty: Bool { values.isEmpty && namedValues.isEmpty }

    /// Creates empty arguments.
    public init() {
        self.init(values: [])
    }
}

// MARK: - In order

extension StatementArguments: ExpressibleByArrayLiteral {
    /// Creates arguments in order; nil is NULL.
    @inlinable
    public init(_ values: some Sequence<(any DatabaseValueConvertible)?>) {
        self.init(values: values.map { $0?.databaseValue ?? .null })
    }

    /// Creates arguments in order.
    @inlinable
    public init<Values: Sequence>(_ values: Values) where Values.Element: DatabaseValueConvertible {
        // A key path would be made again in each call.
        self.init(values: values.map { $0.databaseValue })
    }

    /// Creates arguments in order, or returns nil if an element cannot be stored in a database.
    public init?(_ array: [Any]) {
        var values: [DatabaseValue] = []
        values.reserveCapacity(array.count)
        for element in array {
            guard let value = DatabaseValue(value: element) else { return nil }
            values.append(value)
        }
        self.init(values: values)
    }

    @inlinable
    public init(arrayLiteral elements: (any DatabaseValueConvertible)?...) {
        var values: [DatabaseValue] = []
        values.reserveCapacity(elements.count)
        for element in elements {
            // Consume the element, so that its existential box is not copied to unwrap it.
            switch consume element {
            case .some(let value): values.append(value.databaseValue)
            case .none: values.append(.null)
            }
        }
        self.init(values: values)
    }
}

// MARK: - By name

extension StatementArguments: ExpressibleByDictionaryLiteral {
    /// Creates named arguments; nil is NULL.
    public init(_ dictionary: [String: (any DatabaseValueConvertible)?]) {
        self.init(values: [], namedValues: dictionary.mapValues { $0?.databaseValue ?? .null })
    }

    /// Creates named arguments; nil is NULL. If a name occurs twice, the last value is used.
    public init(_ pairs: some Sequence<(String, (any DatabaseValueConvertible)?)>) {
        self.init(
            values: [],
            namedValues: Dictionary(
                pairs.map { ($0, $1?.databaseValue ?? .null) }, uniquingKeysWith: { _, last in last }))
    }

    /// Creates named arguments, or returns nil if a key is not a string or a value cannot be stored in a
    /// database.
    public init?(_ dictionary: [AnyHashable: Any]) {
        var namedValues: [String: DatabaseValue] = [:]
        for (key, element) in dictionary {
            guard let name = key as? String, let value = DatabaseValue(value: element) else { return nil }
            namedValues[name] = value
        }
        self.init(values: [], namedValues: namedValues)
    }

    public init(dictionaryLiteral elements: (String, (any DatabaseValueConvertible)?)...) {
        self.init(elements)
    }
}

// MARK: - Combining

extension StatementArguments {
    /// Appends other arguments, and returns the named values that were replaced.
    @discardableResult
    public mutating func append(contentsOf arguments: StatementArguments) -> [String: DatabaseValue] {
        values.append(contentsOf: arguments.values)
        var replaced: [String: DatabaseValue] = [:]
        for (name, value) in arguments.namedValues {
            if let previous = namedValues.updateValue(value, forKey: name) {
                replaced[name] = previous
            }
        }
        return replaced
    }

    /// Returns both arguments together.
    ///
    /// - Precondition: no name is in both. Use ``&+(_:_:)`` to let the second one win.
    public static func + (lhs: StatementArguments, rhs: StatementArguments) -> StatementArguments {
        var result = lhs
        result += rhs
        return result
    }

    /// Returns both arguments together. If a name is in both, the value in `rhs` is used.
    public static func &+ (lhs: StatementArguments, rhs: StatementArguments) -> StatementArguments {
        var result = lhs
        result.append(contentsOf: rhs)
        return result
    }

    /// Appends other arguments.
    ///
    /// - Precondition: no name is in both.
    public static func += (lhs: inout StatementArguments, rhs: StatementArguments) {
        let replaced = lhs.append(contentsOf: rhs)
        precondition(
            replaced.isEmpty,
            "Arguments that already have a value: \(replaced.keys.sorted().joined(separator: ", "))")
    }
}

extension StatementArguments: CustomStringConvertible {
    public var description: String {
        let named = namedValues.sorted { $0.key < $1.key }.map {
            "\(String(reflecting: $0.key)): \($0.value)"
        }
        return "[" + (named + values.map(\.description)).joined(separator: ", ") + "]"
    }
}
