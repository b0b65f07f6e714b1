internal import SQLCipherBridge
internal import Synchronization

/// The measurements of the accesses to one queue or pool. It exists only if the configuration requires it.
final class AccessRecorder: Sendable {
    /// The durations of one kind of access.
    struct Durations: Sendable {
        let waited = DurationCounts()
        let ran = DurationCounts()
    }

    let reads = Durations()
    let writes = Durations()

    private let cachedPages = Atomic<Int>(0)
    private let readPages = Atomic<Int>(0)
    private let observer: (@Sendable (DatabaseAccessReport) -> Void)?

    var cachedPageCount: Int { cachedPages.load(ordering: .relaxed) }
    var readPageCount: Int { readPages.load(ordering: .relaxed) }

    /// Returns nil if nothing is to be measured.
    init?(_ configuration: Configuration) {
        guard configuration.measuresAccesses || configuration.accessObserver != nil else { return nil }
        observer = configuration.accessObserver
    }

    /// Begins to measure an access of the current thread.
    ///
    /// - Parameter request: the time of the request; nil if the access did not wait.
    func begin(_ db: Database, since request: MonotonicTime?) -> AccessMeasurement {
        let measurement = AccessMeasurement(
            since: request, changeCount: observer == nil || db.isClosed ? 0 : db.handle.totalChangesCount)
        if observer != nil { unsafe db.measurement = measurement }
        return measurement
    }

    /// Adds an access that has ended, and reports it.
    func end(
        _ measurement: AccessMeasurement, _ db: Database, _ kind: DatabaseAccessReport.Kind,
        error: (any Error)?
    ) {
        unsafe db.measurement = nil
        measurement.end()
        let durations = kind == .read ? reads : writes
        durations.waited.add(nanoseconds: measurement.waited)
        durations.ran.add(nanoseconds: measurement.ran)
        // The access may have closed the connection.
        let pages = db.isClosed ? nil : db.handle.takePageCacheUse()
        let (hitCount, missCount) = (pages?.hitCount ?? 0, pages?.missCount ?? 0)
        cachedPages.add(hitCount, ordering: .relaxed)
        readPages.add(missCount, ordering: .relaxed)
        guard let observer else { return }
        let changeCount = db.isClosed ? 0 : db.handle.totalChangesCount - measurement.changeCount
        observer(
            DatabaseAccessReport(
                kind: kind, path: db.path, waited: .nanoseconds(measurement.waited),
                ran: .nanoseconds(measurement.ran), statementCount: measurement.statementCount,
                changedRowCount: max(0, changeCount), cachedPageCount: hitCount,
                readPageCount: missCount, slowestStatement: measurement.slowestStatement, error: error))
    }
}

/// The measurement of one access. It does not keep statements alive: the access may close its connection.
final class AccessMeasurement {
    /// The time from the request to the beginning, in nanoseconds.
    let waited: Int64

    /// The time from the beginning to the end, in nanoseconds. Zero until ``end()``.
    private(set) var ran: Int64 = 0

    private(set) var statementCount = 0

    /// The connection's number of changed rows at the beginning.
    let changeCount: Int

    private let start: MonotonicTime
    private var current: (sql: String, start: MonotonicTime)?
    private var slowest: (sql: String, nanoseconds: Int64)?

    init(since request: MonotonicTime?, changeCount: Int) {
        let start = MonotonicTime.now
        self.start = start
        waited = request.map { max(0, start.since($0)) } ?? 0
        self.changeCount = changeCount
    }

    func statementWillBegin(_ statement: Statement) {
        let now = MonotonicTime.now
        endStatement(now)
        current = (statement.sql, now)
        if statement.facts.transactionStep == nil { statementCount += 1 }
    }

    func statementDidEnd() {
        if current != nil { endStatement(.now) }
    }

    func end() {
        let now = MonotonicTime.now
        endStatement(now)
        ran = max(0, now.since(start))
    }

    private func endStatement(_ now: MonotonicTime) {
        guard let (sql, start) = current else { return }
        current = nil
        let nanoseconds = max(0, now.since(start))
        if nanoseconds >= slowest?.nanoseconds ?? 0 { slowest = (sql, nanoseconds) }
    }

    var slowestStatement: DatabaseAccessReport.Statement? {
        slowest.map { .init(sql: $0.sql, duration: .nanoseconds($0.nanoseconds)) }
    }
}
