import Coffer
import CofferTestSupport
import Foundation
import Synchronization

/// Runs the commands on standard input and answers each with a line: `done`, a number, `busy`, or the code of
/// another error.
///
/// The commands work on a table `player`, in transactions: see `OtherProcess`.
enum Obey {
    static func run(path: String, access: String, patience: Double) throws {
        var configuration = Configuration.rawKeyed
        configuration.allowsUnsafeTransactions = true
        if patience > 0 { configuration.busyMode = .timeout(patience) }
        let writer: any DatabaseWriter =
            if access == Access.pool.rawValue {
                try DatabasePool(path: path, configuration: configuration)
            } else {
                try DatabaseQueue(path: path, configuration: configuration)
            }
        let pairs = Pairs(writer)
        while let command = readLine() {
            let answer: String
            do {
                answer = try obey(command, writer, pairs)
            } catch let error as DatabaseError {
                answer = error.resultCode == .SQLITE_BUSY ? "busy" : "error \(error.resultCode.rawValue)"
            }
            FileHandle.standardOutput.write(Data("\(answer)\n".utf8))
            if command == "quit" { return }
        }
    }

    private static func obey(_ command: String, _ writer: any DatabaseWriter, _ pairs: Pairs) throws -> String
    {
        switch command {
        case "hello", "quit": break
        // Transactions, whole and in parts.
        case "insert": try writer.write(insert)
        case "delete": try writer.write { try $0.execute(sql: "DELETE FROM player") }
        case "alter": try writer.write { try $0.execute(sql: "ALTER TABLE player ADD COLUMN score INTEGER") }
        case "begin": try writer.writeWithoutTransaction { try $0.beginTransaction(.immediate) }
        case "part": try writer.writeWithoutTransaction(insert)
        case "commit": try writer.writeWithoutTransaction { try $0.commit() }
        case "rollback": try writer.writeWithoutTransaction { try $0.rollback() }
        case "checkpoint": try writer.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
        case "vacuum": try writer.vacuum()
        case "count":
            return "\(try writer.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM player") } ?? -1)"
        // Two rows in each transaction, as fast as possible, until `end pairs`.
        case "pairs": pairs.begin()
        case "end pairs": return "\(try pairs.end())"
        default: throw CocoaError(.featureUnsupported)
        }
        return "done"
    }

    private static func insert(_ db: Database) throws {
        try db.execute(sql: "INSERT INTO player DEFAULT VALUES")
    }
}

/// Writes two rows in each transaction, on a separate thread.
private final class Pairs: Sendable {
    private let writer: any DatabaseWriter
    private let isOver = Atomic<Bool>(false)
    private let hasEnded = DispatchSemaphore(value: 0)
    private let result = Mutex<Result<Int, any Error>?>(nil)

    init(_ writer: any DatabaseWriter) { self.writer = writer }

    func begin() {
        let thread = Thread { [self] in
            let outcome = Result { try write() }
            result.withLock { $0 = outcome }
            hasEnded.signal()
        }
        thread.start()
    }

    private func write() throws -> Int {
        var count = 0
        while !isOver.load(ordering: .relaxed) {
            try writer.write { db in
                for _ in 0..<2 { try db.execute(sql: "INSERT INTO player DEFAULT VALUES") }
            }
            count += 1
            // SQLite's waiters poll for the lock. Without any gap, they would get it only by luck.
            usleep(1000)
        }
        return count
    }

    /// Stops writing and returns the number of pairs written.
    func end() throws -> Int {
        isOver.store(true, ordering: .relaxed)
        hasEnded.wait()
        hasEnded.signal()
        return try result.withLock { $0 }?.get() ?? 0
    }
}
