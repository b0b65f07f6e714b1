/// The connections from which a started observation fetches its values, and the source of its change
/// notifications.
struct ObservationSource: Sendable {
    /// The way in which a value is fetched from one state of the database.
    enum Isolation {
        /// On a connection that sees only one state.
        case snapshot

        /// In a read transaction.
        case read

        /// In a read transaction of a writable connection, which must not write.
        case readOnly

        /// In a transaction that may write.
        case write
    }

    let isolation: Isolation

    /// The watch that reports changes; nil if no writes are possible.
    let watch: RegionWatch?

    /// True if other connections can write while a value is fetched.
    let isConcurrent: Bool

    /// Provides a connection asynchronously, or the reason why there is none.
    let access: @Sendable (_ body: @escaping @Sendable (Result<Database, any Error>) -> Void) -> Void

    /// Calls a function when no closing is waiting any more that has cancelled the accesses of ``access``.
    let afterClosing: @Sendable (_ body: @escaping @Sendable () -> Void) -> Void

    /// Provides a connection synchronously.
    let accessNow: @Sendable (_ body: (Database) -> Void) throws -> Void
}

// MARK: - The sources of each type of reader

extension DatabaseQueue {
    public func _add<Reducer: ValueReducer>(
        observation: ValueObservation<Reducer>, scheduling scheduler: some ValueObservationScheduler,
        onChange: @escaping @Sendable (Reducer.Value) -> Void
    ) -> AnyDatabaseCancellable {
        let mayWrite = observation.requiresWriteAccess && !configuration.readonly
        let source = ObservationSource(
            isolation: mayWrite ? .write : .readOnly,
            watch: configuration.readonly ? nil : connection.regionWatch,
            isConcurrent: false,
            access: { [self] body in connection.async { body($0.ifOpen) } },
            // The next access waits for the closing.
            afterClosing: { $0() },
            accessNow: { [self] body in connection.sync(body) })
        return observation.start(in: source, scheduling: scheduler, onChange: onChange)
    }
}

extension DatabasePool {
    public func _add<Reducer: ValueReducer>(
        observation: ValueObservation<Reducer>, scheduling scheduler: some ValueObservationScheduler,
        onChange: @escaping @Sendable (Reducer.Value) -> Void
    ) -> AnyDatabaseCancellable {
        let watch = configuration.readonly ? nil : writer.regionWatch
        if observation.requiresWriteAccess && !configuration.readonly {
            let source = ObservationSource(
                isolation: .write, watch: watch, isConcurrent: false,
                access: { [self] body in writer.async { body($0.ifOpen) } },
                afterClosing: { $0() },
                accessNow: { [self] body in writer.sync(body) })
            return observation.start(in: source, scheduling: scheduler, onChange: onChange)
        }
        let source = ObservationSource(
            isolation: .read, watch: watch, isConcurrent: true,
            access: { [self] body in asyncUnsafeRead(body) },
            // A closing that waits for the writer does not prevent reads yet, and cancels them.
            afterClosing: { [self] body in writer.async({ _ in }, end: body) },
            accessNow: { [self] body in try readers.withReader(body) })
        return observation.start(in: source, scheduling: scheduler, onChange: onChange)
    }
}

extension DatabaseSnapshotReader {
    public func _add<Reducer: ValueReducer>(
        observation: ValueObservation<Reducer>, scheduling scheduler: some ValueObservationScheduler,
        onChange: @escaping @Sendable (Reducer.Value) -> Void
    ) -> AnyDatabaseCancellable {
        let source = ObservationSource(
            isolation: .snapshot, watch: nil, isConcurrent: false,
            access: { [self] body in asyncRead(body) },
            // The accesses of a snapshot are never cancelled by a closing.
            afterClosing: { $0() },
            accessNow: { [self] body in try reentrantRead(body) })
        return observation.start(in: source, scheduling: scheduler, onChange: onChange)
    }
}
