/// What an observation does with each value that it fetches, before it delivers it.
///
/// It is an implementation detail of ``ValueObservation``: you meet it in signatures only.
public protocol _ValueReducer: SendableMetatype {
    associatedtype Fetcher: _ValueReducerFetcher
    associatedtype Value: Sendable

    /// What fetches. It is used on other threads than the reducer.
    func _makeFetcher() -> Fetcher

    /// The value to deliver for a fetched one, or nil for none. It does not block any access to the database.
    mutating func _value(_ fetched: Fetcher.Value) throws -> Value?
}

/// What an observation fetches with.
public protocol _ValueReducerFetcher: Sendable {
    associatedtype Value

    /// Fetches from one state of the database.
    func fetch(_ db: Database) throws -> Value
}

/// The type of what an observation delivers, and how it comes by it. See ``ValueObservation``.
public protocol ValueReducer: _ValueReducer {}

/// The reducers of ``ValueObservation``.
public enum ValueReducers {}

extension ValueReducers {
    /// Delivers what a function fetches.
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

    /// Delivers what a function makes of the values of another reducer.
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

    /// Leaves out values that are equal to the one before.
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

    /// Delivers the values of another reducer, and reports what it does.
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
