internal import Synchronization

/// An observation of the transactions that change a region of the database, one by one.
///
///     let watch = DatabaseRegionObservation(tracking: Share.all(), Table("attachment"))
///     let cancellable = watch.start(in: pool, onError: { log.error("no longer watched: \($0)") }) { db in
///         let count = try? Share.fetchCount(db)
///         log.info("shares or attachments have changed: \(count ?? 0) shares")
///     }
///
/// It is called for each transaction right after its commit, before anybody else can write. Most applications
/// want values instead, which cost the writer nothing: see ``ValueObservation``, also for the changes that
/// are not noticed.
public struct DatabaseRegionObservation: Sendable {
    private let regions: [any DatabaseRegionConvertible]

    /// An observation of several regions.
    public init(tracking regions: [any DatabaseRegionConvertible]) {
        self.regions = regions
    }

    /// An observation of several regions.
    public init(tracking regions: any DatabaseRegionConvertible...) {
        self.regions = regions
    }

    /// Starts the observation.
    ///
    /// Transactions that begin after the return are observed. As long as it is started, it keeps the
    /// connection to the database open.
    /// - Parameters:
    ///   - writer: a queue or a pool.
    ///   - onError: called if the region could not be found out, or when the database was closed. The
    ///     observation has ended then.
    ///   - onChange: called after each transaction that has changed the regions, where the connection is
    ///     used, which it may use too.
    /// - Returns: what the observation lives as long as.
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
    /// What is in any of some regions.
    static func union(of regions: [any DatabaseRegionConvertible], in db: Database) throws -> DatabaseRegion {
        try regions.reduce(into: DatabaseRegion()) { $0.formUnion(try $1.databaseRegion(db)) }
    }
}

/// One started observation of transactions.
private final class RegionObserver: RegionListener {
    private enum Phase {
        case starting(any DatabaseWriter)
        /// The writer is kept open.
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
            guard !db.isClosed else { throw DatabaseError.connectionIsClosed() }
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
        onChange(db)
    }

    func databaseDidClose() {
        if end() { onError(DatabaseError.connectionIsClosed()) }
    }

    func cancel() { _ = end() }

    /// Returns false if the observation has ended before.
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
