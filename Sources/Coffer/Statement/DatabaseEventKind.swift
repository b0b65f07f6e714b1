/// A kind of change that a statement may make to a table, known before the statement runs.
///
/// See ``TransactionObserver/observes(eventsOfKind:)``.
@frozen
public enum DatabaseEventKind: Hashable, Sendable {
    /// Rows are inserted.
    case insert(tableName: String)

    /// Rows are deleted.
    case delete(tableName: String)

    /// These columns of rows are updated, possibly to the values that they already have.
    case update(tableName: String, columnNames: Set<String>)

    /// The table that changes.
    public var tableName: String {
        switch self {
        case .insert(let tableName), .delete(let tableName), .update(let tableName, _): tableName
        }
    }
}

extension DatabaseEventKind {
    /// Returns true if both insert, update, or delete in the same table.
    func isSameOperation(as other: DatabaseEventKind) -> Bool {
        guard CaseInsensitiveName(tableName) == CaseInsensitiveName(other.tableName) else { return false }
        return switch (self, other) {
        case (.insert, .insert), (.delete, .delete), (.update, .update): true
        default: false
        }
    }
}
