import Coffer
import CofferTestSupport
import Foundation

/// Rotations that wait for all accesses of a pool, while other processes open the database, write and close
/// it. At the end, no commit that was reported to a process may be missing.
enum VisitWork {
    private static func configuration(_ key: String, _ other: String) -> Configuration {
        var configuration = RotationWork.configuration(key)
        configuration.previousKeys = RotationWork.configuration(other).key.map { [$0] } ?? []
        configuration.busyMode = .timeout(10)
        return configuration
    }

    /// `visit PATH KEY KEY TELLER SECONDS`: Opens a pool or a queue in any journal mode, writes one to four
    /// rows, closes it, and starts over. Prints the number of each committed row.
    ///
    /// A row whose write fails is not committed: a rotation may be in the way or have changed the key.
    static func visit(_ arguments: [String]) throws {
        let (path, teller) = (arguments[0], Int(arguments[3]) ?? 0)
        let end = Date(timeIntervalSinceNow: Double(arguments[4]) ?? 0)
        var number = 0
        while Date() < end {
            do {
                let writer = try open(path, configuration(arguments[1], arguments[2]), number)
                for _ in 0...Int.random(in: 0...3) {
                    number += 1
                    try writer.write {
                        try $0.execute(
                            sql: "INSERT INTO visit (teller, number) VALUES (?, ?)",
                            arguments: [teller, number])
                    }
                    FileHandle.standardOutput.write(Data("\(number)\n".utf8))
                }
                try writer.close()
            } catch {
                usleep(1000)
            }
        }
    }

    private static func open(_ path: String, _ configuration: Configuration, _ number: Int) throws
        -> any DatabaseWriter
    {
        switch number % 3 {
        case 0: try DatabasePool(path: path, configuration: configuration)
        case 1: try DatabaseQueue(path: path, configuration: configuration)
        default:
            try DatabaseQueue(path: path, configuration: configuration.with { $0.journalMode = .wal })
        }
    }

    /// `visits PATH KEY KEY SECONDS COUNT`: Runs `COUNT` processes that visit a database while its key is
    /// rotated back and forth. Prints the numbers of committed rows, lost rows, completed rotations and busy
    /// rotations. Exits with 1 if any row is lost.
    static func visits(_ arguments: [String]) throws {
        let (path, count) = (arguments[0], Int(arguments[4]) ?? 1)
        let keys = [arguments[1], arguments[2]]
        let pool = try DatabasePool(path: path, configuration: configuration(keys[0], keys[1]))
        try pool.write {
            try $0.execute(
                sql: "CREATE TABLE visit (teller INTEGER, number INTEGER, PRIMARY KEY (teller, number))")
        }
        let end = Date(timeIntervalSinceNow: Double(arguments[3]) ?? 0)
        let visitors = try (1...count).map { teller in
            try WorkerProcess(
                "CrashWorker", ["visit", path, keys[0], keys[1], String(teller), arguments[3]])
        }
        var (rotations, busy, failures) = (0, 0, 0)
        while Date() < end {
            do {
                try pool.rotateKey(to: RotationWork.key(keys[(rotations + 1) % 2]))
                rotations += 1
            } catch let error as DatabaseFileError {
                if case .busy = error.reason { busy += 1 } else { failures += 1 }
                if error.isPublished { rotations += 1 }
                usleep(1000)
            }
        }
        for visitor in visitors where !visitor.wait() { failures += 1 }
        try pool.close()
        let known = try committed(path, configuration(keys[rotations % 2], keys[(rotations + 1) % 2]))
        var (all, lost) = (0, 0)
        for (teller, visitor) in visitors.enumerated() {
            let numbers = visitor.lines.compactMap { Int($0) }
            all += numbers.count
            lost += numbers.count { !known.contains("\(teller + 1) \($0)") }
        }
        print("\(all) committed, \(lost) lost, \(rotations) rotations, \(busy) busy, \(failures) failed")
        if lost > 0 || all == 0 { exit(1) }
    }

    private static func committed(_ path: String, _ configuration: Configuration) throws -> Set<String> {
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        return try queue.read {
            try String.fetchSet($0, sql: "SELECT teller || ' ' || number FROM visit")
        }
    }
}
