internal import Dispatch

/// Keeps snapshots of a pool from being opened while its file is replaced.
///
/// The connection of a snapshot is no reader of the pool, for which exclusive access waits. It would find the
/// old file spoilt, or the new one with a key that the pool does not know yet.
struct SnapshotGate: Sendable {
    private let turn = DispatchSemaphore(value: 1)

    /// Waits until nobody replaces the file, and keeps it from being replaced meanwhile.
    func whileOpen<T>(_ body: () throws -> T) rethrows -> T { try takingTurn(body) }

    /// Waits until no snapshot is on its way, and keeps others waiting.
    ///
    /// To be called with exclusive access to the readers: a read that waited for a snapshot would keep that
    /// from being granted.
    func whileClosed<T>(_ body: () throws -> T) rethrows -> T { try takingTurn(body) }

    private func takingTurn<T>(_ body: () throws -> T) rethrows -> T {
        turn.wait()
        defer { turn.signal() }
        return try body()
    }
}
