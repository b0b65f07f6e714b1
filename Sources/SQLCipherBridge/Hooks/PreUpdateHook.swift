internal import CSQLCipher

/// A hook that receives the values of each row before it is inserted, updated or deleted. For its lifetime,
/// see ``HookContext``.
///
/// It requires ``Engine/hasPreUpdateHook``. SQLite also reports rows of tables without row IDs, and rows that
/// `REPLACE` deletes, but not rows of system and virtual tables:
/// <https://www.sqlite.org/c3ref/preupdate_blobwrite.html>.
package final class PreUpdateHook {
    /// The change that is about to be made. Valid only during the call.
    @safe
    package struct Change {
        fileprivate let connection: OpaquePointer
        fileprivate let databasePointer: UnsafePointer<CChar>
        fileprivate let tablePointer: UnsafePointer<CChar>

        package let operation: UpdateHook.Operation
        package let initialRowID: Int64
        package let finalRowID: Int64

        package var database: String { unsafe String(cString: databasePointer) }
        package var table: String { unsafe String(cString: tablePointer) }

        /// The number of columns of the table.
        package var columnCount: Int { unsafe Int(coffer_preupdate_count(connection)) }

        /// The nesting depth: 0 for a change by the statement itself, 1 for a change by one of its triggers,
        /// and so on.
        package var depth: CInt { unsafe coffer_preupdate_depth(connection) }

        /// Returns the value of a column before the change; nil if there is no such row or column, or if
        /// memory runs out.
        package func initialValue(at index: Int) -> ValueHandle? {
            var value: OpaquePointer?
            let code = unsafe coffer_preupdate_old(connection, CInt(clamping: index), &value)
            guard code == SQLITE_OK, let value = unsafe value else { return nil }
            return unsafe ValueHandle(value)
        }

        /// Returns the value of a column after the change; nil if there is no such row or column, or if
        /// memory runs out.
        package func finalValue(at index: Int) -> ValueHandle? {
            var value: OpaquePointer?
            let code = unsafe coffer_preupdate_new(connection, CInt(clamping: index), &value)
            guard code == SQLITE_OK, let value = unsafe value else { return nil }
            return unsafe ValueHandle(value)
        }
    }

    fileprivate let body: (Change) -> Void

    package init(_ body: @escaping (Change) -> Void) {
        self.body = body
    }

    /// Installs the hook. It replaces the previous one.
    ///
    /// - Precondition: ``Engine/hasPreUpdateHook``.
    package func install(on connection: ConnectionHandle) {
        precondition(Engine.hasPreUpdateHook, "The engine has no pre-update hook.")
        _ = unsafe coffer_preupdate_hook(connection.pointer, preUpdateTrampoline, HookContext.borrowing(self))
    }

    package func remove(from connection: ConnectionHandle) {
        guard Engine.hasPreUpdateHook else { return }
        _ = unsafe coffer_preupdate_hook(connection.pointer, nil, nil)
    }
}

private func preUpdateTrampoline(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?, _ operation: CInt,
    _ database: UnsafePointer<CChar>?,
    _ table: UnsafePointer<CChar>?, _ initialRowID: sqlite3_int64, _ finalRowID: sqlite3_int64
) {
    guard
        let hook = unsafe HookContext.hook(context, as: PreUpdateHook.self),
        let connection = unsafe connection,
        let database = unsafe database, let table = unsafe table
    else { return }
    let kind: UpdateHook.Operation
    switch operation {
    case SQLITE_INSERT: kind = .insert
    case SQLITE_UPDATE: kind = .update
    case SQLITE_DELETE: kind = .delete
    default: return
    }
    hook.body(
        unsafe PreUpdateHook.Change(
            connection: connection, databasePointer: database, tablePointer: table, operation: kind,
            initialRowID: initialRowID,
            finalRowID: finalRowID))
}
