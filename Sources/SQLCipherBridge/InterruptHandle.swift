internal import CSQLCipher

/// The one thing that another thread may do with a connection.
///
/// `sqlite3_interrupt` can be called from any thread, as long as the connection is not closed during the
/// call: the owner sees to that.
// @unchecked: the pointer is used for nothing but `sqlite3_interrupt`.
@safe
package struct InterruptHandle: @unchecked Sendable {
    private let pointer: OpaquePointer

    package init(_ connection: ConnectionHandle) {
        unsafe self.pointer = connection.pointer
    }

    package func interrupt() { unsafe sqlite3_interrupt(pointer) }
}
