import BenchKit
#if GRDB
import GRDB
#else
import Coffer
#endif

/// The memory of a workload, beyond the memory of the process before it opens the file.
enum Footprint {
    static func run(_ assignment: Assignment) throws -> Runner.Result? {
        switch assignment.workload {
        case "memory-cursor": return try cursor(assignment)
        case "memory-pool": return try pool(assignment)
        default: return nil
        }
    }

    /// Iterates a cursor over a tenth of the rows, then one over all rows. The second one must not need more
    /// than the memory that is resident after the first one.
    private static func cursor(_ assignment: Assignment) throws -> Runner.Result {
        let before = Memory.resident
        let pool = try DatabasePool(
            path: assignment.largeFile, configuration: Engine.rawKeyed(Equal.smallCachePragmas))
        let tenth = try pool.read { db in
            try Reading.cursorByIndex(
                Row.fetchCursor(db, sql: "SELECT * FROM player WHERE id <= ?", arguments: [assignment.rows]))
        }
        let afterTenth = Memory.resident
        let all = try pool.read { db in
            try Reading.cursorByIndex(Row.fetchCursor(db, sql: "SELECT * FROM player"))
        }
        let peak = Memory.peak
        try pool.close()
        return Runner.Result(
            seconds: [], check: tenth &+ all, operations: 1,
            figures: [.bytes: Double(peak - before), .growth: Double(peak - afterTenth)])
    }

    /// Measures five idle readers that have read everything.
    private static func pool(_ assignment: Assignment) throws -> Runner.Result {
        let before = Memory.own
        let pool = try DatabasePool(path: assignment.largeFile, configuration: Engine.rawKeyed())
        let check = try pool.readAtOnce(5) { db in try Int64.fetchOne(db, sql: Equal.readAll) ?? 0 }
        let bytes = Memory.own - before
        try pool.close()
        return Runner.Result(seconds: [], check: check, operations: 1, figures: [.bytes: Double(bytes)])
    }
}
