/// What kind of changes a statement is about to make to a table, known before it makes them.
///
/// See ``TransactionObserver/observes(eventsOfKind:)``.
@frozen
public enum DatabaseEventKind: Hashable, Sendable {
    /// Rows are inserted.
    case insert(tableName: String)

    /// Rows are deleted.
    case delete(tableName: String)

    /// These columns of rows are updated, maybe to the values that they have already.
    case update(tableName: String, columnNames: Set<String>)

    /// The table that changes.
    public var tableName: String {
        switch self {
        case .insert(let tableName), .delete(let tableName), .update(let tableName, _): tableName
        }
    }
}
