/// A foreign key of a table that is being created, together with its columns: see
/// ``TableDefinition/belongsTo(_:inTable:onDelete:onUpdate:deferred:indexed:)``.
public final class ForeignKeyDefinition {
    let name: String
    let table: String?
    let actions: ForeignKeyActions
    let isIndexed: Bool

    private(set) var notNull: ColumnDefinition.NotNull?
    private(set) var isUnique = false

    init(name: String, table: String?, actions: ForeignKeyActions, isIndexed: Bool) {
        self.name = name
        self.table = table
        self.actions = actions
        self.isIndexed = isIndexed
    }

    /// Rejects NULL in each of the columns.
    ///
    /// - Parameter conflictResolution: the reaction to a row with NULL; nil aborts the statement.
    @discardableResult
    public func notNull(onConflict conflictResolution: Database.ConflictResolution? = nil) -> Self {
        if notNull == nil || conflictResolution != nil {
            notNull = ColumnDefinition.NotNull(conflictResolution: conflictResolution)
        }
        return self
    }

    /// Rejects a second row that refers to the same row.
    @discardableResult
    public func unique() -> Self {
        isUnique = true
        return self
    }
}

@available(*, unavailable)
extension ForeignKeyDefinition: Sendable {}

/// The actions of a foreign key, and the time at which it is checked.
struct ForeignKeyActions {
    let delete: Database.ForeignKeyAction?
    let update: Database.ForeignKeyAction?
    let isDeferred: Bool

    var sql: String {
        var sql = ""
        if let delete { sql += " ON DELETE \(delete.rawValue)" }
        if let update { sql += " ON UPDATE \(update.rawValue)" }
        if isDeferred { sql += " DEFERRABLE INITIALLY DEFERRED" }
        return sql
    }
}

/// The table and columns that a foreign key refers to.
struct ForeignKeyReference {
    let table: String

    /// Nil for the primary key.
    let columns: [String]?

    let actions: ForeignKeyActions
}
