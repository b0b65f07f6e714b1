import BenchKit
import Dispatch
#if GRDB
import GRDB
#else
import Coffer
#endif

/// What opens: a pool with a passphrase, and the first reads of five connections at the same time.
enum Opening {
    static func run(_ assignment: Assignment) throws -> Runner.Result {
        let path = assignment.folder + "/passphrase.db"
        let (seconds, check) = try measure(repetitions: assignment.repetitions, prepare: {}) {
            let pool = try DatabasePool(path: path, configuration: Engine.withPassphrase())
            // Each read waits for the others, so that five connections are needed.
            let arrived = DispatchSemaphore(value: 0)
            let leave = DispatchSemaphore(value: 0)
            let group = DispatchGroup()
            let sums = Sums()
            for _ in 0..<5 {
                DispatchQueue.global().async(group: group) {
                    do {
                        let value = try pool.read { db in
                            let value = try Int64.fetchOne(db, sql: "SELECT a FROM t") ?? 0
                            arrived.signal()
                            leave.wait()
                            return value
                        }
                        sums.add(value)
                    } catch {
                        arrived.signal()
                    }
                }
            }
            for _ in 0..<5 { arrived.wait() }
            for _ in 0..<5 { leave.signal() }
            group.wait()
            try pool.close()
            return sums.total
        }
        return Runner.Result(seconds: seconds, check: check, operations: 1)
    }
}

import Synchronization

private final class Sums: Sendable {
    private let sum = Mutex<Int64>(0)
    func add(_ value: Int64) { sum.withLock { $0 += value } }
    var total: Int64 { sum.withLock { $0 } }
}
