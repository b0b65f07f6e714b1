internal import CSQLCipher

/// A state of a database in WAL mode. Several connections can enter it while one of them reads it. Requires
/// ``Engine/hasSnapshots``.
///
/// <https://www.sqlite.org/c3ref/snapshot.html>
@safe
package final class SnapshotHandle {
    private let pointer: UnsafeMutablePointer<sqlite3_snapshot>

    /// Creates a handle for the state that the transaction of a connection reads.
    ///
    /// - Throws: `SQLITE_ERROR` if the WAL file has no transaction yet, or if the connection has written.
    package init(readBy connection: ConnectionHandle) throws(EngineError) {
        precondition(Engine.hasSnapshots, "The engine has no snapshots.")
        var pointer: UnsafeMutablePointer<sqlite3_snapshot>?
        try connection.check(unsafe coffer_snapshot_get(connection.pointer, "main", &pointer))
        guard let pointer = unsafe pointer else { throw EngineError(code: SQLITE_ERROR, message: nil) }
        unsafe self.pointer = pointer
    }

    /// Makes a connection read this state. Its transaction must have begun, but not read anything yet.
    package func enter(_ connection: ConnectionHandle) throws(EngineError) {
        try connection.check(unsafe coffer_snapshot_open(connection.pointer, "main", pointer))
    }

    deinit { unsafe coffer_snapshot_free(pointer) }
}
