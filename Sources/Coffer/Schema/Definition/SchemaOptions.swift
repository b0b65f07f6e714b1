/// How a table is created: see ``Database/create(table:options:body:)``.
public struct TableOptions: OptionSet, Sendable {
    public let rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Does nothing if there is a table or view of the same name already, whatever its columns are.
    public static let ifNotExists = TableOptions(rawValue: 1 << 0)

    /// Creates a table that only this connection sees, and that ends with it.
    public static let temporary = TableOptions(rawValue: 1 << 1)

    /// Creates a table whose rows are stored by their primary key: see
    /// <https://www.sqlite.org/withoutrowid.html>.
    public static let withoutRowID = TableOptions(rawValue: 1 << 2)

    /// Creates a table that refuses values of other types than those of its columns: see
    /// <https://www.sqlite.org/stricttables.html>.
    ///
    /// Of the types of ``Database/ColumnType``, only `INTEGER`, `REAL`, `TEXT`, `BLOB` and `ANY` are allowed
    /// in such a table.
    public static let strict = TableOptions(rawValue: 1 << 3)
}

/// How an index is created: see ``Database/create(index:on:columns:options:condition:)``.
public struct IndexOptions: OptionSet, Sendable {
    public let rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Does nothing if there is an index of the same name already, whatever it is on.
    public static let ifNotExists = IndexOptions(rawValue: 1 << 0)

    /// Refuses rows with the same values in all columns of the index. NULL differs from NULL.
    public static let unique = IndexOptions(rawValue: 1 << 1)
}

/// How a view is created: see ``Database/create(view:options:columns:as:)``.
public struct ViewOptions: OptionSet, Sendable {
    public let rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Does nothing if there is a table or view of the same name already, whatever it selects.
    public static let ifNotExists = ViewOptions(rawValue: 1 << 0)

    /// Creates a view that only this connection sees, and that ends with it.
    public static let temporary = ViewOptions(rawValue: 1 << 1)
}
