internal import CSQLCipher

/// A connection that another thread may only interrupt.
///
/// `sqlite3_interrupt` can be called from any thread, provided that the owner does not close the connection
/// during the call.
// @unchecked: the pointer is only used for `sqlite3_interrupt`.
@safe
package struct InterruptHandle: @unchecked Sendable {
    private let pointer: OpaquePointer

    package init(_ connection: ConnectionHandle) {
        unsafe self.pointer = connection.pointer
    }

    package func interrupt() { unsafe sqlite3_interrupt(pointer) }
}
