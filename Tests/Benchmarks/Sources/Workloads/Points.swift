import BenchKit
#if GRDB
import GRDB
#else
import Coffer
#endif

/// Workloads on single rows of a table of any size, with an index on names.
enum Points {
    static func run(_ assignment: Assignment) throws -> Runner.Result? {
        guard assignment.workload.hasPrefix("point-") else { return nil }
        let pool = try DatabasePool(path: assignment.playerFile, configuration: Engine.rawKeyed())
        let outcome = try reading(assignment, pool) ?? writing(assignment, pool)
        // Checkpoints the write-ahead log, so that every runner starts with the same file.
        try pool.close()
        guard let outcome else { throw Mistake(description: "there is no workload \(assignment.workload)") }
        return outcome
    }

    private static func reading(_ assignment: Assignment, _ pool: DatabasePool) throws -> Runner.Result? {
        let keys = (0..<assignment.calls).map(assignment.key)
        func measured(_ work: () throws -> Int64) throws -> Runner.Result {
            let (seconds, check) = try measure(repetitions: assignment.repetitions, prepare: {}, work: work)
            return Runner.Result(seconds: seconds, check: check, operations: keys.count)
        }
        switch assignment.workload {
        case "point-key":
            return try measured {
                try pool.read { db in
                    try keys.reduce(0) { try $0 &+ (Player.fetchOne(db, id: $1)?.check ?? 0) }
                }
            }
        case "point-own-read":
            return try measured {
                try keys.reduce(0) { sum, key in
                    try sum &+ (pool.read { try Player.fetchOne($0, id: key) }?.check ?? 0)
                }
            }
        case "point-name":
            let names = keys.map(Equal.name)
            return try measured {
                try pool.read { db in
                    try names.reduce(0) {
                        try $0 &+ (Player.filter(Column("name") == $1).fetchOne(db)?.check ?? 0)
                    }
                }
            }
        default: return nil
        }
    }

    private static func writing(_ assignment: Assignment, _ pool: DatabasePool) throws -> Runner.Result? {
        let players = (0..<assignment.pointWriteCount).map { Player(number: assignment.key($0)) }
        func measured(prepare: () throws -> Void, _ work: (Database, Player) throws -> Void) throws
            -> Runner.Result
        {
            let (seconds, _) = try measure(repetitions: assignment.repetitions, prepare: prepare) {
                for player in players { try pool.write { try work($0, player) } }
                return 0
            }
            return Runner.Result(seconds: seconds, check: 0, operations: players.count)
        }
        func inOneTransaction(_ work: (Database, Player) throws -> Void) throws {
            try pool.write { db in
                for player in players { try work(db, player) }
            }
        }
        func sum() throws -> Int64 {
            try pool.read { db in
                try players.reduce(0) { try $0 &+ (Player.fetchOne(db, id: $1.id)?.check ?? 0) }
            }
        }
        switch assignment.workload {
        case "point-insert":
            var outcome = try measured(
                prepare: {
                    try inOneTransaction { db, player in _ = try Player.deleteOne(db, id: player.id) }
                },
                { db, player in try player.insert(db) })
            outcome.check = try sum()
            return outcome
        case "point-update":
            // The values differ in each repetition, because the engine does not write a page whose content is
            // unchanged.
            var addedBonus = 20
            var outcome = try measured(
                prepare: { addedBonus = 30 - addedBonus },
                { db, player in
                    var player = player
                    player.bonus += addedBonus
                    try player.update(db)
                })
            outcome.check = try sum()
            return outcome
        case "point-delete":
            var deleted = false
            var outcome = try measured(
                prepare: {
                    if deleted { try inOneTransaction { db, player in try player.insert(db) } }
                    deleted = true
                },
                { db, player in _ = try Player.deleteOne(db, id: player.id) })
            outcome.check = Int64(try pool.read { try Player.fetchCount($0) })
            try inOneTransaction { db, player in try player.insert(db) }
            return outcome
        default: return nil
        }
    }
}
