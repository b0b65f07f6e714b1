/// An observation of the value that a function fetches. It delivers an initial value, and a new one after
/// each change that affects it.
///
///     let sharesOfGuest = ValueObservation.tracking { db in
///         try Share.filter { $0.guestId == guest }.fetchCount(db)
///     }
///     for try await count in sharesOfGuest.removeDuplicates().values(in: pool) {
///         badge.number = count
///     }
///
/// An observation does nothing until it is started. Each start, with
/// ``values(in:scheduling:bufferingPolicy:)`` or
/// ``start(in:scheduling:onError:onChange:)-(_,ValueObservationMainActorScheduler,_,_)``, is independent and
/// fetches its own values. To fetch once for several clients, see ``shared(in:scheduling:extent:)``.
///
/// Guarantees:
///
/// - Values are delivered in the order of the database states that they were fetched from. After the last
///   transaction that changes the value, a value that was fetched after it is delivered.
/// - Only committed states are fetched. Each value is fetched in one transaction, whatever tables the
///   function reads.
/// - Changes that come faster than values can be fetched and mapped are delivered as one.
/// - Consecutive values may be equal: see ``removeDuplicates()``.
/// - No value is delivered after the observation is cancelled. An error ends the observation.
/// - A started observation keeps the connection to the database open. Closing the database ends it with
///   `SQLITE_MISUSE`.
///
/// In a pool, fetches and writes do not delay each other. In a queue, they take turns.
///
/// Some changes are not noticed: changes by other connections and processes, changes of the schema, and
/// changes made with the raw C functions. See ``Database/notifyChanges(in:)``. A snapshot, or a connection
/// that cannot write, delivers one value.
public struct ValueObservation<Reducer: ValueReducer>: Sendable {
    /// A Boolean value that indicates whether the function that fetches may write. False by default.
    ///
    /// Such an observation fetches in a transaction of the writer. Its own writes do not trigger another
    /// fetch.
    public var requiresWriteAccess = false

    let region: TrackedRegion
    let makeReducer: @Sendable () -> Reducer
    var events = ObservationHandlers()
}

/// The region that an observation tracks.
enum TrackedRegion: Sendable {
    /// The region that its function reads, determined at each fetch.
    case whatIsFetched

    /// The region that its function reads at the first fetch.
    case whatIsFetchedFirst

    case explicit([any DatabaseRegionConvertible])
}

/// The handlers for events of a started observation other than its values.
struct ObservationHandlers: Sendable {
    var willStart: (@Sendable () -> Void)?
    var willTrackRegion: (@Sendable (DatabaseRegion) -> Void)?
    var databaseDidChange: (@Sendable () -> Void)?
    var didFail: (@Sendable (any Error) -> Void)?
    var didCancel: (@Sendable () -> Void)?

    /// Adds functions that are called after the present ones.
    func appending(_ other: ObservationHandlers) -> ObservationHandlers {
        ObservationHandlers(
            willStart: Self.both(willStart, other.willStart),
            willTrackRegion: Self.both(willTrackRegion, other.willTrackRegion),
            databaseDidChange: Self.both(databaseDidChange, other.databaseDidChange),
            didFail: Self.both(didFail, other.didFail),
            didCancel: Self.both(didCancel, other.didCancel))
    }

    private static func both<each T>(
        _ first: (@Sendable (repeat each T) -> Void)?, _ second: (@Sendable (repeat each T) -> Void)?
    ) -> (@Sendable (repeat each T) -> Void)? {
        guard let first else { return second }
        guard let second else { return first }
        return { (values: repeat each T) in
            first(repeat each values)
            second(repeat each values)
        }
    }
}

// MARK: - Creating observations

extension ValueObservation {
    /// Returns an observation of the result of `fetch`, which tracks everything that `fetch` reads.
    ///
    /// The tracked region may differ from one value to the next: it is determined during each fetch.
    ///
    /// - Parameter fetch: fetches the value. It may use requests, SQL, and any number of tables.
    @preconcurrency
    public static func tracking<Value: Sendable>(
        _ fetch: @escaping @Sendable (Database) throws -> Value
    ) -> ValueObservation<ValueReducers.Fetch<Value>> where Reducer == ValueReducers.Fetch<Value> {
        ValueObservation(region: .whatIsFetched) { ValueReducers.Fetch(fetch) }
    }

