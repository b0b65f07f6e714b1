internal import CSQLCipher

/// One state of a database in WAL mode, which several connections can enter as long as one of them reads it.
/// Only where ``Engine/hasSnapshots``.
///
/// <https://www.sqlite.org/c3ref/snapshot.html>
@safe
package final class SnapshotHandle {
    private let pointer: UnsafeMutablePointer<sqlite3_snapshot>

    /// The state that the transaction of a connection reads.
    ///
    /// - Throws: `SQLITE_ERROR` where the log has no transaction yet, or where the connection writes.
    package init(readBy connection: ConnectionHandle) throws(EngineError) {
        precondition(Engine.hasSnapshots, "The engine has no snapshots.")
        var pointer: UnsafeMutablePointer<sqlite3_snapshot>?
        try connection.check(unsafe coffer_snapshot_get(connection.pointer, "main", &pointer))
        guard let pointer = unsafe pointer else { throw EngineError(code: SQLITE_ERROR, message: nil) }
        unsafe self.pointer = pointer
    }

    /// Has a connection, whose transaction has begun and has read nothing, read this state.
    package func enter(_ connection: ConnectionHandle) throws(EngineError) {
        try connection.check(unsafe coffer_snapshot_open(connection.pointer, "main", pointer))
    }

    deinit { unsafe coffer_snapshot_free(pointer) }
}
