internal import Foundation
internal import SQLCipherBridge

/// An SQL function or aggregate written in Swift.
///
/// Add a function to each connection that uses it, preferably in ``Configuration/prepareDatabase(_:)``:
///
/// ```swift
/// /// Returns the first letters of the words of a text; NULL if the argument is not text.
/// let initials = DatabaseFunction("initials", argumentCount: 1, pure: true) { arguments in
///     guard let text = String.fromDatabaseValue(arguments[0]) else { return nil }
///     return String(text.split(separator: " ").compactMap(\.first))
/// }
/// configuration.prepareDatabase { $0.add(function: initials) }
/// ```
///
/// Functions run while a statement is executed, and must not use the connection.
public final class DatabaseFunction: Identifiable, Sendable {
    /// The identity of a function: SQLite has one function for each name and number of arguments.
    public struct ID: Hashable, Sendable {
        let name: CaseInsensitiveName
        let argumentCount: Int?
    }

    /// The name of the function in SQL, and the number of its arguments.
    public var id: ID { ID(name: CaseInsensitiveName(name), argumentCount: argumentCount) }

    /// The name of the function in SQL.
    public let name: String

    /// The number of arguments; nil for any number.
    let argumentCount: Int?

    /// True if the result depends only on the arguments.
    let isPure: Bool

    private let kind: Kind

    /// True if the function is an aggregate.
    var isAggregate: Bool {
        if case .aggregate = kind { true } else { false }
    }

    private enum Kind: Sendable {
        case scalar(@Sendable ([DatabaseValue]) throws -> (any DatabaseValueConvertible)?)
        case aggregate(@Sendable () -> any AggregateState)
    }

    private init(_ name: String, argumentCount: Int?, pure: Bool, kind: Kind) {
        self.name = name
        self.argumentCount = argumentCount
        self.isPure = pure
        self.kind = kind
    }

    /// Creates a function.
    ///
    /// - Parameters:
    ///   - name: the name of the function in SQL.
    ///   - argumentCount: the number of arguments; nil for any number.
    ///   - pure: true if the result depends only on the arguments. SQLite can then call the function less
    ///     often,
    ///     and use it in indexes.
    ///   - function: receives exactly `argumentCount` arguments, and returns the result, where nil is NULL.
    ///     If it
    ///     throws, the statement fails: a ``DatabaseError`` with its code and message, any other error with
    ///     `SQLITE_ERROR` and its description.
    public convenience init(
        _ name: String,
        argumentCount: Int? = nil,
        pure: Bool = false,
        function: @escaping @Sendable ([DatabaseValue]) throws -> (any DatabaseValueConvertible)?
    ) {
        self.init(name, argumentCount: argumentCount, pure: pure, kind: .scalar(function))
    }

    /// Creates an aggregate: a function whose result depends on a group of rows.
    ///
    /// - Parameters:
    ///   - name: the name of the aggregate in SQL.
    ///   - argumentCount: the number of arguments; nil for any number.
    ///   - pure: true if the result depends only on the arguments.
    ///   - aggregate: the type of the state. One instance is created for each group.
    public convenience init<Aggregate: DatabaseAggregate>(
        _ name: String,
        argumentCount: Int? = nil,
        pure: Bool = false,
        aggregate: Aggregate.Type
    ) {
        self.init(
            name, argumentCount: argumentCount, pure: pure, kind: .aggregate { Aggregation<Aggregate>() })
    }
}

// MARK: - Registration

extension DatabaseFunction {
    private var engineArgumentCount: CInt { argumentCount.map { CInt(clamping: $0) } ?? -1 }

    func install(on connection: ConnectionHandle) throws(EngineError) {
        switch kind {
        case .scalar(let function):
            try connection.createFunction(name, argumentCount: engineArgumentCount, isDeterministic: isPure) {
                context, arguments in
                context.setResult { try function([DatabaseValue](arguments)) }
            }
        case .aggregate(let makeState):
            try connection.createAggregate(
                name, argumentCount: engineArgumentCount, isDeterministic: isPure, makeState)
        }
    }

    func uninstall(from connection: ConnectionHandle) throws(EngineError) {
        try connection.removeFunction(name, argumentCount: engineArgumentCount)
    }
}

/// The state of one aggregation for the bridge. After an error, the aggregate is no longer called.
private final class Aggregation<Aggregate: DatabaseAggregate>: AggregateState {
    private var aggregate = Aggregate()
    private var hasFailed = false

    func step(_ context: FunctionContext, _ arguments: FunctionArguments) {
        guard !hasFailed else { return }
        do {
            try aggregate.step([DatabaseValue](arguments))
        } catch {
            hasFailed = true
            context.set(EngineError(functionError: error))
        }
    }

    func finish(_ context: FunctionContext) {
        guard !hasFailed else { return }
        context.setResult { try aggregate.finalize() }
    }
}

extension Array where Element == DatabaseValue {
    fileprivate init(_ arguments: FunctionArguments) {
        self = (0..<arguments.count).map { DatabaseValue(arguments[$0]) }
    }
}

extension FunctionContext {
    fileprivate func setResult(_ result: () throws -> (any DatabaseValueConvertible)?) {
        do {
            switch try result()?.databaseValue.storage {
            case nil, .null?: setNull()
            case .int64(let value)?: set(value)
            case .double(let value)?: set(value)
            case .string(let value)?: set(value)
            case .blob(let value)?: unsafe value.withUnsafeBytes { unsafe set(blob: $0) }
            }
        } catch {
            set(EngineError(functionError: error))
        }
    }
}

extension ConnectionHandle {
    /// Adds the standard functions and collations, and the given ones. This does not touch the file, whose
    /// key may not have been set yet.
    func install(_ functions: [DatabaseFunction], _ collations: [DatabaseCollation]) throws(EngineError) {
        for function in DatabaseFunction.standardFunctions + functions { try function.install(on: self) }
        for collation in DatabaseCollation.standardCollations + collations { try collation.install(on: self) }
    }
}
