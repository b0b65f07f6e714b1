internal import CSQLCipher

/// A hook that decides about each action of a statement while SQLite compiles it. For its lifetime, see
/// ``HookContext``.
///
/// SQLite also calls it when it recompiles a statement after a schema change, in the middle of the
/// statement's first step.
package final class AuthorizerHook {
    package enum Decision {
        case allow

        /// The compilation fails with `SQLITE_AUTH`.
        case deny

        /// The action is omitted. For a `DELETE`, the rows are deleted one by one instead of the whole table
        /// at once.
        case ignore
    }

    /// An action of a statement: <https://www.sqlite.org/c3ref/c_alter_table.html>. Valid only during the
    /// call.
    @safe
    package struct Request {
        package let action: Action
        fileprivate let firstPointer: UnsafePointer<CChar>?
        fileprivate let secondPointer: UnsafePointer<CChar>?
        fileprivate let schemaPointer: UnsafePointer<CChar>?
        fileprivate let triggerPointer: UnsafePointer<CChar>?

        /// The first detail of the action, usually the name of a table.
        package var first: String? { unsafe firstPointer.map { unsafe String(cString: $0) } }

        /// ``first`` as a name, with invalid bytes escaped.
        package var firstIdentifier: String? { unsafe firstPointer.map { unsafe String(identifier: $0) } }

        /// ``second`` as a name, with invalid bytes escaped.
        package var secondIdentifier: String? { unsafe secondPointer.map { unsafe String(identifier: $0) } }

        /// The second detail of the action, usually the name of a column, or the value of a pragma.
        package var second: String? { unsafe secondPointer.map { unsafe String(cString: $0) } }

        /// The name of the affected database, or nil if the action has none.
        package var schema: String? { unsafe schemaPointer.map { unsafe String(cString: $0) } }

        /// True if a trigger or a view performs the action, not the statement itself.
        package var isIndirect: Bool { unsafe triggerPointer != nil }
    }

    /// SQLite's code for an action of a statement.
    package struct Action: Equatable {
        package let code: CInt

        package static let createView = Action(code: SQLITE_CREATE_VIEW)
        package static let createTrigger = Action(code: SQLITE_CREATE_TRIGGER)
        package static let read = Action(code: SQLITE_READ)
        package static let insert = Action(code: SQLITE_INSERT)
        package static let update = Action(code: SQLITE_UPDATE)
        package static let delete = Action(code: SQLITE_DELETE)
        package static let transaction = Action(code: SQLITE_TRANSACTION)
        package static let savepoint = Action(code: SQLITE_SAVEPOINT)
        package static let pragma = Action(code: SQLITE_PRAGMA)
        package static let attach = Action(code: SQLITE_ATTACH)
        package static let function = Action(code: SQLITE_FUNCTION)
        package static let createTable = Action(code: SQLITE_CREATE_TABLE)
        package static let createIndex = Action(code: SQLITE_CREATE_INDEX)
        package static let createVirtualTable = Action(code: SQLITE_CREATE_VTABLE)
        package static let reindex = Action(code: SQLITE_REINDEX)

        /// True if the action drops a table.
        package var dropsTable: Bool {
            code == SQLITE_DROP_TABLE || code == SQLITE_DROP_TEMP_TABLE || code == SQLITE_DROP_VTABLE
        }

        /// True if the action creates an object that disappears with the connection.
        package var makesTemporary: Bool {
            [
                SQLITE_CREATE_TEMP_INDEX, SQLITE_CREATE_TEMP_TABLE, SQLITE_CREATE_TEMP_TRIGGER,
                SQLITE_CREATE_TEMP_VIEW,
            ].contains(code)
        }

        /// True if the action changes the set of tables, views, indexes and triggers, or of attached
        /// databases.
        package var changesSchema: Bool {
            switch code {
            case SQLITE_CREATE_INDEX, SQLITE_CREATE_TABLE, SQLITE_CREATE_TEMP_INDEX, SQLITE_CREATE_TEMP_TABLE,
                SQLITE_CREATE_TEMP_TRIGGER, SQLITE_CREATE_TEMP_VIEW, SQLITE_CREATE_TRIGGER,
                SQLITE_CREATE_VIEW, SQLITE_CREATE_VTABLE,
                SQLITE_DROP_INDEX, SQLITE_DROP_TABLE, SQLITE_DROP_TEMP_INDEX, SQLITE_DROP_TEMP_TABLE,
                SQLITE_DROP_TEMP_TRIGGER,
                SQLITE_DROP_TEMP_VIEW, SQLITE_DROP_TRIGGER, SQLITE_DROP_VIEW, SQLITE_DROP_VTABLE,
                SQLITE_ALTER_TABLE, SQLITE_ATTACH, SQLITE_DETACH:
                true
            default:
                false
            }
        }
    }

    fileprivate let body: (Request) -> Decision

    package init(_ body: @escaping (Request) -> Decision) {
        self.body = body
    }

    /// Installs the hook. It replaces the previous one.
    ///
    /// Each installation makes SQLite recompile every statement of the connection before its next execution.
    package func install(on connection: ConnectionHandle) {
        unsafe sqlite3_set_authorizer(connection.pointer, authorizerTrampoline, HookContext.borrowing(self))
    }

    package func remove(from connection: ConnectionHandle) {
        unsafe sqlite3_set_authorizer(connection.pointer, nil, nil)
    }
}

private func authorizerTrampoline(
    _ context: UnsafeMutableRawPointer?, _ action: CInt, _ first: UnsafePointer<CChar>?,
    _ second: UnsafePointer<CChar>?,
    _ schema: UnsafePointer<CChar>?, _ trigger: UnsafePointer<CChar>?
) -> CInt {
    guard let hook = unsafe HookContext.hook(context, as: AuthorizerHook.self) else { return SQLITE_DENY }
    let request = unsafe AuthorizerHook.Request(
        action: AuthorizerHook.Action(code: action), firstPointer: first, secondPointer: second,
        schemaPointer: schema,
        triggerPointer: trigger)
    return switch hook.body(request) {
    case .allow: SQLITE_OK
    case .deny: SQLITE_DENY
    case .ignore: SQLITE_IGNORE
    }
}
