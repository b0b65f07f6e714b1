import Coffer
import CofferTestSupport
import Foundation

/// Runs random transactions with savepoints, failing statements, small caches and checkpoints until it is
/// killed.
///
/// Each transaction writes a row with its number and the expected content of the table. After each
/// acknowledged commit, the process prints the number, the row count, and the sum of the row versions.
struct Savepoints {
    private var random: SeededRandom
    private let writers: [DatabasePool]
    /// The expected versions of the rows, by their identifiers.
    private var model: [Int: Int] = [:]
    private var nextID = 1

    static func run(path: String, seed: UInt64) throws {
        var savepoints = try Savepoints(path: path, seed: seed)
        var number = 1
        while true {
            try savepoints.commit(number)
            number += 1
        }
    }

    private init(path: String, seed: UInt64) throws {
        random = SeededRandom(seed: seed, "savepoints")
        var configuration = Configuration.rawKeyed
        let pages = Int.random(in: 5...30, using: &random)
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA cache_size = \(pages)") }
        writers = [
            try DatabasePool(path: path, configuration: configuration),
            try DatabasePool(path: path, configuration: configuration),
        ]
        try writers[0].write { db in
            try db.execute(
                sql: """
                    CREATE TABLE item (id INTEGER PRIMARY KEY, word TEXT, version INTEGER, data BLOB);
                    CREATE INDEX item_word ON item (word);
                    CREATE TABLE transactions (number INTEGER PRIMARY KEY, rows INTEGER, versions INTEGER)
                    """)
        }
    }

    private mutating func commit(_ number: Int) throws {
        let writer = writers[Int.random(in: 0...3, using: &random) == 0 ? 1 : 0]
        if chance(5) { try writer.writeWithoutTransaction { try setUp($0) } }
        if chance(2) {
            try writer.write { try work($0, number) }
        } else {
            // A transaction whose outermost level is the savepoint.
            try writer.writeWithoutTransaction { db in
                try db.execute(sql: "SAVEPOINT outermost")
                let before = model
                if chance(2) {
                    try parts(db, depth: 1)
                    try db.execute(sql: "ROLLBACK TO outermost")
                    model = before
                }
                try work(db, number)
                try db.execute(sql: "RELEASE outermost")
            }
        }
        let line = "\(number) \(model.count) \(model.values.reduce(0, +))\n"
        FileHandle.standardOutput.write(Data(line.utf8))
    }

    private mutating func work(_ db: Database, _ number: Int) throws {
        try parts(db, depth: 0)
        try db.execute(
            sql: "INSERT INTO transactions VALUES (?, ?, ?)",
            arguments: [number, model.count, model.values.reduce(0, +)])
    }

    private mutating func parts(_ db: Database, depth: Int) throws {
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            switch Int.random(in: 0..<10, using: &random) {
            case 0...2: try insert(db)
            case 3: try change(db)
            case 4: try remove(db)
            case 5: fail(db)
            case 6...8 where depth < 3: try savepoint(db, depth)
            default: try insert(db, Int.random(in: 1...3, using: &random))
            }
        }
    }

    private mutating func savepoint(_ db: Database, _ depth: Int) throws {
        let before = model
        let name = "s\(depth)"
        try db.execute(sql: "SAVEPOINT \(name)")
        try parts(db, depth: depth + 1)
        if chance(2) {
            try db.execute(sql: "ROLLBACK TO \(name)")
            model = before
            if chance(2) { try parts(db, depth: depth + 1) }
        }
        try db.execute(sql: "RELEASE \(name)")
    }

    private mutating func insert(_ db: Database, _ wanted: Int? = nil) throws {
        let count = wanted ?? Int.random(in: 1...300, using: &random)
        try db.execute(
            sql: """
                WITH RECURSIVE n(i) AS (SELECT ? UNION ALL SELECT i + 1 FROM n LIMIT ?)
                INSERT INTO item SELECT i, hex(randomblob(20)), 1, randomblob(300) FROM n
                """, arguments: [nextID, count])
        for id in nextID..<nextID + count { model[id] = 1 }
        nextID += count
    }

    private mutating func change(_ db: Database) throws {
        let part = Int.random(in: 0..<3, using: &random)
        try db.execute(
            sql: "UPDATE item SET version = version + 1, word = hex(randomblob(20)) WHERE id % 3 = ?",
            arguments: [part])
        for id in model.keys where id % 3 == part { model[id]? += 1 }
    }

    private mutating func remove(_ db: Database) throws {
        let part = Int.random(in: 0..<4, using: &random)
        try db.execute(sql: "DELETE FROM item WHERE id % 4 = ?", arguments: [part])
        model = model.filter { $0.key % 4 != part }
    }

    /// Inserts many rows, the last of which violates a constraint.
    private mutating func fail(_ db: Database) {
        try? db.execute(
            sql: """
                WITH RECURSIVE n(i) AS (SELECT ? UNION ALL SELECT i + 1 FROM n LIMIT ?)
                INSERT INTO item SELECT min(i, ?), hex(randomblob(20)), 1, randomblob(300) FROM n
                """,
            arguments: { (id: Int, count: Int) in [id, count, id + count - 2] }(
                nextID, Int.random(in: 2...400, using: &random)))
    }

    private mutating func setUp(_ db: Database) throws {
        switch Int.random(in: 0..<3, using: &random) {
        case 0: try db.execute(sql: "PRAGMA cache_spill = \(Int.random(in: 1...40, using: &random))")
        case 1: try db.execute(sql: "PRAGMA cache_size = \(Int.random(in: 5...60, using: &random))")
        default:
            let kinds: [Database.CheckpointMode] = [.passive, .full, .restart, .truncate]
            // Another connection may have a reader at the end of the WAL.
            _ = try? db.checkpoint(kinds[Int.random(in: 0..<4, using: &random)])
        }
    }

    private mutating func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &random) == 0 }
}
