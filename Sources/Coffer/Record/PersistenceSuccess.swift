/// The outcome of an insertion: see ``MutablePersistableRecord/didInsert(_:)``.
public struct InsertionSuccess {
    /// The row ID of the inserted row. If the insertion was ignored, it is the row ID of an earlier row.
    ///
    /// Rows of views and of `WITHOUT ROWID` tables have no row ID. The value is then the integer key of the
    /// record, or its integer column `id` for a view without a key, or zero if there is no such integer.
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

/// The outcome of an insertion or update: see ``MutablePersistableRecord/didSave(_:)``.
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

/// The conflict resolutions for inserted and updated records that violate a constraint: see
/// <https://www.sqlite.org/lang_conflict.html>.
public struct PersistenceConflictPolicy: Sendable {
    /// The conflict resolution of insertions.
    public let conflictResolutionForInsert: Database.ConflictResolution

    /// The conflict resolution of updates.
    public let conflictResolutionForUpdate: Database.ConflictResolution

    /// Creates a policy. `abort` is SQLite's default: the statement is rolled back, unless the table
    /// definition has an `ON CONFLICT` clause.
    @inlinable
    public init(insert: Database.ConflictResolution = .abort, update: Database.ConflictResolution = .abort) {
        self.conflictResolutionForInsert = insert
        self.conflictResolutionForUpdate = update
    }
}

/// The columns of an existing row that an upsert overwrites, in addition to the assigned columns.
public struct UpsertUpdateStrategy: OptionSet, Sendable {
    public let rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }

    /// All columns of the statement are overwritten, except columns of the primary key or the conflict
    /// target, and columns with `noOverwrite`.
    public static let allColumns = UpsertUpdateStrategy([])

    /// Only the assigned columns are overwritten.
    public static let noColumnUnlessSpecified = UpsertUpdateStrategy(rawValue: 1 << 0)
}
