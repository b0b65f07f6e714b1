/// A row of the table: a workload, its unit, and its goal relative to the C loop.
struct Workload: Sendable {
    enum Unit: Sendable {
        /// Seconds per operation.
        case time
        /// Bytes per second.
        case throughput
        /// Bytes of memory, beyond the memory of the process before it opens the file.
        case memory
    }

    var name: String
    var title: String
    var unit = Unit.time

    /// The goal for Coffer's time, as a multiple of the C loop's; nil if there is none.
    var goal: Double?

    /// The goal in microseconds per operation, for workloads that the C loop cannot do.
    var goalMicroseconds: Double?

    /// Another workload, and the goal for Coffer's time as a multiple of its time in that one.
    var goalOver: (workload: String, factor: Double)?

    /// The goal for the additional memory of ten times as many rows, in bytes.
    var goalGrowth: Double?

    /// True if Coffer's result is shown as a multiple of the C loop's.
    var comparesRunners = true

    /// The runners that support the workload.
    var runners = RunnerName.allCases

    /// - Parameter rows: the number of rows in the table. The large table has ten times as many.
    static func all(rows: Int) -> [Workload] {
        times + [
            Workload(
                name: "memory-cursor", title: "cursor over \(grouped(rows * 10)) rows, 1 MB page cache",
                unit: .memory, goalGrowth: 1e6,
                comparesRunners: false),
            Workload(
                name: "memory-pool", title: "pool at rest, 5 readers with full page caches", unit: .memory),
        ]
    }

    private static let times: [Workload] = [
        Workload(name: "open-pool", title: "open a pool with a passphrase, five first reads", goal: 1.15),
        Workload(name: "insert-statement", title: "insert by prepared statement", goal: 1.3),
        Workload(
            name: "insert-values", title: "the same, values without a list", goal: 1.45,
            runners: [.c, .coffer]),
        Workload(name: "insert-struct", title: "insert struct records", goal: 1.7),
        Workload(name: "insert-codable", title: "insert Codable records", goal: 2.2),
        Workload(name: "cursor-index", title: "row cursor, columns by index", goal: 1.3),
        Workload(name: "cursor-name", title: "row cursor, columns by name", goal: 1.5),
        Workload(name: "fetch-struct", title: "fetchAll of struct records", goal: 1.8),
        Workload(name: "fetch-codable", title: "fetchAll of Codable records", goal: 2.5),
        Workload(name: "first-struct", title: "fetchAll of struct records, first pass of a reader (C: warm)"),
        Workload(name: "first-codable", title: "the same, Codable records (C: warm)"),
        Workload(name: "fetch-int", title: "Int64.fetchAll", goal: 1.3),
        Workload(name: "fetch-string", title: "String.fetchAll", goal: 1.6),
        Workload(name: "key-one-read", title: "fetch a record by key, all in one read", goal: 4),
        Workload(name: "key-own-read", title: "fetch a record by key, each in its own read", goal: 1.55),
        Workload(
            name: "key-own-read-alone", title: "the same, file for this process only (C: shared)", goal: 1,
            runners: [.c, .coffer]),
        Workload(name: "request", title: "build a request and fetch one record", goal: 15),
        Workload(name: "join-struct", title: "fetchAll of including(required:), struct records", goal: 2.2),
        Workload(name: "join-codable", title: "the same, Codable records", goal: 2.2),
        Workload(name: "join-count", title: "annotated counts, an owner of 100 rows"),
        Workload(name: "join-request", title: "build a request of three tables and fetch its row"),
        Workload(name: "join-build", title: "the same, only built", runners: [.coffer, .grdb]),
        Workload(name: "all-tenth", title: "including(all:), a tenth of the rows, struct records"),
        Workload(
            name: "all-struct", title: "including(all:), 100 rows for each, struct records",
            goalOver: ("all-tenth", 1.2)),
        Workload(name: "all-codable", title: "the same, Codable records"),
        Workload(name: "write-transaction", title: "one-row write transactions", goal: 1),
        Workload(
            name: "write-transaction-alone", title: "the same, file for this process only (C: shared)",
            goal: 0.8, runners: [.c, .coffer]),
        Workload(
            name: "write-other-1", title: "one-row write transactions, one observation of another table",
            goalOver: ("write-transaction", 1.1)),
        Workload(
            name: "write-other-100", title: "the same, 100 observations of another table",
            goalOver: ("write-transaction", 1.1)),
        Workload(name: "write-seen-1", title: "the same, one observation of the table"),
        Workload(name: "write-seen-100", title: "the same, 100 observations of the table"),
        Workload(
            name: "write-to-value", title: "from the begin of a transaction to the observed value",
            runners: [.coffer, .grdb]),
        Workload(name: "await-sequential", title: "await a read, one after the other", goalMicroseconds: 15),
        Workload(name: "await-100", title: "await a read, 100 tasks at once", goalMicroseconds: 8),
        Workload(name: "backup", title: "backup into an open database", unit: .throughput, goal: 0.8),
        Workload(
            name: "backup-file", title: "backup of a file (C: backup)", unit: .throughput, goal: 0.8,
            runners: [.c, .coffer]),
        Workload(
            name: "rotate", title: "rotation of the key (C: rekey)", unit: .throughput, goal: 0.33,
            runners: [.c, .coffer]),
        Workload(
            name: "verify", title: "verify (C: cipher_integrity_check)", unit: .throughput, goal: 0.15,
            runners: [.c, .coffer]),
        Workload(
            name: "verify-structure", title: "the same, and the structure (C: quick_check)",
            unit: .throughput, runners: [.c, .coffer]),
    ]
}
