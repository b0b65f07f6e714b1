#if Services
public import Coffer
public import Metrics

/// Records the durations of all accesses of one or many databases as timers, and counts the failed ones.
///
/// ```swift
/// let timers = AccessTimers(name: "notes")
/// let tenants = DatabasePools(folder: folder) { tenant in
///     var configuration = try makeConfiguration(tenant)
///     configuration.addAccessObserver(timers.record)
///     return configuration
/// }
/// ```
///
/// The timers `coffer_access_wait` and `coffer_access_run` and the counter `coffer_failed_accesses` have the
/// dimensions `database` and `kind`. They are called at the end of each access, by all its threads. If they
/// have a lock in common, which depends on the factory, use ``DatabaseMetrics`` for a busy pool instead.
public struct AccessTimers: Sendable {
    private struct Instrument: Sendable {
        let waited, ran: Timer
        let failures: Counter

        init(_ instruments: Instruments) {
            waited = instruments.timer("coffer_access_wait")
            ran = instruments.timer("coffer_access_run")
            failures = instruments.counter("coffer_failed_accesses")
        }
    }

    private let reads, writes: Instrument

    /// - Parameters:
    ///   - name: the name of the database, or of all databases together, in the metrics.
    ///   - factory: the destination of the metrics. Nil means the global one.
    public init(name: String, factory: (any MetricsFactory)? = nil) {
        let instruments = Instruments(name, factory ?? MetricsSystem.factory)
        reads = Instrument(instruments.adding("kind", DatabaseAccessReport.Kind.read.rawValue))
        writes = Instrument(instruments.adding("kind", DatabaseAccessReport.Kind.write.rawValue))
    }

    /// Records an access that has ended. A cancelled access does not count as failed.
    public func record(_ access: DatabaseAccessReport) {
        let instrument = access.kind == .read ? reads : writes
        instrument.waited.record(duration: access.waited)
        instrument.ran.record(duration: access.ran)
        if access.failure != nil { instrument.failures.increment() }
    }
}
#endif