    /// Returns an observation of the result of `fetch`, which tracks the region that `fetch` reads the first
    /// time.
    ///
    /// This only saves comparing the region after each fetch. ``tracking(_:)`` is just as concurrent.
    ///
    ///     let count = ValueObservation.trackingConstantRegion { db in try Item.fetchCount(db) }
    ///
    /// - Warning: Changes are missed if `fetch` does not always read the same tables, columns and rows. Use
    ///   ``Database/registerAccess(to:)`` for regions that it does not read the first time.
    @preconcurrency
    public static func trackingConstantRegion<Value: Sendable>(
        _ fetch: @escaping @Sendable (Database) throws -> Value
    ) -> ValueObservation<ValueReducers.Fetch<Value>> where Reducer == ValueReducers.Fetch<Value> {
        ValueObservation(region: .whatIsFetchedFirst) { ValueReducers.Fetch(fetch) }
    }

    /// Returns an observation of the result of `fetch`, which tracks the given regions instead of those that
    /// `fetch` reads.
    ///
    ///     // Counts the attachments again only when the name of an item changes.
    ///     let counts = ValueObservation.tracking(region: Item.select(\.name)) { db in try Attachment.fetchCount(db) }
    ///
    /// - Parameters:
    ///   - region: a region to track.
    ///   - otherRegions: more regions to track.
    ///   - fetch: fetches the value. The region that it reads is not tracked.
    @preconcurrency
    public static func tracking<Value: Sendable>(
        region: any DatabaseRegionConvertible, _ otherRegions: any DatabaseRegionConvertible...,
        fetch: @escaping @Sendable (Database) throws -> Value
    ) -> ValueObservation<ValueReducers.Fetch<Value>> where Reducer == ValueReducers.Fetch<Value> {
        tracking(regions: [region] + otherRegions, fetch: fetch)
    }

    /// Returns an observation of the result of `fetch`, which tracks any number of given regions: see
    /// ``tracking(region:_:fetch:)``.
    ///
    /// - Parameters:
    ///   - regions: the regions to track.
    ///   - fetch: fetches the value. The region that it reads is not tracked.
    @preconcurrency
    public static func tracking<Value: Sendable>(
        regions: [any DatabaseRegionConvertible], fetch: @escaping @Sendable (Database) throws -> Value
    ) -> ValueObservation<ValueReducers.Fetch<Value>> where Reducer == ValueReducers.Fetch<Value> {
        ValueObservation(region: .explicit(regions)) { ValueReducers.Fetch(fetch) }
    }
}

// MARK: - Operators

extension ValueObservation {
    /// Returns an observation that transforms the values with `transform`, in the same order.
    ///
    /// `transform` is called outside any database access: it blocks neither an access nor the main thread. An
    /// error that it throws ends the observation.
    ///
    ///     let names = ValueObservation.tracking { db in try Item.fetchAll(db) }.map { $0.map(\.name) }
    public func map<T: Sendable>(
        _ transform: @escaping @Sendable (Reducer.Value) throws -> T
    ) -> ValueObservation<ValueReducers.Map<Reducer, T>> {
        reducing { ValueReducers.Map($0, transform) }
    }

    /// Returns an observation without values that are equal to the previous one.
    ///
    ///     let count = ValueObservation.tracking { db in try Item.fetchCount(db) }.removeDuplicates()
    public func removeDuplicates() -> ValueObservation<ValueReducers.RemoveDuplicates<Reducer>>
    where Reducer.Value: Equatable {
        reducing { ValueReducers.RemoveDuplicates($0, ==) }
    }

    /// Returns an observation without values that are equal to the previous one according to `predicate`.
    public func removeDuplicates(
        by predicate: sending @escaping (Reducer.Value, Reducer.Value) -> Bool
    ) -> ValueObservation<ValueReducers.RemoveDuplicates<Reducer>> {
        // One observation can be started several times.
        let predicate = Guarded(predicate)
        return reducing { base in
            ValueReducers.RemoveDuplicates(base) { first, second in predicate.withLock { $0(first, second) } }
        }
    }

    func reducing<R: ValueReducer>(_ transform: @escaping @Sendable (Reducer) -> R) -> ValueObservation<R> {
        var result = ValueObservation<R>(region: region) { [makeReducer] in transform(makeReducer()) }
        result.requiresWriteAccess = requiresWriteAccess
        result.events = events
        return result
    }
}
