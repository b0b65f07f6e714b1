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
