internal import SQLCipherBridge

/// A change of one row.
public struct DatabaseEvent: Hashable, Sendable {
    /// The kind of a change to a row.
    public enum Kind: CInt, Sendable {
        /// A row was inserted.
        case insert = 18
        /// A row was deleted.
        case delete = 9
        /// A row was changed.
        case update = 23
    }

    /// The kind of the change.
    public let kind: Kind

    /// The name of the schema: `"main"`, `"temp"`, or the name of an attached database.
    public let databaseName: String

    /// The table of the row, as the schema spells it.
    public let tableName: String

    /// The row ID of the row; after an update of the row ID itself, the new one.
    public let rowID: Int64

    /// Returns the event itself, which may be stored.
    public func copy() -> DatabaseEvent { self }
}

extension DatabaseEvent {
    init(_ operation: UpdateHook.Operation, _ names: UpdateHook.Names, rowID: Int64) {
        self.init(kind: Kind(operation), databaseName: names.database, tableName: names.table, rowID: rowID)
    }
}

extension DatabaseEvent.Kind {
    init(_ operation: UpdateHook.Operation) {
        switch operation {
        case .insert: self = .insert
        case .update: self = .update
        case .delete: self = .delete
        }
    }
}

/// A change that was announced by a ``DatabaseEventKind``.
public protocol DatabaseEventProtocol {
    /// Returns true if `eventKind` announced this change: the same operation on the same table.
    func matchesKind(_ eventKind: DatabaseEventKind) -> Bool
}

extension DatabaseEvent: DatabaseEventProtocol {
    public func matchesKind(_ eventKind: DatabaseEventKind) -> Bool {
        switch (kind, eventKind) {
        case (.insert, .insert(let name)), (.delete, .delete(let name)), (.update, .update(let name, _)):
            name == tableName
        default: false
        }
    }
}
