/// An observation of what a function fetches: it delivers a first value, and a fresh one whenever the
/// database has changed it.
///
///     let sharesOfGuest = ValueObservation.tracking { db in
///         try Share.filter { $0.guestId == guest }.fetchCount(db)
///     }
///     for try await count in sharesOfGuest.removeDuplicates().values(in: pool) {
///         badge.number = count
///     }
///
/// An observation does nothing by itself. Each start of it, with ``values(in:scheduling:bufferingPolicy:)``
/// or ``start(in:scheduling:onError:onChange:)-(_,ValueObservationMainActorScheduler,_,_)``, is independent
/// of the others, and fetches for itself; see ``shared(in:scheduling:extent:)`` to have it done once for
/// several clients.
///
/// What is promised:
///
/// - Values come in the order of the states of the database that they were fetched from. After the last
///   transaction that changes the value, a value that was fetched after it is delivered.
/// - Only committed states are fetched, each in one transaction, whatever the function reads.
/// - Changes that come faster than values can be fetched and mapped are delivered as one.
/// - Equal values may follow each other: see ``removeDuplicates()``.
/// - Once it is cancelled, no value is delivered any more. An error ends the observation.
/// - As long as it is started, it keeps the connection to the database open. Closing the database ends it
///   with `SQLITE_MISUSE`.
///
/// In a pool, fetching delays no write, and no write delays fetching. In a queue, they take turns.
///
/// Changes of other connections and processes, of the schema, and those made with the raw C functions are not
/// noticed: see ``Database/notifyChanges(in:)``. A snapshot, or a connection that cannot write, delivers one
/// value.
public struct ValueObservation<Reducer: ValueReducer>: Sendable {
    /// Whether the function that fetches may write. False by default.
    ///
    /// Such an observation fetches in a transaction of the writer. What it writes does not start it again.
    public var requiresWriteAccess = false

    let region: TrackedRegion
    let makeReducer: @Sendable () -> Reducer
    var events = ObservationHandlers()
}

/// Which region an observation follows.
enum TrackedRegion: Sendable {
    /// What its function reads, each time.
    case whatIsFetched

    /// What its function reads the first time.
    case whatIsFetchedFirst

    case explicit([any DatabaseRegionConvertible])
}

/// What happens to a started observation, beside its values.
struct ObservationHandlers: Sendable {
    var willStart: (@Sendable () -> Void)?
    var willTrackRegion: (@Sendable (DatabaseRegion) -> Void)?
    var databaseDidChange: (@Sendable () -> Void)?
    var didFail: (@Sendable (any Error) -> Void)?
    var didCancel: (@Sendable () -> Void)?

    /// Adds functions that are called after those that are there.
    func appending(_ other: ObservationHandlers) -> ObservationHandlers {
        ObservationHandlers(
            willStart: Self.both(willStart, other.willStart),
            willTrackRegion: Self.both(willTrackRegion, other.willTrackRegion),
            databaseDidChange: Self.both(databaseDidChange, other.databaseDidChange),
            didFail: Self.both(didFail, other.didFail),
            didCancel: Self.both(didCancel, other.didCancel))
    }

    private static func both(_ first: (@Sendable () -> Void)?, _ second: (@Sendable () -> Void)?) -> (
        @Sendable () -> Void
    )? {
        guard let first else { return second }
        guard let second else { return first }
        return {
            first()
            second()
        }
    }

    private static func both<T>(_ first: (@Sendable (T) -> Void)?, _ second: (@Sendable (T) -> Void)?) -> (
        @Sendable (T) -> Void
    )? {
        guard let first else { return second }
        guard let second else { return first }
        return {
            first($0)
            second($0)
        }
    }
}

// MARK: - Making observations

