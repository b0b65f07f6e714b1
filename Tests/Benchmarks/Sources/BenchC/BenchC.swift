import BenchKit
import CSQLCipher
import Foundation
import Loops

/// The runner of the C loops.
@main
enum BenchC {
    static func main() throws {
        let assignment = try Assignment()
        switch assignment.workload {
        case "prepare": return prepare(assignment)
        case "prepare-points": return Points.prepare(assignment)
        default: break
        }
        let outcome =
            try Points.run(assignment) ?? Joining.run(assignment) ?? Footprint.run(assignment)
            ?? run(assignment)
        let measurement = Measurement(
            workload: assignment.workload, outcome: outcome, engine: engine(assignment))
        print(String(decoding: try JSONEncoder().encode(measurement), as: UTF8.self))
    }

    /// Creates the file that all runners read.
    static func prepare(_ assignment: Assignment) {
        let db = open(assignment.playerFile)
        loop_execute(db, Equal.schema)
        withPlayers(1...Int64(assignment.rows)) { players in
            _ = loop_insert(db, Equal.insert, players, Int64(assignment.rows))
        }
        loop_execute(db, "PRAGMA wal_checkpoint(TRUNCATE)")
        loop_close(db)
        Joining.prepare(assignment)
        guard assignment.makesLargeFile else { return }
        let large = open(assignment.largeFile)
        loop_execute(large, Equal.schema)
        loop_execute(large, Equal.insertPlayers(assignment.rows * 10))
        loop_execute(large, "PRAGMA wal_checkpoint(TRUNCATE)")
        loop_close(large)
        let other = loop_open(
            assignment.folder + "/passphrase.db", Equal.passphrase, Int32(Equal.passphrase.utf8.count),
            Equal.pragmas)
        loop_execute(other, "CREATE TABLE t (a); INSERT INTO t VALUES (1)")
        loop_close(other)
    }

    static func run(_ assignment: Assignment) throws -> Outcome {
        let rows = Int64(assignment.rows)
        let file = assignment.playerFile
        func reading(_ operations: Int, _ work: (OpaquePointer?) -> Int64) throws -> Outcome {
            let db = open(file)
            defer { loop_close(db) }
            let (seconds, check) = try measure(
                repetitions: assignment.repetitions, prepare: {}, work: { work(db) })
            return Outcome(seconds: seconds, check: check, operations: operations)
        }
        func writing(_ count: Int, _ work: (OpaquePointer?, UnsafePointer<player>?) -> Int64) throws
            -> Outcome
        {
            try withPlayers(1...Int64(count)) { players in
                var last: (db: OpaquePointer?, path: String)?
                func end() {
                    guard let made = last else { return }
                    loop_close(made.db)
                    assignment.remove(made.path)
                }
                defer { end() }
                let (seconds, _) = try measure(
                    repetitions: assignment.repetitions,
                    prepare: {
                        end()
                        let path = assignment.freshFile()
                        let db = open(path)
                        loop_execute(db, Equal.schema)
                        last = (db, path)
                        return db
                    },
                    work: { work($0, players) })
                let sum =
                    "SELECT sum(id + length(name) + ifnull(length(team), 0) + score + CAST(rating * 4 AS "
                    + "INTEGER) + bonus) FROM player"
                return Outcome(seconds: seconds, check: loop_integer(last?.db, sum), operations: count)
            }
        }
        switch assignment.workload {
        case "open-pool":
            // One key derivation: the minimum that the engine itself needs for one connection.
            let path = assignment.folder + "/passphrase.db"
            let (seconds, check) = try measure(repetitions: assignment.repetitions, prepare: {}) {
                let db = loop_open(path, Equal.passphrase, Int32(Equal.passphrase.utf8.count), Equal.pragmas)
                defer { loop_close(db) }
                return 5 * loop_integer(db, "SELECT a FROM t")
            }
            return Outcome(seconds: seconds, check: check, operations: 1)
        case "insert-statement", "insert-values", "insert-struct", "insert-codable":
            return try writing(assignment.rows) { loop_insert($0, Equal.insert, $1, rows) }
        case "write-transaction", "write-transaction-alone", "write-other-1", "write-other-100",
            "write-seen-1", "write-seen-100":
            let count = assignment.transactionCount
            return try writing(count) { loop_insert_transactions($0, Equal.insert, $1, Int64(count)) }
        case "cursor-index", "cursor-name":
            return try reading(assignment.rows) { loop_scan($0, Int64.max) }
        case "fetch-struct", "fetch-codable", "first-struct", "first-codable":
            return try reading(assignment.rows) { loop_fetch_all($0, rows) }
        case "fetch-int":
            return try reading(assignment.rows) { loop_integers($0, rows) }
        case "fetch-string":
            return try reading(assignment.rows) { loop_strings($0, rows) }
        case "key-one-read", "request":
            return try reading(assignment.calls) { loop_keys($0, rows, Int64(assignment.calls), 0) }
        case "key-own-read", "key-own-read-alone", "await-sequential", "await-100":
            let count = max(assignment.calls / 10, 100)
            return try reading(count) { loop_keys($0, rows, Int64(count), 1) }
        case "backup", "backup-file":
            return try copying(assignment) { source, destination in loop_backup(source, destination) }
        case "rotate":
            return try rotating(assignment)
        case "verify", "verify-structure":
            let db = open(assignment.largeFile)
            defer { loop_close(db) }
            let (seconds, _) = try measure(repetitions: assignment.repetitions, prepare: {}) {
                if let finding = loop_text(db, "PRAGMA cipher_integrity_check") {
                    throw Mistake(description: String(cString: finding))
                }
                if assignment.workload == "verify-structure" {
                    guard let answer = loop_text(db, "PRAGMA quick_check"), strcmp(answer, "ok") == 0 else {
                        throw Mistake(description: "the structure is not right")
                    }
                }
                return 0
            }
            return Outcome(seconds: seconds, check: 0, operations: size(of: assignment.largeFile))
        default:
            throw Mistake(description: "there is no workload \(assignment.workload)")
        }
    }

