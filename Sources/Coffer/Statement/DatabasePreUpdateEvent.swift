internal import SQLCipherBridge

/// A change of one row that is about to be made, with the values of the row before and after it.
///
/// It can be asked during the call of ``TransactionObserver/databaseWillChange(with:)`` only. Keep a
/// ``copy()``, which has all values:
///
/// ```swift
/// func databaseWillChange(with event: DatabasePreUpdateEvent) {
///     if event.kind == .delete, event.tableName == "item" { deletedItems.append(event.copy()) }
/// }
/// ```
public struct DatabasePreUpdateEvent {
    /// What is about to happen to a row.
    public enum Kind: CInt, Sendable {
        /// A row will be inserted.
        case insert = 18
        /// A row will be deleted.
        case delete = 9
        /// A row will be changed.
        case update = 23
    }

    /// The change that SQLite is about to make, as long as it can be asked about it.
    final class Current {
        fileprivate var change: PreUpdateHook.Change?

        init(_ change: PreUpdateHook.Change) { self.change = change }

        /// Ends the time in which the event can be asked.
        func end() { change = nil }
    }

    private enum Values {
        case current(Current)
        case kept(initial: [DatabaseValue]?, final: [DatabaseValue]?, depth: CInt)
    }

    /// What is about to happen to the row.
    public let kind: Kind

    /// The name of the schema: `"main"`, `"temp"`, or that of an attached database.
    public let databaseName: String

    /// The table of the row, as the schema spells it.
    public let tableName: String

    /// The row ID before the change; nil for a row that is inserted. 0 in tables without row IDs.
    public let initialRowID: Int64?

    /// The row ID after the change; nil for a row that is deleted. 0 in tables without row IDs.
    public let finalRowID: Int64?

    /// How many columns the row has.
    public let count: Int

    private let values: Values

    init(_ current: Current, _ change: PreUpdateHook.Change) {
        kind =
            switch change.operation {
            case .insert: .insert
            case .update: .update
            case .delete: .delete
            }
        databaseName = change.database
        tableName = change.table
        initialRowID = kind == .insert ? nil : change.initialRowID
        finalRowID = kind == .delete ? nil : change.finalRowID
        count = change.columnCount
        values = .current(current)
    }

    private init(copying event: DatabasePreUpdateEvent) {
        (kind, databaseName, tableName, count) = (
            event.kind, event.databaseName, event.tableName, event.count
        )
        (initialRowID, finalRowID) = (event.initialRowID, event.finalRowID)
        values = .kept(
            initial: event.initialDatabaseValues, final: event.finalDatabaseValues, depth: event.depth)
    }

    /// How many triggers have led to the change: 0 for one of the statement itself, 1 for one of its
    /// triggers, 2 for one of their triggers.
    ///
    /// - Precondition: during the call, or of a ``copy()``.
    public var depth: CInt {
        switch values {
        case .current(let current): change(current).depth
        case .kept(_, _, let depth): depth
        }
    }

    /// The values of all columns before the change, in the order of the table; nil for a row that is
    /// inserted.
    ///
    /// What the engine cannot read, as in a damaged file, is NULL.
    ///
    /// - Precondition: during the call, or of a ``copy()``.
    public var initialDatabaseValues: [DatabaseValue]? {
        guard kind != .insert else { return nil }
        if case .kept(let initial, _, _) = values { return initial }
        return (0..<count).map { initialDatabaseValue(atIndex: $0) ?? .null }
    }

    /// The value of a column before the change; nil for a row that is inserted, and for a value that the
    /// engine cannot read, as in a damaged file.
    ///
    /// - Parameter index: of the column in the table, from 0.
    /// - Precondition: the table has the column; during the call, or of a ``copy()``.
    public func initialDatabaseValue(atIndex index: Int) -> DatabaseValue? {
        checkIndex(index)
        guard kind != .insert else { return nil }
        switch values {
        case .current(let current): return change(current).initialValue(at: index).map { DatabaseValue($0) }
        case .kept(let initial, _, _): return initial?[index]
        }
    }

    /// The values of all columns after the change, in the order of the table; nil for a row that is deleted.
    ///
    /// - Precondition: during the call, or of a ``copy()``.
    public var finalDatabaseValues: [DatabaseValue]? {
        guard kind != .delete else { return nil }
        if case .kept(_, let final, _) = values { return final }
        return (0..<count).map { finalDatabaseValue(atIndex: $0) ?? .null }
    }

    /// The value of a column after the change; nil for a row that is deleted.
    ///
    /// - Parameter index: of the column in the table, from 0.
    /// - Precondition: the table has the column; during the call, or of a ``copy()``.
    public func finalDatabaseValue(atIndex index: Int) -> DatabaseValue? {
        checkIndex(index)
        guard kind != .delete else { return nil }
        switch values {
        case .current(let current): return change(current).finalValue(at: index).map { DatabaseValue($0) }
        case .kept(_, let final, _): return final?[index]
        }
    }

    /// The event with all values, which may be kept.
    ///
    /// - Precondition: during the call, or of a copy.
    public func copy() -> DatabasePreUpdateEvent {
        if case .kept = values { return self }
        return DatabasePreUpdateEvent(copying: self)
    }

    private func checkIndex(_ index: Int) {
        precondition(
            (0..<count).contains(index),
            "There is no column \(index) in \(tableName), which has \(count) columns.")
    }

    private func change(_ current: Current) -> PreUpdateHook.Change {
        guard let change = current.change else {
            preconditionFailure(
                "An event is asked for its values after databaseWillChange(with:) has returned. Keep "
                    + "event.copy()."
            )
        }
        return change
    }
}

extension DatabasePreUpdateEvent: DatabaseEventProtocol {
    public func matchesKind(_ eventKind: DatabaseEventKind) -> Bool {
        switch (kind, eventKind) {
        case (.insert, .insert(let name)), (.delete, .delete(let name)), (.update, .update(let name, _)):
            name == tableName
        default: false
        }
    }
}
