import BenchKit
#if GRDB
import GRDB
#else
import Coffer
#endif

/// Workloads that read rows and values in one `read`, on a pool that is already open.
enum Reading {
    static func run(_ assignment: Assignment, _ pool: DatabasePool) throws -> Runner.Result? {
        let rows = assignment.rows
        func inOneRead(_ work: (Database) throws -> Int64) throws -> Runner.Result {
            let (seconds, check) = try measure(
                repetitions: assignment.repetitions, prepare: {}, work: { try pool.read(work) })
            return Runner.Result(seconds: seconds, check: check, operations: rows)
        }
        switch assignment.workload {
        case "cursor-index":
            return try inOneRead { db in try cursorByIndex(Row.fetchCursor(db, sql: "SELECT * FROM player")) }
        case "cursor-name": return try inOneRead(cursorByName)
        case "fetch-int":
            return try inOneRead { db in try Int64.fetchAll(db, sql: "SELECT score FROM player").reduce(0, &+)
            }
        case "fetch-string":
            return try inOneRead { db in
                try String.fetchAll(db, sql: "SELECT name FROM player").reduce(0) {
                    $0 &+ Int64($1.utf8.count)
                }
            }
        default: return nil
        }
    }

    static func cursorByIndex(_ rows: RowCursor) throws -> Int64 {
        var sum: Int64 = 0
        while let row = try rows.next() {
            let id: Int64 = row[0]
            let name: String = row[1]
            let team: String? = row[2]
            let score: Int64 = row[3]
            let rating: Double = row[4]
            let bonus: Int64 = row[5]
            sum &+= check(id, name.utf8.count, team?.utf8.count ?? 0, score, rating, bonus)
        }
        return sum
    }

    private static func cursorByName(_ db: Database) throws -> Int64 {
        var sum: Int64 = 0
        let rows = try Row.fetchCursor(db, sql: "SELECT * FROM player")
        while let row = try rows.next() {
            let id: Int64 = row["id"]
            let name: String = row["name"]
            let team: String? = row["team"]
            let score: Int64 = row["score"]
            let rating: Double = row["rating"]
            let bonus: Int64 = row["bonus"]
            sum &+= check(id, name.utf8.count, team?.utf8.count ?? 0, score, rating, bonus)
        }
        return sum
    }
}
