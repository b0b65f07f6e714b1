import BenchKit
#if GRDB
import GRDB
#else
import Coffer
#endif

/// Workloads that write: each repetition writes to its own file, which is created and opened outside the
/// measured time.
enum Writing {
    static func run(_ assignment: Assignment) throws -> Runner.Result? {
        let rows = Int64(assignment.rows)
        switch assignment.workload {
        case "insert-statement":
            let players = (1...rows).map(Player.init(number:))
            return try measured(assignment, assignment.rows) { pool in
                try pool.write { db in
                    let statement = try db.makeStatement(sql: Equal.insert)
                    for player in players {
                        try statement.execute(arguments: [
                            player.id, player.name, player.team, player.score, player.rating, player.bonus,
                        ])
                    }
                }
            }
        case "write-transaction":
            let count = assignment.transactionCount
            let players = (1...Int64(count)).map(Player.init(number:))
            return try measured(assignment, count) { pool in
                for player in players {
                    try pool.write { db in
                        try db.execute(
                            sql: Equal.insert,
                            arguments: [
                                player.id, player.name, player.team, player.score, player.rating,
                                player.bonus,
                            ])
                    }
                }
            }
        default: return nil
        }
    }

    /// - Parameter observe: starts observations of the file, outside the measured time. They end with the
    ///   repetition.
    static func measured(
        _ assignment: Assignment, _ operations: Int,
        observe: (DatabasePool) throws -> [AnyDatabaseCancellable] = { _ in [] },
        _ work: (DatabasePool) throws -> Void
    ) throws -> Runner.Result {
        var last: (pool: DatabasePool, path: String, observations: [AnyDatabaseCancellable])?
        func end() throws {
            guard let made = last else { return }
            made.observations.forEach { $0.cancel() }
            try made.pool.close()
            assignment.remove(made.path)
            last = nil
        }
        let (seconds, _) = try measure(
            repetitions: assignment.repetitions,
            prepare: {
                try end()
                let path = assignment.freshFile()
                let pool = try DatabasePool(path: path, configuration: Engine.rawKeyed())
                try pool.write { try $0.execute(sql: Equal.schema) }
                last = (pool, path, try observe(pool))
                return pool
            },
            work: { pool in
                try work(pool)
                return 0
            })
        let sum =
            "SELECT sum(id + length(name) + ifnull(length(team), 0) + score + CAST(rating * 4 AS INTEGER) + "
            + "bonus) FROM player"
        let check = try last?.pool.read { try Int64.fetchOne($0, sql: sum) } ?? -1
        try end()
        return Runner.Result(seconds: seconds, check: check, operations: operations)
    }
}
