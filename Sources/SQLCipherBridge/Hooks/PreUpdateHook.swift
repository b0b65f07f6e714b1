internal import CSQLCipher

/// Is notified of each row before it is inserted, updated or deleted, with its values. Lives by the rule of
/// ``HookContext``.
///
/// Only where ``Engine/hasPreUpdateHook``. SQLite reports rows of tables without row IDs as well, and rows
/// that `REPLACE` deletes, but not those of system and virtual tables:
/// <https://www.sqlite.org/c3ref/preupdate_blobwrite.html>.
package final class PreUpdateHook {
    /// The change that is about to be made, which can be asked during the call only.
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

        /// How many columns the table has.
        package var columnCount: Int { unsafe Int(coffer_preupdate_count(connection)) }

        /// 0 for a change of the statement itself, 1 for one of its triggers, and so on.
        package var depth: CInt { unsafe coffer_preupdate_depth(connection) }

        /// The value of a column before the change; nil where there is no such row or column, or no memory.
        package func initialValue(at index: Int) -> ValueHandle? {
            var value: OpaquePointer?
            let code = unsafe coffer_preupdate_old(connection, CInt(clamping: index), &value)
            guard code == SQLITE_OK, let value = unsafe value else { return nil }
            return unsafe ValueHandle(value)
        }

        /// The value of a column after the change; nil where there is no such row or column, or no memory.
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

    /// Installs the hook in place of the one before it.
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
