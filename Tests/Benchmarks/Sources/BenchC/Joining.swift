import BenchKit
import Loops

/// The C loops over several tables.
enum Joining {
    static func prepare(_ assignment: Assignment) {
        let db = BenchC.open(assignment.joinsFile)
        loop_execute(db, Joins.schema)
        loop_execute(db, Joins.insert(items: assignment.items))
        loop_execute(db, "PRAGMA wal_checkpoint(TRUNCATE)")
        loop_close(db)
    }

    static func run(_ assignment: Assignment) throws -> Outcome? {
        let (owners, items) = (Int64(assignment.owners), Int64(assignment.items))
        func reading(_ operations: Int, _ work: (OpaquePointer?) -> Int64) throws -> Outcome {
            let db = BenchC.open(assignment.joinsFile)
            defer { loop_close(db) }
            let (seconds, check) = try measure(
                repetitions: assignment.repetitions, prepare: {}, work: { work(db) })
            return Outcome(seconds: seconds, check: check, operations: operations)
        }
        switch assignment.workload {
        case "join-struct", "join-codable":
            return try reading(assignment.items) { loop_join($0, Joins.itemsWithOwners, items) }
        case "join-count":
            return try reading(assignment.owners) { loop_counts($0, Joins.ownersWithCounts, owners) }
        case "join-request":
            let count = assignment.joinedRequests
            return try reading(count) { loop_join_keys($0, Joins.itemOfKey, items, Int64(count)) }
        case "all-struct", "all-codable":
            return try reading(assignment.items) { loop_prefetch($0, owners, items) }
        case "all-tenth":
            let owners = assignment.someOwners
            let items = owners * Joins.itemsOfOwner
            return try reading(items) { loop_prefetch($0, Int64(owners), Int64(items)) }
        default: return nil
        }
    }
}
