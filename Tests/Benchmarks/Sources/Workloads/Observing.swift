import BenchKit
import Foundation
#if GRDB
import GRDB
#else
import Coffer
#endif

/// The cost of observations for writers, and the latency of their values.
enum Observing {
    static func run(_ assignment: Assignment) throws -> Runner.Result? {
        switch assignment.workload {
        case "write-other-1": return try commits(assignment, observed: "other", by: 1)
        case "write-other-100": return try commits(assignment, observed: "other", by: 100)
        case "write-seen-1": return try commits(assignment, observed: "player", by: 1)
        case "write-seen-100": return try commits(assignment, observed: "player", by: 100)
        case "write-to-value": return try latency(assignment)
        default: return nil
        }
    }

    /// Measures only the writer's time: it does not wait for values.
    private static func commits(_ assignment: Assignment, observed table: String, by count: Int) throws
        -> Runner.Result
    {
        let players = (1...Int64(assignment.transactionCount)).map(Player.init(number:))
        return try Writing.measured(
            assignment, players.count,
            observe: { pool in try (0..<count).map { _ in try start(pool, table, Arrival()) } },
            { pool in
                for player in players { try insert(player, pool) }
            })
    }

    /// Measures the latency: each transaction waits for the value of the one before.
    private static func latency(_ assignment: Assignment) throws -> Runner.Result {
        let players = (1...Int64(assignment.transactionCount)).map(Player.init(number:))
        let arrival = Arrival()
        return try Writing.measured(
            assignment, players.count,
            observe: { pool in
                arrival.reset()
                return [try start(pool, "player", arrival)]
            },
            { pool in
                for player in players {
                    try insert(player, pool)
                    arrival.wait(for: player.id)
                }
            })
    }

    private static func insert(_ player: Player, _ pool: DatabasePool) throws {
        try pool.write { db in
            try db.execute(
                sql: Equal.insert,
                arguments: [player.id, player.name, player.team, player.score, player.rating, player.bonus])
        }
    }

    /// Starts an observation, and waits for its first value.
    private static func start(_ pool: DatabasePool, _ table: String, _ arrival: Arrival) throws
        -> AnyDatabaseCancellable
    {
        try pool.write { try $0.execute(sql: "CREATE TABLE IF NOT EXISTS other (id INTEGER PRIMARY KEY)") }
        let observation = ValueObservation.tracking { db in
            try Int64.fetchOne(db, sql: "SELECT ifnull(max(id), 0) FROM \(table)") ?? 0
        }
        let cancellable = observation.start(
            in: pool, scheduling: .async(onQueue: queue), onError: { fatalError("\($0)") },
            onChange: { arrival.note($0) })
        arrival.wait(for: 0)
        return cancellable
    }

    private static let queue = DispatchQueue(label: "values")
}

/// The greatest value that an observation has delivered, and a way to wait for it.
// @unchecked: the value is used with the condition locked.
private final class Arrival: @unchecked Sendable {
    private let condition = NSCondition()
    private var greatest: Int64 = -1

    func note(_ value: Int64) {
        condition.lock()
        greatest = max(greatest, value)
        condition.broadcast()
        condition.unlock()
    }

    func wait(for value: Int64) {
        condition.lock()
        while greatest < value { condition.wait() }
        condition.unlock()
    }

    func reset() {
        condition.lock()
        greatest = -1
        condition.unlock()
    }
}