    private static func copying(
        _ assignment: Assignment, _ work: (OpaquePointer?, OpaquePointer?) -> Int64
    ) throws -> Outcome {
        let source = open(assignment.largeFile)
        defer { loop_close(source) }
        var paths: [String] = []
        let (seconds, _) = try measure(
            repetitions: assignment.repetitions,
            prepare: {
                let path = assignment.freshFile()
                paths.append(path)
                return path
            },
            work: { path in
                let destination = open(path)
                defer { loop_close(destination) }
                return work(source, destination)
            })
        paths.forEach(assignment.remove)
        return Outcome(seconds: seconds, check: 0, operations: size(of: assignment.largeFile))
    }

    private static func rotating(_ assignment: Assignment) throws -> Outcome {
        var paths: [String] = []
        let newKey = "x'" + String(repeating: "a5", count: 32) + "'"
        let (seconds, _) = try measure(
            repetitions: assignment.repetitions,
            prepare: {
                let path = try assignment.freshCopy(of: assignment.largeFile)
                paths.append(path)
                return path
            },
            work: { path in
                let db = open(path)
                guard sqlite3_rekey(db, newKey, Int32(newKey.utf8.count)) == SQLITE_OK else {
                    throw Mistake(description: "rekey")
                }
                loop_execute(db, "PRAGMA wal_checkpoint(TRUNCATE)")
                loop_close(db)
                return 0
            })
        paths.forEach(assignment.remove)
        return Outcome(seconds: seconds, check: 0, operations: size(of: assignment.largeFile))
    }

    static func open(_ path: String, _ pragmas: String = Equal.pragmas) -> OpaquePointer? {
        loop_open(path, Equal.rawKeyText, Int32(Equal.rawKeyText.utf8.count), pragmas)
    }

    private static func engine(_ assignment: Assignment) -> String {
        let db = open(assignment.playerFile)
        defer { loop_close(db) }
        guard let text = loop_text(db, "PRAGMA cipher_version") else { return "" }
        defer { free(text) }
        return String(cString: text)
    }

    private static func size(of path: String) -> Int {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return attributes?[.size] as? Int ?? 0
    }

    /// Calls `body` with the players of these keys, which are valid during the call.
    static func withPlayers<Result>(
        _ ids: some Sequence<Int64>, addedBonus: Int64 = 0, _ body: (UnsafePointer<player>?) throws -> Result
    ) rethrows -> Result {
        var players = ids.map { id in
            player(
                id: id, name: strdup(Equal.name(id)), team: Equal.team(id).map { strdup($0) } ?? nil,
                score: Equal.score(id),
                rating: Equal.rating(id), bonus: Equal.bonus(id) + addedBonus)
        }
        defer {
            for player in players {
                free(player.name)
                free(player.team)
            }
        }
        return try players.withUnsafeMutableBufferPointer { try body(UnsafePointer($0.baseAddress)) }
    }
}
