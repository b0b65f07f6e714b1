import BenchKit
import Loops

/// Workloads on single rows of a table of any size, with an index on names.
enum Points {
    /// Creates the file without a journal, and enables the write-ahead log when it is complete.
    static func prepare(_ assignment: Assignment) {
        let db = BenchC.open(assignment.playerFile)
        loop_execute(db, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
        loop_execute(db, Equal.schema)
        loop_execute(db, Equal.insertPlayers(assignment.rows))
        loop_execute(db, Equal.index)
        loop_execute(db, "PRAGMA journal_mode = WAL")
        loop_close(db)
    }

    static func run(_ assignment: Assignment) throws -> Outcome? {
        guard assignment.workload.hasPrefix("point-") else { return nil }
        let rows = Int64(assignment.rows)
        let writeCount = assignment.pointWriteCount
        let db = BenchC.open(assignment.playerFile)
        defer { loop_close(db) }
        func measured(_ operations: Int, prepare: () -> Void = {}, _ work: () -> Int64) throws -> Outcome {
            var visited: Int64 = 0
            var decrypted: Int64 = 0
            let (seconds, check) = try measure(
                repetitions: assignment.repetitions,
                prepare: {
                    prepare()
                    loop_page_counts(db, &visited, &decrypted)
                },
                work: { work() })
            loop_page_counts(db, &visited, &decrypted)
            return Outcome(
                seconds: seconds, check: check, operations: operations,
                figures: [
                    .pagesVisited: Double(visited) / Double(operations),
                    .pagesDecrypted: Double(decrypted) / Double(operations),
                ])
        }
        func written(prepare: (UnsafePointer<player>?) -> Void, _ work: (UnsafePointer<player>?) -> Int64)
            throws -> Outcome
        {
            try BenchC.withPlayers((0..<writeCount).map(assignment.key)) { players in
                try measured(writeCount, prepare: { prepare(players) }, { work(players) })
            }
        }
        switch assignment.workload {
        case "point-key":
            return try measured(assignment.calls) { loop_keys(db, rows, Int64(assignment.calls), 0) }
        case "point-own-read":
            return try measured(assignment.calls) { loop_keys(db, rows, Int64(assignment.calls), 1) }
        case "point-name":
            return try BenchC.withPlayers((0..<assignment.calls).map(assignment.key)) { players in
                try measured(assignment.calls) { loop_names(db, players, Int64(assignment.calls)) }
            }
        case "point-insert":
            var outcome = try written(
                prepare: { _ = loop_delete_transactions(db, $0, Int64(writeCount)) },
                { loop_insert_transactions(db, Equal.insert, $0, Int64(writeCount)) })
            outcome.check = loop_keys(db, rows, Int64(writeCount), 0)
            return outcome
        case "point-update":
            // The values differ in each repetition, because the engine does not write a page whose content is
            // unchanged.
            let keys = (0..<writeCount).map(assignment.key)
            var outcome = try BenchC.withPlayers(keys, addedBonus: 10) { first in
                try BenchC.withPlayers(keys, addedBonus: 20) { second in
                    var players = second
                    return try measured(
                        writeCount, prepare: { players = players == first ? second : first },
                        { loop_insert_transactions(db, Equal.update, players, Int64(writeCount)) })
                }
            }
            outcome.check = loop_keys(db, rows, Int64(writeCount), 0)
            return outcome
        case "point-delete":
            var deleted = false
            let outcome = try written(
                prepare: { players in
                    if deleted { _ = loop_insert(db, Equal.insert, players, Int64(writeCount)) }
                    deleted = true
                },
                { loop_delete_transactions(db, $0, Int64(writeCount)) })
            let left = loop_integer(db, "SELECT count(*) FROM player")
            _ = BenchC.withPlayers((0..<writeCount).map(assignment.key)) {
                loop_insert(db, Equal.insert, $0, Int64(writeCount))
            }
            return Outcome(
                seconds: outcome.seconds, check: left, operations: outcome.operations,
                figures: outcome.figures)
        default:
            throw Mistake(description: "there is no workload \(assignment.workload)")
        }
    }
}
