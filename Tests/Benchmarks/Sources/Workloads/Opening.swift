import BenchKit
import Dispatch
import Synchronization
#if GRDB
import GRDB
#else
import Coffer
#endif

/// The time to open a pool with a passphrase, and to make the first reads on five connections at the same
/// time.
enum Opening {
    static func run(_ assignment: Assignment) throws -> Runner.Result {
        let path = assignment.folder + "/passphrase.db"
        let (seconds, check) = try measure(repetitions: assignment.repetitions, prepare: {}) {
            let pool = try DatabasePool(path: path, configuration: Engine.withPassphrase())
            let sum = try pool.readAtOnce(5) { db in try Int64.fetchOne(db, sql: "SELECT a FROM t") ?? 0 }
            try pool.close()
            return sum
        }
        return Runner.Result(seconds: seconds, check: check, operations: 1)
    }
}

extension DatabasePool {
    /// Returns the sum of the results of concurrent reads. The reads wait for each other, so that each needs
    /// its own connection.
    func readAtOnce(_ count: Int, _ work: @escaping @Sendable (Database) throws -> Int64) throws -> Int64 {
        let arrived = DispatchSemaphore(value: 0)
        let leave = DispatchSemaphore(value: 0)
        let group = DispatchGroup()
        let results = Mutex<[Result<Int64, any Error>]>([])
        for _ in 0..<count {
            DispatchQueue.global().async(group: group) {
                let result = Result {
                    try self.read { db in
                        defer {
                            arrived.signal()
                            leave.wait()
                        }
                        return try work(db)
                    }
                }
                results.withLock { $0.append(result) }
            }
        }
        for _ in 0..<count { arrived.wait() }
        for _ in 0..<count { leave.signal() }
        group.wait()
        return try results.withLock { $0 }.reduce(0) { try $0 &+ $1.get() }
    }
}
