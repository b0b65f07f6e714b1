/// Options for the creation of a table: see ``Database/create(table:options:body:)``.
public struct TableOptions: OptionSet, Sendable {
    public let rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Does nothing if a table or view of the same name exists already, even with different columns.
    public static let ifNotExists = TableOptions(rawValue: 1 << 0)

    /// Creates a table that is visible to this connection only, and is dropped when the connection is closed.
    public static let temporary = TableOptions(rawValue: 1 << 1)

    /// Creates a table that stores its rows by their primary key: see
    /// <https://www.sqlite.org/withoutrowid.html>.
    public static let withoutRowID = TableOptions(rawValue: 1 << 2)

    /// Creates a table that rejects values whose type differs from the column's type: see
    /// <https://www.sqlite.org/stricttables.html>.
    ///
    /// Such a table allows only some types of ``Database/ColumnType``: `INTEGER`, `REAL`, `TEXT`, `BLOB`, and
    /// `ANY`.
    public static let strict = TableOptions(rawValue: 1 << 3)
}

/// Options for the creation of an index: see ``Database/create(index:on:columns:options:condition:)``.
public struct IndexOptions: OptionSet, Sendable {
    public let rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Does nothing if an index of the same name exists already, even on other columns.
    public static let ifNotExists = IndexOptions(rawValue: 1 << 0)

    /// Rejects rows with the same values in all columns of the index. NULL differs from NULL.
    public static let unique = IndexOptions(rawValue: 1 << 1)
}

/// Options for the creation of a view: see ``Database/create(view:options:columns:as:)``.
public struct ViewOptions: OptionSet, Sendable {
    public let rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Does nothing if a table or view of the same name exists already, even with a different query.
    public static let ifNotExists = ViewOptions(rawValue: 1 << 0)

    /// Creates a view that is visible to this connection only, and is dropped when the connection is closed.
    public static let temporary = ViewOptions(rawValue: 1 << 1)
}
