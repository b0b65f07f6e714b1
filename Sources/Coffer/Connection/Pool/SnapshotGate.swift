internal import Dispatch

/// Prevents snapshots of a pool from being opened while its file is replaced.
///
/// The connection of a snapshot is not one of the pool's readers, so exclusive access does not wait for it.
/// It would find the old file invalidated, or the new one with a key that the pool does not know yet.
struct SnapshotGate: Sendable {
    private let turn = DispatchSemaphore(value: 1)

    /// Waits until the file is not being replaced, and prevents a replacement while `body` runs.
    func whileOpen<T>(_ body: () throws -> T) rethrows -> T { try takingTurn(body) }

    /// Waits until no snapshot is being opened, and prevents others from being opened while `body` runs.
    ///
    /// Call it with exclusive access to the readers: otherwise, a read that waits to open a snapshot would
    /// prevent exclusive access from being granted.
    func whileClosed<T>(_ body: () throws -> T) rethrows -> T { try takingTurn(body) }

    private func takingTurn<T>(_ body: () throws -> T) rethrows -> T {
        turn.wait()
        defer { turn.signal() }
        return try body()
    }
}
