#if Services
public import Coffer
internal import Foundation
public import Metrics
public import ServiceLifecycle

/// A service that records the statistics of a database, or of the databases of a folder, at intervals.
///
/// ```swift
/// let metrics = DatabaseMetrics(pool, name: "notes", every: .seconds(15))
/// let group = ServiceGroup(services: [DatabaseService(pool), metrics, server], logger: logger)
/// ```
///
/// The labels begin with `coffer_`, and have the dimension `database` with the given name. No metric has a
/// path, SQL or a key. The article *Servers* has a table of all labels.
public struct DatabaseMetrics: Service {
    private let interval: Duration
    private let makeRecorder: @Sendable () -> any StatisticsRecorder

    /// Creates a service that records ``DatabasePool/statistics``.
    ///
    /// The durations of accesses are recorded if the configuration has `measuresAccesses` or an access
    /// observer.
    ///
    /// - Parameters:
    ///   - pool: an open pool.
    ///   - name: the name of the database in the metrics.
    ///   - interval: the time between two records, more than zero.
    ///   - factory: the destination of the metrics. Nil means the global one at the time when the service
    ///     starts.
    public init(
        _ pool: DatabasePool, name: String, every interval: Duration = .seconds(10),
        factory: (any MetricsFactory)? = nil
    ) {
        precondition(interval > .zero, "The interval between two records must be more than zero.")
        self.interval = interval
        makeRecorder = { PoolRecorder(pool, Instruments(name, factory ?? MetricsSystem.factory)) }
    }

    /// Creates a service that records ``DatabasePools/statistics``. It does not record each database, because
    /// a metric for each tenant is more than most systems store.
    ///
    /// - Parameters:
    ///   - pools: the databases.
    ///   - name: the name of all databases together in the metrics.
    ///   - interval: the time between two records, more than zero.
    ///   - factory: the destination of the metrics. Nil means the global one at the time when the service
    ///     starts.
    public init(
        _ pools: DatabasePools, name: String, every interval: Duration = .seconds(10),
        factory: (any MetricsFactory)? = nil
    ) {
        precondition(interval > .zero, "The interval between two records must be more than zero.")
        self.interval = interval
        makeRecorder = { PoolsRecorder(pools, Instruments(name, factory ?? MetricsSystem.factory)) }
    }

    /// Records the statistics now, after each interval, and when the group shuts down.
    public func run() async throws {
        let (interval, makeRecorder) = (interval, makeRecorder)
        // The only error is the cancellation of the sleep.
        try? await cancelWhenGracefulShutdown {
            var recorder = makeRecorder()
            defer { recorder.record() }
            while true {
                recorder.record()
                try await Task.sleep(for: interval)
            }
        }
    }
}

/// The use of one source of statistics between two records.
protocol StatisticsRecorder {
    mutating func record()
}

// MARK: - One pool

struct PoolRecorder: StatisticsRecorder {
    private let pool: DatabasePool
    private let gauges: GaugeTable<DatabasePool.Statistics>
    private let checkpointAge: Gauge
    private var cachedPages, readPages, keyDerivations: GrowingCount
    private var reads, writes: AccessRecorder

    init(_ pool: DatabasePool, _ instruments: Instruments) {
        self.pool = pool
        gauges = GaugeTable(
            instruments,
            [
                ("coffer_open_readers", { $0.openReaderCount }),
                ("coffer_busy_readers", { $0.busyReaderCount }),
                ("coffer_busy_writers", { $0.isWriterBusy ? 1 : 0 }),
                ("coffer_waiting_reads", { $0.waitingReadCount }),
                ("coffer_waiting_writes", { $0.waitingWriteCount }),
                ("coffer_log_bytes", { Int($0.logByteCount) }),
                ("coffer_unlocked_key_bytes", { $0.keyMemory.unlockedByteCount }),
            ])
        checkpointAge = instruments.gauge("coffer_checkpoint_age_seconds")
        cachedPages = instruments.count("coffer_cached_pages")
        readPages = instruments.count("coffer_read_pages")
        keyDerivations = instruments.count("coffer_key_derivations")
        reads = AccessRecorder(instruments.adding("kind", "read"))
        writes = AccessRecorder(instruments.adding("kind", "write"))
    }

    mutating func record() {
        let statistics = pool.statistics
        gauges.record(statistics)
        if let checkpoint = statistics.lastCheckpoint {
            checkpointAge.record(max(0, -checkpoint.timeIntervalSinceNow))
        }
        cachedPages.record(statistics.cachedPageCount)
        readPages.record(statistics.readPageCount)
        keyDerivations.record(statistics.keyDerivationCount)
        if let times = statistics.reads { reads.record(times) }
        if let times = statistics.writes { writes.record(times) }
    }
}

/// The accesses of one kind.
private struct AccessRecorder {
    private var accesses: GrowingCount
    private let waited99, ran99: Gauge
    private var previous: DatabasePool.Statistics.AccessTimes?

    init(_ instruments: Instruments) {
        accesses = instruments.count("coffer_accesses")
        waited99 = instruments.gauge("coffer_access_wait_p99_seconds")
        ran99 = instruments.gauge("coffer_access_run_p99_seconds")
    }

    mutating func record(_ times: DatabasePool.Statistics.AccessTimes) {
        accesses.record(times.ran.count)
        let waited = previous.map { times.waited - $0.waited } ?? times.waited
        let ran = previous.map { times.ran - $0.ran } ?? times.ran
        waited99.record(waited.quantile(0.99) / .seconds(1))
        ran99.record(ran.quantile(0.99) / .seconds(1))
        previous = times
    }
}

// MARK: - Many pools

struct PoolsRecorder: StatisticsRecorder {
    private let pools: DatabasePools
    private let gauges: GaugeTable<DatabasePools.Statistics>

    init(_ pools: DatabasePools, _ instruments: Instruments) {
        self.pools = pools
        gauges = GaugeTable(
            instruments,
            [
                ("coffer_open_databases", { $0.openCount }),
                ("coffer_leased_databases", { $0.leasedCount }),
                ("coffer_used_slots", { $0.usedSlotCount }),
                ("coffer_slots", { $0.maximumOpenCount }),
                ("coffer_waiting_requests", { $0.waitingCount }),
                ("coffer_unlocked_key_bytes", { _ in DatabaseKey.memoryUse.unlockedByteCount }),
            ])
    }

    func record() { gauges.record(pools.statistics) }
}
#endif
