internal import Dispatch
internal import Synchronization

/// One started observation of a value.
///
/// ``ValueObserverState`` decides what comes next; the observer fetches, reduces, and delivers. Its parts run
/// in different places: the writer watches the region, values are fetched on a connection from the source,
/// reduced on a queue of the observer, and delivered by the scheduler.
final class ValueObserver<Reducer: ValueReducer>: RegionListener {
    private struct Content {
        var state: ValueObserverState

        /// True if the application has cancelled the observation.
        var isCancelled = false

        /// Nil after the observation has ended, because it keeps the database open.
        var source: ObservationSource?

        var watcherID: RegionWatch.ID?

        /// The watched region, once it is known.
        var region: DatabaseRegion?

        /// True while the writer runs a fetch of this observation, whose own writes are ignored.
        var isWriting = false
    }

    /// A fetched value, on its way to the queue where it is reduced.
    // @unchecked: the code that fetches the value hands it over and does not keep it.
    private struct Fetched: @unchecked Sendable {
        let value: Reducer.Fetcher.Value
    }

    /// The reducer and its state.
    // @unchecked: the reducer is used on `reductionQueue` only.
    private final class Reduction: @unchecked Sendable {
        var reducer: Reducer

        /// True if a value could not be reduced. Values that were fetched later are not delivered.
        var hasFailed = false

        init(_ reducer: Reducer) {
            self.reducer = reducer
        }
    }

    private let content: Mutex<Content>
    private let trackedRegion: TrackedRegion
    private let events: ObservationHandlers
    private let fetcher: Reducer.Fetcher
    private let reduction: Reduction
    private let reductionQueue = DispatchQueue(label: "Coffer.ValueObservation")
    private let schedule: @Sendable (@escaping @Sendable () -> Void) -> Void
    private let onChange: @Sendable (Reducer.Value) -> Void

    init(
        _ observation: ValueObservation<Reducer>, source: ObservationSource,
        schedule: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void,
        onChange: @escaping @Sendable (Reducer.Value) -> Void
    ) {
        let reducer = observation.makeReducer()
        trackedRegion = observation.region
        events = observation.events
        fetcher = reducer._makeFetcher()
        reduction = Reduction(reducer)
        self.schedule = schedule
        self.onChange = onChange
        // A single thread that writes to a queue gets a value for each transaction, as long as reducing keeps
        // up.
        let state = ValueObserverState(maximumBacklog: source.isConcurrent ? 0 : 100)
        content = Mutex(Content(state: state, source: source))
    }
}

// MARK: - Start and end

extension ValueObserver {
    /// Starts the observation.
    ///
    /// - Parameter immediately: true to deliver the first value, or the error, before the return.
    func start(immediately: Bool) {
        events.willStart?()
        guard let source = content.withLock({ $0.source }) else { return }
        // From now on the writer counts changes, so commits during the first fetch are not lost.
        let id = source.watch?.add(self)
        let shouldFetch = content.withLock { content in
            content.watcherID = id
            return content.state.start()
        }
        guard shouldFetch else { return }
        if immediately {
            fetchNow(from: source)
        } else {
            fetch()
        }
    }

    /// Ends the observation. No more values or errors are delivered.
    func cancel() {
        content.withLock { $0.isCancelled = true }
        if end() { events.didCancel?() }
    }

    /// Ends the observation with an error, which is delivered after all fetched values.
    private func fail(_ error: any Error) {
        guard end() else { return }
        reductionQueue.async { [self] in
            schedule { [self] in
                if !isCancelled { events.didFail?(error) }
            }
        }
    }

    /// Returns false if the observation had already ended.
    private func end() -> Bool {
        // The source may hold the last reference to the database. Release it outside the lock, after removing
        // the watcher.
        let (wasActive, source, id) = content.withLock { content in
            let source = content.source
            content.source = nil
            return (content.state.end(), source, content.watcherID)
        }
        if let watch = source?.watch, let id { watch.remove(id) }
        return wasActive
    }

    private var isCancelled: Bool { content.withLock { $0.isCancelled } }
}

// MARK: - Changes

extension ValueObserver {
    func regionDidChange(_ db: Database) {
        guard !content.withLock({ $0.isWriting }) else { return }
        events.databaseDidChange?()
        guard let source = content.withLock({ $0.state.databaseDidChange() ? $0.source : nil }) else {
            return
        }
        if source.isConcurrent { fetch(from: source) } else { fetch(from: source, inAccess: db) }
    }

    func databaseDidClose() {
        fail(DatabaseError.connectionIsClosed())
    }

    private func databaseDidChange() {
        if content.withLock({ $0.state.databaseDidChange() }) { fetch() }
    }
}

// MARK: - Fetching

extension ValueObserver {
    private func fetch() {
        if let source = content.withLock({ $0.source }) { fetch(from: source) }
    }

    private func fetch(from source: ObservationSource) {
        source.access { [self] db in
            if let fetched = fetch(from: source, db) { deliver(fetched) }
        }
    }

    /// Fetches in the access that made the change, so that each of its transactions gets a value.
    private func fetch(from source: ObservationSource, inAccess db: Database) {
        if let fetched = fetch(from: source, .success(db)) { deliver(fetched) }
    }

    /// Reduces a value and delivers the result asynchronously.
    private func deliver(_ fetched: Fetched) {
        reductionQueue.async { [self] in
            guard let value = reduce(fetched) else { return }
            if let value = value.wrapped {
                schedule { [self] in
                    if !isCancelled { onChange(value) }
                }
            }
            didReduce()
        }
        didFetch()
    }

