internal import Synchronization

/// An observation of the transactions that change a region of the database, one by one.
///
///     let watch = DatabaseRegionObservation(tracking: Share.all(), Table("attachment"))
///     let cancellable = watch.start(in: pool, onError: { log.error("no longer watched: \($0)") }) { db in
///         let count = try? Share.fetchCount(db)
///         log.info("shares or attachments have changed: \(count ?? 0) shares")
///     }
///
/// The observation is called for each transaction immediately after its commit, before any other write. Most
/// applications need values instead, whose observation costs the writer nothing: see ``ValueObservation``,
/// which also lists the changes that are not noticed.
public struct DatabaseRegionObservation: Sendable {
    private let regions: [any DatabaseRegionConvertible]

    /// Creates an observation of several regions.
    public init(tracking regions: [any DatabaseRegionConvertible]) {
        self.regions = regions
    }

    /// Creates an observation of several regions.
    public init(tracking regions: any DatabaseRegionConvertible...) {
        self.regions = regions
    }

    /// Starts the observation.
    ///
    /// Transactions that begin after the return are observed. A started observation keeps the connection to
    /// the database open.
    ///
    /// - Parameters:
    ///   - writer: a queue or a pool.
    ///   - onError: called if the region could not be determined, or when the database is closed. The
    ///     observation has then ended.
    ///   - onChange: called after each transaction that has changed the regions, where the connection is
    ///     used. It may use the connection, even if the task that has written is cancelled in the meantime.
    /// - Returns: a cancellable. The observation ends when it is cancelled or deinitialized.
    @preconcurrency
    public func start(
        in writer: any DatabaseWriter,
        onError: @escaping @Sendable (any Error) -> Void,
        onChange: @escaping @Sendable (Database) -> Void
    ) -> AnyDatabaseCancellable {
        let observer = RegionObserver(writer, onError: onError, onChange: onChange)
        writer.asyncWriteWithoutTransaction { db in
            observer.start(regions, db)
        }
        return AnyDatabaseCancellable { observer.cancel() }
    }
}

extension DatabaseRegion {
    /// Returns the union of some regions.
    static func union(of regions: [any DatabaseRegionConvertible], in db: Database) throws -> DatabaseRegion {
        try regions.reduce(into: DatabaseRegion()) { $0.formUnion(try $1.databaseRegion(db)) }
    }
}

/// One started observation of transactions.
private final class RegionObserver: RegionListener {
    private enum Phase {
        case starting(any DatabaseWriter)
        /// The writer, which is kept open, and the watch.
        case started(any DatabaseWriter, RegionWatch, RegionWatch.ID)
        case ended
    }

    private let phase: Mutex<Phase>
    private let onError: @Sendable (any Error) -> Void
    private let onChange: @Sendable (Database) -> Void

    init(
        _ writer: any DatabaseWriter, onError: @escaping @Sendable (any Error) -> Void,
        onChange: @escaping @Sendable (Database) -> Void
    ) {
        phase = Mutex(.starting(writer))
        self.onError = onError
        self.onChange = onChange
    }

    func start(_ regions: [any DatabaseRegionConvertible], _ db: Database) {
        do {
            try db.checkIsOpen()
            let region = try DatabaseRegion.union(of: regions, in: db)
            let watch = db.observerNotifier.watch
            let id = watch.add(self, region: region)
            let hasStarted = phase.withLock { phase in
                guard case .starting(let writer) = phase else { return false }
                phase = .started(writer, watch, id)
                return true
            }
            if !hasStarted { watch.remove(id) }
        } catch {
            if end() { onError(error) }
        }
    }

    func regionDidChange(_ db: Database) {
        if case .ended = phase.withLock({ $0 }) { return }
        // Not part of the task that has written.
        db.withoutCancellationOfTask { onChange(db) }
    }

    func databaseDidClose() {
        if end() { onError(DatabaseError.connectionIsClosed()) }
    }

    func cancel() { _ = end() }

    /// Returns false if the observation had already ended.
    private func end() -> Bool {
        let last = phase.withLock { phase in
            defer { phase = .ended }
            return phase
        }
        switch last {
        case .starting: return true
        case .started(_, let watch, let id):
            watch.remove(id)
            return true
        case .ended: return false
        }
    }
}
