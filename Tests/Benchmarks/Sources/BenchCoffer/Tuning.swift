import BenchKit
import Coffer

/// The gains and costs of connection settings, for Coffer only, with its own configuration.
enum Tuning {
    static func run(_ assignment: Assignment) throws -> Runner.Result? {
        guard assignment.workload.hasPrefix("tune-") else { return nil }
        var configuration = Configuration()
        configuration.key = .rawKey(Equal.rawKey)
        configuration.pageCacheSize = assignment.pageCacheSize
        configuration.prepareDatabase { db in
            try db.execute(sql: "PRAGMA wal_autocheckpoint = \(assignment.checkpointPages)")
        }
        let before = Memory.own
        let pool = try DatabasePool(path: assignment.playerFile, configuration: configuration)
        let outcome: Runner.Result
        switch assignment.workload {
        case "tune-scattered": outcome = try reads(assignment, pool, assignment.scatteredKey)
        case "tune-recent": outcome = try reads(assignment, pool, assignment.recentKey)
        case "tune-mixed": outcome = try readsBesideWrites(assignment, pool)
        case "tune-scan":
            let (seconds, check) = try measure(repetitions: assignment.repetitions, prepare: {}) {
                try pool.read { db in try Int64.fetchOne(db, sql: Equal.readAll) ?? 0 }
            }
            outcome = Runner.Result(seconds: seconds, check: check, operations: assignment.rows)
        case "tune-write": outcome = try writes(assignment, pool)
        case "tune-memory":
            _ = try pool.readAtOnce(5) { db in try Int64.fetchOne(db, sql: Equal.readAll) ?? 0 }
            _ = try pool.write { db in try Int64.fetchOne(db, sql: Equal.readAll) }
            outcome = Runner.Result(
                seconds: [], check: 0, operations: 1, figures: [.bytes: Double(Memory.own - before)])
        case "tune-log": outcome = try log(assignment, pool)
        default:
            if let result = try statements(assignment, pool) {
                outcome = result
                break
            }
            throw Mistake(description: "there is no workload \(assignment.workload)")
        }
        try pool.close()
        return outcome
    }

    /// Fetches rows by key, all in one read.
    private static func reads(_ assignment: Assignment, _ pool: DatabasePool, _ key: (Int) -> Int64) throws
        -> Runner.Result
    {
        let keys = (0..<assignment.calls).map(key)
        let (seconds, check) = try measure(repetitions: assignment.repetitions, prepare: {}) {
            try pool.read { db in try keys.reduce(0) { try $0 &+ (Player.fetchOne(db, id: $1)?.check ?? 0) } }
        }
        return Runner.Result(seconds: seconds, check: check, operations: keys.count)
    }

    /// Fetches rows by key, each in its own read, with one write transaction after every hundred reads.
    private static func readsBesideWrites(_ assignment: Assignment, _ pool: DatabasePool) throws
        -> Runner.Result
    {
        let keys = (0..<assignment.calls).map(assignment.recentKey)
        let (seconds, check) = try measure(repetitions: assignment.repetitions, prepare: {}) {
            var sum: Int64 = 0
            for (index, key) in keys.enumerated() {
                sum &+= try pool.read { db in try Player.fetchOne(db, id: key) }?.id ?? 0
                if index.isMultiple(of: 100) { try update(pool, [key]) }
            }
            return sum
        }
        return Runner.Result(seconds: seconds, check: check, operations: keys.count)
    }

    /// Runs transactions that update one row each.
    private static func writes(_ assignment: Assignment, _ pool: DatabasePool) throws -> Runner.Result {
        let keys = (0..<assignment.calls).map(assignment.scatteredKey)
        let (seconds, check) = try measure(repetitions: assignment.repetitions, prepare: {}) {
            for key in keys { try update(pool, [key]) }
            return 0
        }
        return Runner.Result(seconds: seconds, check: check, operations: keys.count)
    }

    /// Runs transactions that update rows in as many pages. Measures the time of most of them, and of those
    /// that checkpoint the log.
    private static func log(_ assignment: Assignment, _ pool: DatabasePool) throws -> Runner.Result {
        let size = assignment.rowsPerTransaction
        let count = max(assignment.calls / size, 10)
        var times: [Double] = []
        times.reserveCapacity(count)
        for transaction in 0..<count {
            let keys = (0..<size).map { assignment.scatteredKey(transaction * size + $0) }
            let start = ContinuousClock.now
            try update(pool, keys)
            times.append((ContinuousClock.now - start) / .seconds(1))
        }
        let log = try Files.size(of: assignment.playerFile + "-wal")
        let sorted = times.sorted()
        return Runner.Result(
            seconds: [times.reduce(0, +)], check: 0, operations: count,
            figures: [
                .half: median(times), .ninetyNine: sorted[min(count * 99 / 100, count - 1)],
                .slowest: sorted[count - 1],
                .log: Double(log),
            ])
    }

    /// Updates rows. Each row gets a new value, because the engine does not write a page whose content is
    /// unchanged.
    private static func update(_ pool: DatabasePool, _ keys: [Int64]) throws {
        try pool.write { db in
            for key in keys {
                try db.execute(sql: "UPDATE player SET score = score + 1 WHERE id = ?", arguments: [key])
            }
        }
    }

    // MARK: Statements

    /// Typical statements, keyed by the last part of a workload's name.
    private static let typicalStatements = [
        "key": "SELECT * FROM player WHERE id = ?",
        "join": """
        SELECT a.id, a.name, b.name, count(*) FROM player a JOIN player b ON b.id = a.score + 1
        WHERE a.team = ? AND a.rating > ? GROUP BY a.team HAVING count(*) > 1 ORDER BY a.name LIMIT 10
        """,
        "list":
            "SELECT * FROM player WHERE id IN (\(Array(repeating: "?", count: 500).joined(separator: ",")))",
    ]

    /// Measures the time to get a statement from its text, prepared each time or cached; or the memory of a
    /// cached statement.
    private static func statements(_ assignment: Assignment, _ pool: DatabasePool) throws -> Runner.Result? {
        let words = assignment.workload.split(separator: "-").map(String.init)
        guard words.count == 3, let sql = typicalStatements[words[2]] else { return nil }
        return try pool.read { db in
            func measured(_ count: Int, _ work: () throws -> Void) throws -> Runner.Result {
                let (seconds, check) = try measure(repetitions: assignment.repetitions, prepare: {}) {
                    for _ in 0..<count { try work() }
                    return 0
                }
                return Runner.Result(seconds: seconds, check: check, operations: count)
            }
            switch words[1] {
            case "prepared":
                return try measured(max(assignment.calls / 10, 10)) { _ = try db.makeStatement(sql: sql) }
            case "kept": return try measured(assignment.calls) { _ = try db.cachedStatement(sql: sql) }
            case "memory":
                // Kept alive here, because the cache drops long statements.
                let count = 400
                _ = try db.makeStatement(sql: sql)
                let before = Memory.own
                let statements = try (0..<count).map { try db.makeStatement(sql: "\(sql) /* \($0) */") }
                let bytes = withExtendedLifetime(statements) { Memory.own - before }
                return Runner.Result(
                    seconds: [], check: 0, operations: 1, figures: [.bytes: Double(bytes) / Double(count)])
            default: return nil
            }
        }
    }
}
