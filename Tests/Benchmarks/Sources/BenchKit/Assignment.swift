import Foundation

/// The command line of a runner: `runner WORKLOAD --folder F --rows N --calls N --repetitions R`.
public struct Assignment: Sendable {
    public var workload: String

    /// The folder of the files. It contains `player.db`, the encrypted file that all runners read.
    public var folder: String

    /// The number of rows in the table, and of rows that are inserted.
    public var rows: Int

    /// The number of single rows that are fetched by key.
    public var calls: Int

    public var repetitions: Int

    /// True if the preparation creates the large file.
    public var makesLargeFile: Bool

    /// The number of transactions that write one row. It is a tenth if a hundred observers fetch after each
    /// of them.
    public var transactionCount: Int { max(rows / (workload == "write-seen-100" ? 200 : 20), 10) }

    /// The number of distinct single rows of a large table that are written, each in its own transaction.
    public var pointWriteCount: Int { max(min(calls / 10, rows / 2), 1) }

    /// The page cache of a connection in bytes, for workloads that vary it.
    public var pageCacheSize: Int

    /// The number of pages in the write-ahead log at which a commit checkpoints it, for workloads that vary
    /// it.
    public var checkpointPages: Int

    /// The number of rows that a transaction writes, for workloads that vary it.
    public var rowsPerTransaction: Int

    public var playerFile: String { folder + "/player.db" }

    /// A file with ten times as many rows, for workloads measured in megabytes per second.
    public var largeFile: String { folder + "/large.db" }

    public init(arguments: [String] = CommandLine.arguments) throws {
        var values: [String: String] = [:]
        var rest = arguments.dropFirst(2)
        while let name = rest.popFirst() {
            guard name.hasPrefix("--"), let value = rest.popFirst() else {
                throw Mistake(description: "unexpected argument \(name)")
            }
            values[String(name.dropFirst(2))] = value
        }
        guard arguments.count > 1, let folder = values["folder"] else {
            throw Mistake(
                description: "usage: runner WORKLOAD --folder F [--rows N] [--calls N] [--repetitions R]")
        }
        workload = arguments[1]
        self.folder = folder
        rows = values["rows"].flatMap { Int($0) } ?? 100_000
        calls = values["calls"].flatMap { Int($0) } ?? rows
        makesLargeFile = values["large"] != "no"
        repetitions = values["repetitions"].flatMap { Int($0) } ?? 3
        pageCacheSize = values["cache"].flatMap { Int($0) } ?? 16 << 20
        checkpointPages = values["checkpoint"].flatMap { Int($0) } ?? 1000
        rowsPerTransaction = values["group"].flatMap { Int($0) } ?? 1
    }

    /// The path of a file that does not exist.
    public func freshFile() -> String { "\(folder)/\(UUID().uuidString).db" }

    /// Copies and syncs a file, and returns the path of the copy. The sync keeps later measurements from
    /// waiting for the disk.
    public func freshCopy(of path: String) throws -> String {
        let copy = freshFile()
        try FileManager.default.copyItem(atPath: path, toPath: copy)
        guard let file = FileHandle(forUpdatingAtPath: copy) else {
            throw Mistake(description: "the copy cannot be opened")
        }
        try file.synchronize()
        try file.close()
        return copy
    }

    /// Returns keys in an order that no cache can predict, identical in every runner.
    public func key(_ index: Int) -> Int64 { Int64((index &* 7919) % rows) + 1 }

    /// Returns random keys, with a uniform distribution.
    public func scatteredKey(_ index: Int) -> Int64 {
        Int64(truncatingIfNeeded: scatter(index) % UInt64(rows)) + 1
    }

    /// Returns random keys, nine of ten of them in the last tenth of the rows, as if new rows were requested
    /// most often.
    public func recentKey(_ index: Int) -> Int64 {
        let recent = max(rows / 10, 1)
        let number = scatter(index)
        guard number % 10 != 0 else { return scatteredKey(index &+ 1) }
        return Int64(rows - recent) + Int64(truncatingIfNeeded: (number / 10) % UInt64(recent)) + 1
    }

    /// Returns a pseudorandom number that is the same for the same index in every process.
    private func scatter(_ index: Int) -> UInt64 {
        var number = (UInt64(truncatingIfNeeded: index) &+ 1) &* 0x9e37_79b9_7f4a_7c15
        number = (number ^ (number >> 30)) &* 0xbf58_476d_1ce4_e5b9
        number = (number ^ (number >> 27)) &* 0x94d0_49bb_1331_11eb
        return number ^ (number >> 31)
    }

    /// Removes the files of a repetition.
    public func remove(_ path: String) {
        for suffix in ["", "-wal", "-shm", "-journal"] {
            try? FileManager.default.removeItem(atPath: path + suffix)
        }
    }
}

public struct Mistake: Error, CustomStringConvertible {
    public var description: String
    public init(description: String) { self.description = description }
}

/// The key and the settings of every connection of every runner.
public enum Equal {
    public static let rawKey = [UInt8](repeating: 0x5a, count: 32)
    public static let rawKeyText = "x'" + String(repeating: "5a", count: 32) + "'"
    public static let passphrase = "correct horse battery staple"

    /// 16 MB of page cache, and the synchronous mode recommended for a write-ahead log.
    public static let pragmas =
        "PRAGMA cache_size = -16000; PRAGMA synchronous = NORMAL; PRAGMA temp_store = MEMORY;"

    /// The same settings with 1 MB of page cache, which a tenth of the rows fills, so that the cache does not
    /// grow after that.
    public static let smallCachePragmas = pragmas + "PRAGMA cache_size = -1000;"

    public static let schema = """
        CREATE TABLE player (
            id INTEGER PRIMARY KEY, name TEXT NOT NULL, team TEXT, score INTEGER NOT NULL, rating REAL NOT \
        NULL, bonus INTEGER NOT NULL)
        """
    public static let insert =
        "INSERT INTO player (id, name, team, score, rating, bonus) VALUES (?, ?, ?, ?, ?, ?)"

    public static let update =
        "UPDATE player SET name = ?2, team = ?3, score = ?4, rating = ?5, bonus = ?6 WHERE id = ?1"
    public static let index = "CREATE INDEX player_on_name ON player (name)"

    /// Creates the players 1 to `count` in SQL, identical to those that the functions below make.
    public static func insertPlayers(_ count: Int) -> String {
        """
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT \(count))
        INSERT INTO player
        SELECT i, 'Player number ' || i, CASE WHEN i % 4 = 0 THEN NULL ELSE 'Team ' || (i % 16) END, i * 31 \
        % 1000, i % 500 / 4.0, i % 7 FROM n
        """
    }

    /// Reads every row, and so fills the page cache.
    public static let readAll = "SELECT sum(score + length(name)) FROM player"

    public static func name(_ id: Int64) -> String { "Player number \(id)" }
    public static func team(_ id: Int64) -> String? { id % 4 == 0 ? nil : "Team \(id % 16)" }
    public static func score(_ id: Int64) -> Int64 { id &* 31 % 1000 }
    public static func rating(_ id: Int64) -> Double { Double(id % 500) / 4 }
    public static func bonus(_ id: Int64) -> Int64 { id % 7 }
}

/// Returns the contribution of a row to the check sum of a workload.
@inlinable
public func check(
    _ id: Int64, _ nameLength: Int, _ teamLength: Int, _ score: Int64, _ rating: Double, _ bonus: Int64
) -> Int64 {
    id &+ Int64(nameLength) &+ Int64(teamLength) &+ score &+ Int64(rating * 4) &+ bonus
}
