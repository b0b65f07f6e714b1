import Coffer
import Foundation

/// A live leaderboard on an encrypted file: three tasks print their observations while another one writes.
///
///     swift run Leaderboard [rounds]
///
/// Exits with status 1 if a task has observed rounds out of order, or if its last output differs from the
/// content of the file.
@main
struct Leaderboard {
    static let names = ["Arthur", "Barbara", "Craig", "Danielle", "Elena", "Frank"]

    static func main() async {
        do {
            try await run(rounds: CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 20)
        } catch {
            FileHandle.standardError.write(Data("leaderboard: \(error)\n".utf8))
            exit(1)
        }
    }

    static func run(rounds: Int) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "leaderboard-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }

        var configuration = Configuration()
        configuration.key = .passphrase("correct horse battery staple")
        let pool = try DatabasePool(
            path: folder.appendingPathComponent("scores.db").path, configuration: configuration)
        try await pool.write { db in
            try db.execute(
                sql:
                    "CREATE TABLE player (name TEXT PRIMARY KEY, score INTEGER NOT NULL); CREATE TABLE game "
                    + "(round INTEGER)"
            )
            for name in names { try db.execute(sql: "INSERT INTO player VALUES (?, 0)", arguments: [name]) }
        }

        async let topThree = printTopThree(of: pool, until: rounds)
        async let leader = printLeader(of: pool, until: rounds)
        async let points = printProgress(of: pool, until: rounds)
        try await play(rounds, in: pool)
        let last = try await (topThree, leader, points)
        let stored = try await pool.read { db in
            (try Self.topThree(db), try Self.leader(db), try Self.points(db))
        }
        guard last == stored else {
            throw Failure("the last lines say \(last), and the file holds \(stored)")
        }
        print("The game is over. What the file holds:\n")
        try await pool.read { db in
            try db.dumpTables(["player"], format: .debug(header: true))
            try db.dumpRequest(
                Table("game").select(Column("round")).order(Column("round").desc).limit(3), format: .line())
        }
    }

    struct Failure: Error, CustomStringConvertible {
        let description: String

        init(_ description: String) { self.description = description }
    }

    /// The view that a task has of one state of the database.
    struct View<Content: Sendable & Equatable>: Sendable, Equatable {
        let round: Int
        let content: Content
    }

    static func round(_ db: Database) throws -> Int {
        try Int.fetchOne(db, sql: "SELECT MAX(round) FROM game") ?? 0
    }

    static func topThree(_ db: Database) throws -> [String] {
        try Row.fetchAll(db, sql: "SELECT name, score FROM player ORDER BY score DESC, name LIMIT 3")
            .map { "\($0["name"] as String) \($0["score"] as Int)" }
    }

    static func leader(_ db: Database) throws -> String {
        try String.fetchOne(db, sql: "SELECT name FROM player ORDER BY score DESC, name LIMIT 1") ?? "nobody"
    }

    static func points(_ db: Database) throws -> Int {
        try Int.fetchOne(db, sql: "SELECT SUM(score) FROM player") ?? 0
    }

    static func printTopThree(of pool: DatabasePool, until rounds: Int) async throws -> [String] {
        let observation = ValueObservation.tracking { db in
            View(round: try round(db), content: try topThree(db))
        }
        // Values that arrive while this one is printed are outdated, so only the newest is kept.
        return try await follow(
            observation.values(in: pool, bufferingPolicy: .bufferingNewest(1)), until: rounds
        ) { view in
            print("[top 3]    after round \(view.round): \(view.content.joined(separator: ", "))")
        }
    }

    static func printLeader(of pool: DatabasePool, until rounds: Int) async throws -> String {
        let observation = ValueObservation.tracking { db in
            View(round: try round(db), content: try leader(db))
        }
        .removeDuplicates { $0.content == $1.content && $1.round < rounds }
        return try await follow(observation.values(in: pool), until: rounds) { view in
            print("[leader]   since round \(view.round): \(view.content)")
        }
    }

    static func printProgress(of pool: DatabasePool, until rounds: Int) async throws -> Int {
        let observation = ValueObservation.tracking { db in
            View(round: try round(db), content: try points(db))
        }
        return try await follow(observation.values(in: pool), until: rounds) { view in
            print("[progress] \(view.round) of \(rounds) rounds, \(view.content) points")
        }
    }

    /// Shows each view up to the one of the last round, and returns the content of that view.
    static func follow<Content>(
        _ views: AsyncValueObservation<View<Content>>, until rounds: Int, show: (View<Content>) -> Void
    ) async throws -> Content {
        var last = -1
        for try await view in views {
            guard view.round >= last else { throw Failure("round \(view.round) came after round \(last)") }
            last = view.round
            show(view)
            if view.round == rounds { return view.content }
        }
        throw Failure("the values ended after round \(last)")
    }

    /// Runs one transaction for each round, so the scores always match the number of the round.
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
