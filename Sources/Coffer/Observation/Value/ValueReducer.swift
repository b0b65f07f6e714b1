/// The processing of each fetched value before it is delivered.
///
/// It is an implementation detail of ``ValueObservation`` that appears only in signatures.
public protocol _ValueReducer: SendableMetatype {
    associatedtype Fetcher: _ValueReducerFetcher
    associatedtype Value: Sendable

    /// Returns the fetcher, which is used on other threads than the reducer.
    func _makeFetcher() -> Fetcher

    /// Returns the value to deliver for a fetched one, or nil for none. It does not block any access to the
    /// database.
    mutating func _value(_ fetched: Fetcher.Value) throws -> Value?
}

/// A type that fetches the values of an observation.
public protocol _ValueReducerFetcher: Sendable {
    associatedtype Value

    /// Fetches from one state of the database.
    func fetch(_ db: Database) throws -> Value
}

/// A type that determines how an observation fetches its values, and what it delivers. See
/// ``ValueObservation``.
public protocol ValueReducer: _ValueReducer {}

/// The reducers of ``ValueObservation``.
public enum ValueReducers {}

extension ValueReducers {
    /// Delivers the values that a function fetches.
    public struct Fetch<Value: Sendable>: ValueReducer {
        public struct Fetcher: _ValueReducerFetcher {
            let function: @Sendable (Database) throws -> Value

            public func fetch(_ db: Database) throws -> Value { try function(db) }
        }

        private let fetcher: Fetcher

        init(_ function: @escaping @Sendable (Database) throws -> Value) {
            fetcher = Fetcher(function: function)
        }

        public func _makeFetcher() -> Fetcher { fetcher }
        public func _value(_ fetched: Value) -> Value? { fetched }
    }

    /// Delivers the values of another reducer, transformed by a function.
    public struct Map<Base: _ValueReducer, Value: Sendable>: _ValueReducer {
        private var base: Base
        private let transform: @Sendable (Base.Value) throws -> Value

        init(_ base: Base, _ transform: @escaping @Sendable (Base.Value) throws -> Value) {
            self.base = base
            self.transform = transform
        }

        public func _makeFetcher() -> Base.Fetcher { base._makeFetcher() }

        public mutating func _value(_ fetched: Base.Fetcher.Value) throws -> Value? {
            guard let value = try base._value(fetched) else { return nil }
            return try transform(value)
        }
    }

    /// Omits values that are equal to the previous one.
    public struct RemoveDuplicates<Base: _ValueReducer>: _ValueReducer {
        private var base: Base
        private var last: Base.Value?
        private let areEqual: (Base.Value, Base.Value) -> Bool

        init(_ base: Base, _ areEqual: @escaping (Base.Value, Base.Value) -> Bool) {
            self.base = base
            self.areEqual = areEqual
        }

        public func _makeFetcher() -> Base.Fetcher { base._makeFetcher() }

        public mutating func _value(_ fetched: Base.Fetcher.Value) throws -> Base.Value? {
            guard let value = try base._value(fetched) else { return nil }
            if let last, areEqual(last, value) { return nil }
            last = value
            return value
        }
    }

    /// Delivers the values of another reducer, and reports its operations.
    public struct Trace<Base: _ValueReducer>: _ValueReducer {
        public struct Fetcher: _ValueReducerFetcher {
            let base: Base.Fetcher
            let willFetch: @Sendable () -> Void

            public func fetch(_ db: Database) throws -> Base.Fetcher.Value {
                willFetch()
                return try base.fetch(db)
            }
        }

        private var base: Base
        private let willFetch: @Sendable () -> Void
        private let didReceiveValue: @Sendable (Base.Value) -> Void

        init(
            _ base: Base, willFetch: @escaping @Sendable () -> Void,
            didReceiveValue: @escaping @Sendable (Base.Value) -> Void
        ) {
            self.base = base
            self.willFetch = willFetch
            self.didReceiveValue = didReceiveValue
        }

        public func _makeFetcher() -> Fetcher { Fetcher(base: base._makeFetcher(), willFetch: willFetch) }

        public mutating func _value(_ fetched: Base.Fetcher.Value) throws -> Base.Value? {
            guard let value = try base._value(fetched) else { return nil }
            didReceiveValue(value)
            return value
        }
    }
}

extension ValueReducers.Map: ValueReducer where Base: ValueReducer {}
extension ValueReducers.RemoveDuplicates: ValueReducer where Base: ValueReducer {}
extension ValueReducers.Trace: ValueReducer where Base: ValueReducer {}
