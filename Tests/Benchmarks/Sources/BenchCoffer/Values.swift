import BenchKit
import Coffer

/// A workload without a counterpart in GRDB: statement values that are bound without an array of arguments.
enum Values {
    static func run(_ assignment: Assignment) throws -> Runner.Result? {
        guard assignment.workload == "insert-values" else { return nil }
        let players = (1...Int64(assignment.rows)).map(Player.init(number:))
        return try Writing.measured(assignment, assignment.rows) { pool in
            try pool.write { db in
                let statement = try db.makeStatement(sql: Equal.insert)
                for player in players {
                    try statement.execute(
                        values: player.id, player.name, player.team, player.score, player.rating, player.bonus
                    )
                }
            }
        }
    }
}
