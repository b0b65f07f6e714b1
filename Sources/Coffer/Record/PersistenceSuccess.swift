/// What a record knows of its own insertion: see ``MutablePersistableRecord/didInsert(_:)``.
public struct InsertionSuccess {
    /// The row ID of the inserted row. Of an insertion that was ignored, it is that of an earlier row.
    ///
    /// Rows of views and of tables `WITHOUT ROWID` have none. It is then the integer that is the key of the
    /// record, or its column `id` in a view without a key, or zero if there is no such integer.
    public var rowID: Int64

    /// The column that is an alias of the row ID: the primary key of the table, if it is an `INTEGER PRIMARY
    /// KEY`.
    public var rowIDColumn: String?

    /// The values that were inserted.
    public var persistenceContainer: PersistenceContainer

    @inlinable
    init(rowID: Int64, rowIDColumn: String?, persistenceContainer: PersistenceContainer) {
        self.rowID = rowID
        self.rowIDColumn = rowIDColumn
        self.persistenceContainer = persistenceContainer
    }
}

/// What a record knows of its own insertion or update: see ``MutablePersistableRecord/didSave(_:)``.
public struct PersistenceSuccess {
    /// The values that were saved.
    public var persistenceContainer: PersistenceContainer

    @inlinable
    init(_ persistenceContainer: PersistenceContainer) {
        self.persistenceContainer = persistenceContainer
    }

    @inlinable
    init(_ inserted: InsertionSuccess) {
        self.persistenceContainer = inserted.persistenceContainer
    }
}

@available(*, unavailable)
extension InsertionSuccess: Sendable {}

@available(*, unavailable)
extension PersistenceSuccess: Sendable {}

/// What SQLite does with inserted and updated records that violate a constraint: see
/// <https://www.sqlite.org/lang_conflict.html>.
public struct PersistenceConflictPolicy: Sendable {
    /// For insertions.
    public let conflictResolutionForInsert: Database.ConflictResolution

    /// For updates.
    public let conflictResolutionForUpdate: Database.ConflictResolution

    /// Creates a policy. `abort` leaves it to SQLite: the statement is rolled back, unless the table itself
    /// says something else with `ON CONFLICT`.
    ///
    /// - Parameters:
    ///   - insert: the policy of insertions.
    ///   - update: the policy of updates.
    @inlinable
    public init(insert: Database.ConflictResolution = .abort, update: Database.ConflictResolution = .abort) {
        self.conflictResolutionForInsert = insert
        self.conflictResolutionForUpdate = update
    }
}

/// Which columns an upsert overwrites in a row that exists, besides those that get an assignment.
public struct UpsertUpdateStrategy: OptionSet, Sendable {
    public let rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Each column of the statement is overwritten, unless it belongs to the primary key or to the conflict
    /// target, or has `noOverwrite`.
    public static let allColumns = UpsertUpdateStrategy([])

    /// Only the columns that get an assignment.
    public static let noColumnUnlessSpecified = UpsertUpdateStrategy(rawValue: 1 << 0)
}
