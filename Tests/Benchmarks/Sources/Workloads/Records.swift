import BenchKit
#if GRDB
import GRDB
#else
import Coffer
#endif

/// Workloads that read and write records.
enum Records {
    static func run(_ assignment: Assignment, _ pool: DatabasePool) throws -> Runner.Result? {
        let rows = assignment.rows
        func inOneRead(_ operations: Int, _ work: (Database) throws -> Int64) throws -> Runner.Result {
            let (seconds, check) = try measure(
                repetitions: assignment.repetitions, prepare: {}, work: { try pool.read(work) })
            return Runner.Result(seconds: seconds, check: check, operations: operations)
        }
        // A reader with an empty page cache, after another reader has read all pages.
        func inFreshReader(_ work: (Database) throws -> Int64) throws -> Runner.Result {
            let (seconds, check) = try measure(
                repetitions: assignment.repetitions,
                prepare: {
                    _ = try pool.read(work)
                    pool.invalidateReadOnlyConnections()
                    _ = try pool.read { try Int64.fetchOne($0, sql: "SELECT 1") }
                },
                work: { try pool.read(work) })
            return Runner.Result(seconds: seconds, check: check, operations: rows)
        }
        switch assignment.workload {
        case "fetch-struct":
            return try inOneRead(rows) { db in try Player.fetchAll(db).reduce(0) { $0 &+ $1.check } }
        case "fetch-codable":
            return try inOneRead(rows) { db in try CodablePlayer.fetchAll(db).reduce(0) { $0 &+ $1.check } }
        case "first-struct":
            return try inFreshReader { db in try Player.fetchAll(db).reduce(0) { $0 &+ $1.check } }
        case "first-codable":
            return try inFreshReader { db in try CodablePlayer.fetchAll(db).reduce(0) { $0 &+ $1.check } }
        case "key-one-read":
            return try inOneRead(assignment.calls) { db in
                var sum: Int64 = 0
                for index in 0..<assignment.calls {
                    sum &+= try Player.fetchOne(db, id: assignment.key(index))?.check ?? 0
                }
                return sum
            }
        case "request":
            return try inOneRead(assignment.calls) { db in
                var sum: Int64 = 0
                for index in 0..<assignment.calls {
                    sum &+= try Player.filter(Column("id") == assignment.key(index)).fetchOne(db)?.check ?? 0
                }
                return sum
            }
        case "key-own-read":
            let count = max(assignment.calls / 10, 100)
            let (seconds, check) = try measure(repetitions: assignment.repetitions, prepare: {}) {
                var sum: Int64 = 0
                for index in 0..<count {
                    sum &+=
                        try pool.read { db in try Player.fetchOne(db, id: assignment.key(index)) }?.check ?? 0
                }
                return sum
            }
            return Runner.Result(seconds: seconds, check: check, operations: count)
        case "insert-struct":
            let players = (1...Int64(rows)).map(Player.init(number:))
            return try Writing.measured(assignment, assignment.rows) { pool in
                try pool.write { db in
                    for player in players { try player.insert(db) }
                }
            }
        case "insert-codable":
            let players = (1...Int64(rows)).map(CodablePlayer.init(number:))
            return try Writing.measured(assignment, assignment.rows) { pool in
                try pool.write { db in
                    for player in players { try player.insert(db) }
                }
            }
        default: return nil
        }
    }

    static func runAwaiting(_ assignment: Assignment, _ pool: DatabasePool) async throws -> Runner.Result? {
        let count = max(assignment.calls / 10, 100)
        switch assignment.workload {
        case "await-sequential":
            let (seconds, check) = try await measure(repetitions: assignment.repetitions, prepare: {}) {
                var sum: Int64 = 0
                for index in 0..<count {
                    let key = assignment.key(index)
                    sum &+= try await pool.read { db in try Player.fetchOne(db, id: key) }?.check ?? 0
                }
                return sum
            }
            return Runner.Result(seconds: seconds, check: check, operations: count)
        case "await-100":
            let (seconds, check) = try await measure(repetitions: assignment.repetitions, prepare: {}) {
                try await withThrowingTaskGroup(of: Int64.self) { group in
                    for first in 0..<100 {
                        group.addTask {
                            var sum: Int64 = 0
                            for index in stride(from: first, to: count, by: 100) {
                                let key = assignment.key(index)
                                sum &+=
                                    try await pool.read { db in try Player.fetchOne(db, id: key) }?.check ?? 0
                            }
                            return sum
                        }
                    }
                    return try await group.reduce(0, &+)
                }
            }
            return Runner.Result(seconds: seconds, check: check, operations: count)
        default: return nil
        }
    }
}