extension ValueObservation {
    /// An observation of what `fetch` returns, which follows whatever it reads.
    ///
    /// What is observed may differ from one value to the next: it is found out during each fetch.
    /// - Parameter fetch: fetches the value. Requests, SQL, several tables: there is no limit.
    @preconcurrency
    public static func tracking<Value: Sendable>(
        _ fetch: @escaping @Sendable (Database) throws -> Value
    ) -> ValueObservation<ValueReducers.Fetch<Value>> where Reducer == ValueReducers.Fetch<Value> {
        ValueObservation(region: .whatIsFetched) { ValueReducers.Fetch(fetch) }
    }

    /// An observation of what `fetch` returns, which follows what it reads the first time.
    ///
    /// It spares the comparison after each fetch, and no more: ``tracking(_:)`` is as concurrent.
    ///
    ///     let count = ValueObservation.trackingConstantRegion { db in try Item.fetchCount(db) }
    ///
    /// - Warning: changes are missed if `fetch` does not always read the same tables, columns and rows. Use
    ///   ``Database/registerAccess(to:)`` for what it does not read the first time.
    @preconcurrency
    public static func trackingConstantRegion<Value: Sendable>(
        _ fetch: @escaping @Sendable (Database) throws -> Value
    ) -> ValueObservation<ValueReducers.Fetch<Value>> where Reducer == ValueReducers.Fetch<Value> {
        ValueObservation(region: .whatIsFetchedFirst) { ValueReducers.Fetch(fetch) }
    }

    /// An observation of what `fetch` returns, which follows regions that have nothing to do with what it
    /// reads.
    ///
    ///     // Counts the attachments anew when an item gets another name, and for no other reason.
    ///     let counts = ValueObservation.tracking(region: Item.select(\.name)) { db in try Attachment.fetchCount(db) }
    ///
    /// - Parameters:
    ///   - region: what is observed.
    ///   - otherRegions: more that is observed.
    ///   - fetch: reads the value; what it reads is not observed by itself.
    @preconcurrency
    public static func tracking<Value: Sendable>(
        region: any DatabaseRegionConvertible, _ otherRegions: any DatabaseRegionConvertible...,
        fetch: @escaping @Sendable (Database) throws -> Value
    ) -> ValueObservation<ValueReducers.Fetch<Value>> where Reducer == ValueReducers.Fetch<Value> {
        tracking(regions: [region] + otherRegions, fetch: fetch)
    }

    /// An observation of what `fetch` returns, which follows any number of regions: see
    /// ``tracking(region:_:fetch:)``.
    ///
    /// - Parameters:
    ///   - regions: what is observed.
    ///   - fetch: reads the value; what it reads is not observed by itself.
    @preconcurrency
    public static func tracking<Value: Sendable>(
        regions: [any DatabaseRegionConvertible], fetch: @escaping @Sendable (Database) throws -> Value
    ) -> ValueObservation<ValueReducers.Fetch<Value>> where Reducer == ValueReducers.Fetch<Value> {
        ValueObservation(region: .explicit(regions)) { ValueReducers.Fetch(fetch) }
    }
}

// MARK: - Operators

extension ValueObservation {
    /// An observation of what `transform` makes of the values, in the same order.
    ///
    /// `transform` runs apart from the database: it blocks neither an access nor the main thread. Its error
    /// ends the observation.
    ///
    ///     let names = ValueObservation.tracking { db in try Item.fetchAll(db) }.map { $0.map(\.name) }
    public func map<T: Sendable>(
        _ transform: @escaping @Sendable (Reducer.Value) throws -> T
    ) -> ValueObservation<ValueReducers.Map<Reducer, T>> {
        reducing { ValueReducers.Map($0, transform) }
    }

    /// An observation without values that are equal to the one before.
    ///
    ///     let count = ValueObservation.tracking { db in try Item.fetchCount(db) }.removeDuplicates()
    public func removeDuplicates() -> ValueObservation<ValueReducers.RemoveDuplicates<Reducer>>
    where Reducer.Value: Equatable {
        reducing { ValueReducers.RemoveDuplicates($0, ==) }
    }

    /// An observation without values that are equal to the one before, as `predicate` says.
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
