import Foundation

/// What a runner is asked to do: `runner WORKLOAD --folder F --rows N --calls N --repetitions R`.
public struct Assignment: Sendable {
    public var workload: String

    /// Where files are made. `player.db` in it is the encrypted file that all runners read.
    public var folder: String

    /// How many rows the table has, and how many are inserted.
    public var rows: Int

    /// How many single rows are asked for by key.
    public var calls: Int

    public var repetitions: Int

    /// Whether the preparation makes the large file.
    public var makesLargeFile: Bool

    /// How many transactions of one row are written. With a hundred who fetch after each of them, a tenth as many.
    public var transactionCount: Int { max(rows / (workload == "write-seen-100" ? 200 : 20), 10) }

    public var playerFile: String { folder + "/player.db" }

    /// Ten times as many rows, for what is measured in megabytes a second.
    public var largeFile: String { folder + "/large.db" }

    public init(arguments: [String] = CommandLine.arguments) throws {
        var values: [String: String] = [:]
        var rest = arguments.dropFirst(2)
        while let name = rest.popFirst() {
            guard name.hasPrefix("--"), let value = rest.popFirst() else { throw Mistake(description: "unexpected argument \(name)") }
            values[String(name.dropFirst(2))] = value
        }
        guard arguments.count > 1, let folder = values["folder"] else {
            throw Mistake(description: "usage: runner WORKLOAD --folder F [--rows N] [--calls N] [--repetitions R]")
        }
        workload = arguments[1]
        self.folder = folder
        rows = values["rows"].flatMap { Int($0) } ?? 100_000
        calls = values["calls"].flatMap { Int($0) } ?? rows
        makesLargeFile = values["large"] != "no"
        repetitions = values["repetitions"].flatMap { Int($0) } ?? 3
    }

    /// The path of a file that does not exist.
    public func freshFile() -> String { "\(folder)/\(UUID().uuidString).db" }

    /// Keys in an order that no cache can guess, the same in every runner.
    public func key(_ index: Int) -> Int64 { Int64((index &* 7919) % rows) + 1 }

    /// Removes what a repetition has made.
    public func remove(_ path: String) {
        for suffix in ["", "-wal", "-shm", "-journal"] { try? FileManager.default.removeItem(atPath: path + suffix) }
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

    /// 16 MB of page cache and the synchronization that suits a write-ahead log.
    public static let pragmas = "PRAGMA cache_size = -16000; PRAGMA synchronous = NORMAL; PRAGMA temp_store = MEMORY;"

    public static let schema = """
        CREATE TABLE player (
            id INTEGER PRIMARY KEY, name TEXT NOT NULL, team TEXT, score INTEGER NOT NULL, rating REAL NOT NULL, bonus INTEGER NOT NULL)
        """
    public static let insert = "INSERT INTO player (id, name, team, score, rating, bonus) VALUES (?, ?, ?, ?, ?, ?)"

    public static func name(_ id: Int64) -> String { "Player number \(id)" }
    public static func team(_ id: Int64) -> String? { id % 4 == 0 ? nil : "Team \(id % 16)" }
    public static func score(_ id: Int64) -> Int64 { id &* 31 % 1000 }
    public static func rating(_ id: Int64) -> Double { Double(id % 500) / 4 }
    public static func bonus(_ id: Int64) -> Int64 { id % 7 }
}

/// What a row adds to the check of a workload.
@inlinable
public func check(_ id: Int64, _ nameLength: Int, _ teamLength: Int, _ score: Int64, _ rating: Double, _ bonus: Int64) -> Int64 {
    id &+ Int64(nameLength) &+ Int64(teamLength) &+ score &+ Int64(rating * 4) &+ bonus
}
