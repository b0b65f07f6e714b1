internal import Synchronization

/// Counts the transactions that one connection has written, for threads that read on other connections at the
/// same time.
///
/// The count increases after a commit has become visible, and before any observer is notified of it. If a
/// reader gets the same time from the clock before and after it reads a state of the database, that state
/// misses no commit.
///
/// Only the thread that uses the connection advances the clock.
final class WriteClock: Sendable {
    /// A reading of the clock.
    struct Time: Equatable, Sendable {
        fileprivate var ticks: UInt64

        /// Creates a time with this number of completed transactions, and possibly an open one.
        init(transactionCount: UInt64 = 0, isWriting: Bool = false) {
            ticks = transactionCount << 1 | (isWriting ? 1 : 0)
        }

        fileprivate init(ticks: UInt64) {
            self.ticks = ticks
        }

        /// The number of completed transactions with writes.
        var transactionCount: UInt64 { ticks >> 1 }

        /// True if a transaction that has written is still open.
        var isWriting: Bool { ticks & 1 == 1 }
    }

    private let ticks = Atomic<UInt64>(0)

    var now: Time { Time(ticks: ticks.load(ordering: .sequentiallyConsistent)) }

    /// Records that a statement is about to write.
    func writeWillBegin() {
        let ticks = ticks.load(ordering: .relaxed)
        if ticks & 1 == 0 {
            self.ticks.store(ticks | 1, ordering: .sequentiallyConsistent)
        }
    }

    /// Records that a statement has ended outside all transactions. Transactions that have only read do not
    /// count.
    func transactionDidEnd() {
        let ticks = ticks.load(ordering: .relaxed)
        if ticks & 1 == 1 {
            self.ticks.store(ticks + 1, ordering: .sequentiallyConsistent)
        }
    }
}