    private func fetchNow(from source: ObservationSource) {
        var outcome: Result<Fetched, any Error>?
        do {
            try source.accessNow { db in
                outcome = Result { try fetch(from: source, in: db) }
            }
            guard let fetched = try outcome?.get() else { return }
            // The next value is not fetched until this one has been reduced and delivered.
            if let value = try reductionQueue.sync(execute: { try reduction.reducer._value(fetched.value) }) {
                onChange(value)
            }
            didFetch()
            didReduce()
        } catch {
            if end() { events.didFail?(error) }
        }
    }

    private func didFetch() {
        if content.withLock({ $0.state.didFetch() }) { fetch() }
    }

    private func didReduce() {
        if content.withLock({ $0.state.didReduce() }) { fetch() }
    }

    /// Fetches a value, or handles the reason why that is impossible and returns nil.
    private func fetch(from source: ObservationSource, _ db: Result<Database, any Error>) -> Fetched? {
        guard !content.withLock({ $0.state.hasEnded }) else { return nil }
        do {
            let db = try db.get()
            guard source.isolation == .snapshot || !db.isInsideTransaction else {
                putOffToEndOfTransaction(source)
                return nil
            }
            let mark = db.sharedState.suspensionMark
            do {
                return try fetch(from: source, in: db)
            } catch let error as DatabaseError
                where error.isOfSuspension && db.sharedState.wasSuspended(since: mark)
            {
                putOffToResumption(of: db)
                return nil
            } catch  where db.sharedState.isCancelled {
                putOffToOtherAccess(source)
                return nil
            }
        } catch {
            fail(error)
            return nil
        }
    }

    /// Waits for the end of a transaction that was left open between two accesses, because its uncommitted
    /// changes must not be seen.
    private func putOffToEndOfTransaction(_ source: ObservationSource) {
        let id = content.withLock { content in
            content.state.putOff()
            return content.watcherID
        }
        if let watch = source.watch, let id { watch.waitForEnd(id) }
    }

    /// Fetches again in another access, because this one was cancelled: it belongs to a cancelled task, or
    /// the database is being closed. If closing succeeds, the observation ends; otherwise it continues.
    private func putOffToOtherAccess(_ source: ObservationSource) {
        content.withLock { $0.state.putOff() }
        source.afterClosing { [weak self] in self?.databaseDidChange() }
    }

    /// Waits for the end of a suspension. If it has already ended, the value is fetched again immediately.
    private func putOffToResumption(of db: Database) {
        content.withLock { $0.state.putOff() }
        db.sharedState.afterResumption { [weak self] in self?.databaseDidChange() }
    }

    /// Fetches from one state of the database, and updates the watched region.
    private func fetch(from source: ObservationSource, in db: Database) throws -> Fetched {
        content.withLock { $0.state.willFetch() }
        let time = source.isConcurrent ? source.watch?.clock.now : nil
        let (value, region): (Reducer.Fetcher.Value, DatabaseRegion)
        switch source.isolation {
        case .snapshot:
            (value, region) = try fetchWithRegion(db)
        case .read:
            (value, region) = try db.isolated(readOnly: false) { try fetchWithRegion(db) }
        case .readOnly:
            (value, region) = try db.isolated(readOnly: true) { try fetchWithRegion(db) }
        case .write:
            content.withLock { $0.isWriting = true }
            defer { content.withLock { $0.isWriting = false } }
            (value, region) = try db.transaction(.immediate) { try fetchWithRegion(db) }
        }
        watch(region, source, readSince: time)
        return Fetched(value: value)
    }

    private func fetchWithRegion(_ db: Database) throws -> (Reducer.Fetcher.Value, DatabaseRegion) {
        let (value, region) = try fetchWithWholeRegion(db)
        // Views themselves do not change. The region also contains their underlying tables.
        let views = try region.tableNames?.filter { try db.viewExists($0) && !db.tableExists($0) } ?? []
        return (value, region.ignoring(views))
    }

    private func fetchWithWholeRegion(_ db: Database) throws -> (Reducer.Fetcher.Value, DatabaseRegion) {
        let knownRegion = content.withLock { $0.region }
        switch trackedRegion {
        case .whatIsFetched:
            return try db.recordingRegion { try fetcher.fetch(db) }
        case .whatIsFetchedFirst:
            if let knownRegion { return (try fetcher.fetch(db), knownRegion) }
            return try db.recordingRegion { try fetcher.fetch(db) }
        case .explicit(let regions):
            let region = try knownRegion ?? DatabaseRegion.union(of: regions, in: db)
            return (try fetcher.fetch(db), region)
        }
    }

    private func watch(
        _ region: DatabaseRegion, _ source: ObservationSource, readSince time: WriteClock.Time?
    ) {
        let (isNew, id) = content.withLock { content in
            defer { content.region = region }
            return (content.region != region, content.watcherID)
        }
        guard isNew else { return }
        // Where nothing can change, no region is tracked.
        guard let watch = source.watch, let id else { return }
        events.willTrackRegion?(region)
        if watch.setRegion(region, of: id, readSince: time) { databaseDidChange() }
    }
}

// MARK: - Reducing

extension ValueObserver {
    /// The result of reducing a value. It may be empty.
    private struct Reduced {
        let wrapped: Reducer.Value?
    }

    /// Reduces a value on the observer's queue. An error ends the observation, and the result is nil.
    private func reduce(_ fetched: Fetched) -> Reduced? {
        guard !isCancelled, !reduction.hasFailed else { return nil }
        do {
            return Reduced(wrapped: try reduction.reducer._value(fetched.value))
        } catch {
            reduction.hasFailed = true
            fail(error)
            return nil
        }
    }
}

extension DatabaseError {
    /// True if the error can be caused by a suspension.
    fileprivate var isOfSuspension: Bool {
        resultCode == .SQLITE_ABORT || resultCode == .SQLITE_INTERRUPT
    }
}
