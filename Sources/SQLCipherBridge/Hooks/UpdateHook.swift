internal import CSQLCipher

/// A hook that is called for each row that is inserted, updated or deleted in a table with row IDs. For its
/// lifetime, see ``HookContext``.
///
/// SQLite does not report rows of system tables, rows of tables without row IDs, rows that `REPLACE` deletes,
/// and rows that are deleted with the whole table at once: <https://www.sqlite.org/c3ref/update_hook.html>.
package final class UpdateHook {
    package enum Operation {
        case insert, update, delete
    }

    /// The names of the changed database and table. Valid only during the call.
    @safe
    package struct Names {
        fileprivate let databasePointer: UnsafePointer<CChar>
        fileprivate let tablePointer: UnsafePointer<CChar>

        package var database: String { unsafe String(cString: databasePointer) }
        package var table: String { unsafe String(cString: tablePointer) }
    }

    fileprivate let body: (Operation, Names, _ rowID: Int64) -> Void

    package init(_ body: @escaping (Operation, Names, _ rowID: Int64) -> Void) {
        self.body = body
    }

    /// Installs the hook. It replaces the previous one. Installing and removing have a negligible cost.
    package func install(on connection: ConnectionHandle) {
        unsafe sqlite3_update_hook(connection.pointer, updateTrampoline, HookContext.borrowing(self))
    }

    package func remove(from connection: ConnectionHandle) {
        unsafe sqlite3_update_hook(connection.pointer, nil, nil)
    }
}

private func updateTrampoline(
    _ context: UnsafeMutableRawPointer?, _ operation: CInt, _ database: UnsafePointer<CChar>?,
    _ table: UnsafePointer<CChar>?,
    _ rowID: sqlite3_int64
) {
    guard
        let hook = unsafe HookContext.hook(context, as: UpdateHook.self), let database = unsafe database,
        let table = unsafe table
    else { return }
    let names = unsafe UpdateHook.Names(databasePointer: database, tablePointer: table)
    switch operation {
    case SQLITE_INSERT: hook.body(.insert, names, rowID)
    case SQLITE_UPDATE: hook.body(.update, names, rowID)
    case SQLITE_DELETE: hook.body(.delete, names, rowID)
    default: break
    }
}
