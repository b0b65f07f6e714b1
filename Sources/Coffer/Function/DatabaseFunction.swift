internal import Foundation
internal import SQLCipherBridge

/// An SQL function or aggregate that is written in Swift.
///
/// A connection knows a function once it was added, best in ``Configuration/prepareDatabase(_:)``:
///
/// ```swift
/// /// The first letters of the words of a text; NULL for what is no text.
/// let initials = DatabaseFunction("initials", argumentCount: 1, pure: true) { arguments in
///     guard let text = String.fromDatabaseValue(arguments[0]) else { return nil }
///     return String(text.split(separator: " ").compactMap(\.first))
/// }
/// configuration.prepareDatabase { $0.add(function: initials) }
/// ```
///
/// Functions run in the middle of statements, and must not use the connection.
public final class DatabaseFunction: Identifiable, Sendable {
    /// What distinguishes functions: SQLite has one for each name and number of arguments.
    public struct ID: Hashable, Sendable {
        let name: CaseInsensitiveName
        let argumentCount: Int?
    }

    /// What the function is called in SQL, and the number of its arguments.
    public var id: ID { ID(name: CaseInsensitiveName(name), argumentCount: argumentCount) }

    /// What the function is called in SQL.
    public let name: String

    /// The number of arguments; nil for any number.
    let argumentCount: Int?

    /// Whether the result depends on nothing but the arguments.
    let isPure: Bool

    private let kind: Kind

    /// Whether the function is an aggregate.
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
    ///   - name: what the function is called in SQL.
    ///   - argumentCount: the number of arguments; nil for any number.
    ///   - pure: whether the result depends on nothing but the arguments, which lets SQLite call the function
    ///     less often, and use it in indexes.
    ///   - function: is given the arguments, exactly as many as `argumentCount` says, and returns the result,
    ///     where nil is NULL. An error has the statement fail: a ``DatabaseError`` with its code and message,
    ///     any other with `SQLITE_ERROR` and its description.
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
    ///   - name: what the aggregate is called in SQL.
    ///   - argumentCount: the number of arguments; nil for any number.
    ///   - pure: whether the result depends on nothing but the arguments.
    ///   - aggregate: the type of which one instance is created for each group.
    public init<Aggregate: DatabaseAggregate>(
        _ name: String,
        argumentCount: Int? = nil,
        pure: Bool = false,
        aggregate: Aggregate.Type
    ) {
        self.name = name
        self.argumentCount = argumentCount
        self.isPure = pure
        self.kind = .aggregate { Aggregation<Aggregate>() }
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

/// One aggregation, as the bridge sees it. After an error, the aggregate is left alone.
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
    /// Adds the functions and collations that every connection knows, and then others. Nothing of it touches
    /// the file, which may not have its key yet.
    func install(_ functions: [DatabaseFunction], _ collations: [DatabaseCollation]) throws(EngineError) {
        for function in DatabaseFunction.standardFunctions + functions { try function.install(on: self) }
        for collation in DatabaseCollation.standardCollations + collations { try collation.install(on: self) }
    }
}
