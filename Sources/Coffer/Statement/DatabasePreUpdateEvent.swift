internal import SQLCipherBridge

/// A change of one row that is about to be made, with the values of the row before and after it.
///
/// It is valid only during the call of ``TransactionObserver/databaseWillChange(with:)``. To store it, make a
/// ``copy()``, which contains all values:
///
/// ```swift
/// func databaseWillChange(with event: DatabasePreUpdateEvent) {
///     if event.kind == .delete, event.tableName == "item" { deletedItems.append(event.copy()) }
/// }
/// ```
public struct DatabasePreUpdateEvent {
    /// The kind of a change that is about to be made to a row.
    public enum Kind: CInt, Sendable {
        /// A row will be inserted.
        case insert = 18
        /// A row will be deleted.
        case delete = 9
        /// A row will be changed.
        case update = 23
    }

    /// The change that SQLite is about to make, while its values can be read.
    final class Current {
        fileprivate var change: PreUpdateHook.Change?

        init(_ change: PreUpdateHook.Change) { self.change = change }

        /// Makes the event's values unavailable.
        func end() { change = nil }
    }

    private enum Values {
        case current(Current)
        case kept(initial: [DatabaseValue]?, final: [DatabaseValue]?, depth: CInt)
    }

    /// The kind of the change.
    public let kind: Kind

    /// The name of the schema: `"main"`, `"temp"`, or the name of an attached database.
    public let databaseName: String

    /// The table of the row, as the schema spells it.
    public let tableName: String

    /// The row ID before the change; nil for a row that is inserted. 0 in tables without row IDs.
    public let initialRowID: Int64?

    /// The row ID after the change; nil for a row that is deleted. 0 in tables without row IDs.
    public let finalRowID: Int64?

    /// The number of columns of the row.
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

    /// The trigger depth of the change: 0 for a change by the statement itself, 1 by one of its triggers, 2
    /// by a trigger of those, and so on.
    ///
    /// - Precondition: read during the notification, or from a ``copy()``.
    public var depth: CInt {
        switch values {
        case .current(let current): change(current).depth
        case .kept(_, _, let depth): depth
        }
    }

    /// The values of all columns before the change, in the order of the table; nil for a row that is
    /// inserted.
    ///
    /// A value that the engine cannot read, for example in a damaged file, is NULL.
    ///
    /// - Precondition: read during the notification, or from a ``copy()``.
    public var initialDatabaseValues: [DatabaseValue]? {
        guard kind != .insert else { return nil }
        if case .kept(let initial, _, _) = values { return initial }
        return (0..<count).map { initialDatabaseValue(atIndex: $0) ?? .null }
    }

    /// Returns the value of a column before the change; nil for a row that is inserted, and for a value that
    /// the engine cannot read, for example in a damaged file.
    ///
    /// - Parameter index: the index of the column in the table, from 0.
    /// - Precondition: the table has the column. Call this during the notification, or on a ``copy()``.
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
    /// - Precondition: read during the notification, or from a ``copy()``.
    public var finalDatabaseValues: [DatabaseValue]? {
        guard kind != .delete else { return nil }
        if case .kept(_, let final, _) = values { return final }
        return (0..<count).map { finalDatabaseValue(atIndex: $0) ?? .null }
    }

    /// Returns the value of a column after the change; nil for a row that is deleted.
    ///
    /// - Parameter index: the index of the column in the table, from 0.
    /// - Precondition: the table has the column. Call this during the notification, or on a ``copy()``.
    public func finalDatabaseValue(atIndex index: Int) -> DatabaseValue? {
        checkIndex(index)
        guard kind != .delete else { return nil }
        switch values {
        case .current(let current): return change(current).finalValue(at: index).map { DatabaseValue($0) }
        case .kept(_, let final, _): return final?[index]
        }
    }

    /// Returns a copy of the event that contains all values and may be stored.
    ///
    /// - Precondition: called during the notification, or on a copy.
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
                "The values of an event are only available until databaseWillChange(with:) returns. Keep "
                    + "event.copy() instead."
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
