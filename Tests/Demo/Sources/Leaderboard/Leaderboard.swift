import Coffer
import Foundation

/// A live leaderboard on an encrypted file: three tasks print what they observe while another one writes.
///
///     swift run Leaderboard [rounds]
@main
struct Leaderboard {
    static let names = ["Arthur", "Barbara", "Craig", "Danielle", "Elena", "Frank"]

    static func main() async throws {
        let rounds = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 20
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("leaderboard-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }

        var configuration = Configuration()
        configuration.key = .passphrase("correct horse battery staple")
        let pool = try DatabasePool(path: folder.appendingPathComponent("scores.db").path, configuration: configuration)
        try await pool.write { db in
            try db.execute(sql: "CREATE TABLE player (name TEXT PRIMARY KEY, score INTEGER NOT NULL); CREATE TABLE game (round INTEGER)")
            for name in names { try db.execute(sql: "INSERT INTO player VALUES (?, 0)", arguments: [name]) }
        }

        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await printTopThree(of: pool, until: rounds) }
            group.addTask { try await printLeader(of: pool, until: rounds) }
            group.addTask { try await printProgress(of: pool, until: rounds) }
            group.addTask { try await play(rounds, in: pool) }
            try await group.waitForAll()
        }
        print("The game is over.")
    }

    /// What each task sees of one state of the database.
    struct View<Content: Sendable & Equatable>: Sendable, Equatable {
        let round: Int
        let content: Content
    }

    static func round(_ db: Database) throws -> Int {
        try Int.fetchOne(db, sql: "SELECT MAX(round) FROM game") ?? 0
    }

    static func printTopThree(of pool: DatabasePool, until rounds: Int) async throws {
        let observation = ValueObservation.tracking { db in
            let rows = try Row.fetchAll(db, sql: "SELECT name, score FROM player ORDER BY score DESC, name LIMIT 3")
            return View(round: try round(db), content: rows.map { "\($0["name"] as String) \($0["score"] as Int)" })
        }
        // Values that come while this one is printed are out of date: only the newest is kept.
        for try await view in observation.values(in: pool, bufferingPolicy: .bufferingNewest(1)) {
            print("[top 3]    after round \(view.round): \(view.content.joined(separator: ", "))")
            if view.round == rounds { break }
        }
    }

    static func printLeader(of pool: DatabasePool, until rounds: Int) async throws {
        let observation = ValueObservation.tracking { db in
            View(
                round: try round(db),
                content: try String.fetchOne(db, sql: "SELECT name FROM player ORDER BY score DESC, name LIMIT 1") ?? "nobody")
        }.removeDuplicates { $0.content == $1.content && $1.round < rounds }
        for try await view in observation.values(in: pool) {
            print("[leader]   since round \(view.round): \(view.content)")
            if view.round == rounds { break }
        }
    }

    static func printProgress(of pool: DatabasePool, until rounds: Int) async throws {
        let observation = ValueObservation.tracking { db in
            View(round: try round(db), content: try Int.fetchOne(db, sql: "SELECT SUM(score) FROM player") ?? 0)
        }
        for try await view in observation.values(in: pool) {
            print("[progress] \(view.round) of \(rounds) rounds, \(view.content) points")
            if view.round == rounds { break }
        }
    }

    /// One transaction for each round: scores and the number of the round always fit.
    static func play(_ rounds: Int, in pool: DatabasePool) async throws {
        for round in 1...rounds {
            try await pool.write { db in
                for _ in 1...3 {
                    try db.execute(
                        sql: "UPDATE player SET score = score + ? WHERE name = ?",
                        arguments: [Int.random(in: 1...50), names.randomElement() ?? names[0]])
                }
                try db.execute(sql: "INSERT INTO game VALUES (?)", arguments: [round])
            }
            try await Task.sleep(for: .milliseconds(50))
        }
    }
}
