internal import Synchronization

/// Counts the transactions that one connection has written, for threads that read meanwhile on other
/// connections.
///
/// The count grows after a commit has become visible, and before any observer is notified of it. Who reads
/// the clock, then a state of the database, then the clock again, and finds the same time, knows that no
/// commit is missing in that state.
///
/// Only the thread that uses the connection moves the clock.
final class WriteClock: Sendable {
    /// A reading of the clock.
    struct Time: Equatable, Sendable {
        fileprivate var ticks: UInt64

        /// A time with as many written transactions, and maybe another one that is open.
        init(transactionCount: UInt64 = 0, isWriting: Bool = false) {
            ticks = transactionCount << 1 | (isWriting ? 1 : 0)
        }

        fileprivate init(ticks: UInt64) {
            self.ticks = ticks
        }

        /// How many transactions with writes have ended.
        var transactionCount: UInt64 { ticks >> 1 }

        /// Whether a transaction that has written is still open.
        var isWriting: Bool { ticks & 1 == 1 }
    }

    private let ticks = Atomic<UInt64>(0)

    var now: Time { Time(ticks: ticks.load(ordering: .sequentiallyConsistent)) }

    /// A statement is about to write.
    func writeWillBegin() {
        let ticks = ticks.load(ordering: .relaxed)
        if ticks & 1 == 0 {
            self.ticks.store(ticks | 1, ordering: .sequentiallyConsistent)
        }
    }

    /// A statement has ended outside of all transactions. Transactions that have only read do not count.
    func transactionDidEnd() {
        let ticks = ticks.load(ordering: .relaxed)
        if ticks & 1 == 1 {
            self.ticks.store(ticks + 1, ordering: .sequentiallyConsistent)
        }
    }
}
