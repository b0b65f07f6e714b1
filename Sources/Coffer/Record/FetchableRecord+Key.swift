// MARK: - One record by its primary key

extension FetchableRecord where Self: TableRecord {
    /// Fetches the record with a primary key, or returns nil if there is none.
    ///
    ///     // SELECT * FROM "owner" WHERE "id" = 7
    ///     guard let owner = try Owner.fetchOne(db, key: 7) else { return }
    ///
    /// In a table without a primary key, the row ID is the key.
    ///
    /// - Parameter key: the value of the primary key, which must have one column. For nil, no statement runs.
    /// - Throws: a ``DatabaseError``, with `SQLITE_MISUSE` if the primary key has several columns, and any
    ///   error that ``init(row:)`` throws.
    @inlinable
    public static func fetchOne(_ db: Database, key: some DatabaseValueConvertible) throws -> Self? {
        guard let fetch = try db.fetch(Self.self, key: key) else { return nil }
        defer { fetch.end() }
        return try Self(row: fetch.row)
    }

    /// Fetches the record with a primary key: see `fetchOne(_:key:)`.
    ///
    ///     let item = try Item.find(db, key: 1)
    ///
    /// - Parameter key: the value of the primary key, which must have one column.
    /// - Throws: also ``RecordError/recordNotFound(databaseTableName:key:)`` if there is no such row.
    @inlinable
    public static func find(_ db: Database, key: some DatabaseValueConvertible) throws -> Self {
        guard let record = try fetchOne(db, key: key) else { throw recordNotFound(db, key: key) }
        return record
    }

    /// Fetches the record with a primary or unique key, given as values by column name. Returns nil if there
    /// is no such record or the key is nil.
    ///
    ///     let share = try Share.fetchOne(db, key: ["guestId": guest.id, "itemId": item.id])
    ///
    /// - Parameter key: the values of a primary or unique key, by column name.
    /// - Throws: a ``DatabaseError``, with `SQLITE_MISUSE` if the columns are neither the primary key nor a
    ///   unique index.
    public static func fetchOne(_ db: Database, key: [String: (any DatabaseValueConvertible)?]?) throws
        -> Self?
    {
        guard let key else { return nil }
        return try filter(key: key).fetchOne(db)
    }

    /// Fetches the record with a primary or unique key: see `fetchOne(_:key:)`.
    ///
    /// - Parameter key: the values of a primary or unique key, by column name.
    /// - Throws: also ``RecordError/recordNotFound(databaseTableName:key:)`` if there is no such row.
    public static func find(_ db: Database, key: [String: (any DatabaseValueConvertible)?]) throws -> Self {
        guard let record = try fetchOne(db, key: key) else {
            throw recordNotFound(key: key)
        }
        return record
    }
}

extension FetchableRecord where Self: TableRecord & Identifiable, ID: DatabaseValueConvertible {
    /// Fetches the record with an ID, or returns nil if there is none: see `fetchOne(_:key:)`.
    ///
    /// - Parameter id: the value of the primary key.
    /// - Throws: a ``DatabaseError``, with `SQLITE_MISUSE` if the primary key has several columns, and any
    ///   error that ``init(row:)`` throws.
    @inlinable
    public static func fetchOne(_ db: Database, id: ID) throws -> Self? { try fetchOne(db, key: id) }

    /// Fetches the record with an ID.
    ///
    /// - Parameter id: the value of the primary key.
    /// - Throws: also ``RecordError/recordNotFound(databaseTableName:key:)`` if there is no such row.
    @inlinable
    public static func find(_ db: Database, id: ID) throws -> Self { try find(db, key: id) }

    /// Returns a cursor over the records with the given IDs, in no particular order.
    ///
    /// - Parameter ids: values of the primary key.
    /// - Throws: a ``DatabaseError``, with `SQLITE_MISUSE` if the primary key has several columns, and any
    ///   error that ``init(row:)`` throws.
    public static func fetchCursor(_ db: Database, ids: some Collection<ID>) throws -> RecordCursor<Self> {
        try filter(ids: ids).fetchCursor(db)
    }

    /// Fetches the records with the given IDs, in no particular order.
    ///
    /// - Parameter ids: values of the primary key.
    /// - Throws: a ``DatabaseError``, with `SQLITE_MISUSE` if the primary key has several columns, and any
    ///   error that ``init(row:)`` throws.
    public static func fetchAll(_ db: Database, ids: some Collection<ID>) throws -> [Self] {
        ids.isEmpty ? [] : try filter(ids: ids).fetchAll(db)
    }
}

extension FetchableRecord where Self: TableRecord & Identifiable & Hashable, ID: DatabaseValueConvertible {
    /// Fetches the records with the given IDs.
    ///
    /// - Parameter ids: values of the primary key.
    /// - Throws: a ``DatabaseError``, with `SQLITE_MISUSE` if the primary key has several columns, and any
    ///   error that ``init(row:)`` throws.
    public static func fetchSet(_ db: Database, ids: some Collection<ID>) throws -> Set<Self> {
        ids.isEmpty ? [] : try filter(ids: ids).fetchSet(db)
    }
}

// MARK: - All records, and those with some keys

extension FetchableRecord where Self: TableRecord {
    /// Returns a cursor over all records of the table.
    ///
    /// - Throws: a ``DatabaseError`` if the statement fails or its arguments do not match its parameters, and
    ///   any error that ``init(row:)`` throws.
    @inlinable
    public static func fetchCursor(_ db: Database) throws -> RecordCursor<Self> { try fetchCursor(db, all()) }

    /// Fetches all records of the table.
    ///
    /// - Throws: a ``DatabaseError`` if the statement fails or its arguments do not match its parameters, and
    ///   any error that ``init(row:)`` throws.
    @inlinable
    public static func fetchAll(_ db: Database) throws -> [Self] { try fetchAll(db, all()) }

    /// Fetches the first record of the table, or returns nil if there is none.
    ///
    /// - Throws: a ``DatabaseError`` if the statement fails or its arguments do not match its parameters, and
    ///   any error that ``init(row:)`` throws.
    @inlinable
    public static func fetchOne(_ db: Database) throws -> Self? { try fetchOne(db, all()) }

    /// Returns a cursor over the records with the given primary keys, in no particular order.
    ///
    /// - Parameter keys: values of the primary key, which must have one column.
    /// - Throws: a ``DatabaseError``, with `SQLITE_MISUSE` if the primary key has several columns, and any
    ///   error that ``init(row:)`` throws.
    public static func fetchCursor<Keys>(_ db: Database, keys: Keys) throws -> RecordCursor<Self>
    where Keys: Collection, Keys.Element: DatabaseValueConvertible {
        try filter(keys: keys).fetchCursor(db)
    }

    /// Fetches the records with the given primary keys, in no particular order.
    ///
    /// - Parameter keys: values of the primary key, which must have one column.
    /// - Throws: a ``DatabaseError``, with `SQLITE_MISUSE` if the primary key has several columns, and any
    ///   error that ``init(row:)`` throws.
    public static func fetchAll<Keys>(_ db: Database, keys: Keys) throws -> [Self]
    where Keys: Collection, Keys.Element: DatabaseValueConvertible {
        keys.isEmpty ? [] : try filter(keys: keys).fetchAll(db)
    }

    /// Returns a cursor over the records with the given primary or unique keys, in no particular order.
    ///
    /// - Parameter keys: the values of primary or unique keys, by column name.
    /// - Throws: a ``DatabaseError``, with `SQLITE_MISUSE` if the columns of a key are not a unique key, and
    ///   any error that ``init(row:)`` throws.
    public static func fetchCursor(_ db: Database, keys: [[String: (any DatabaseValueConvertible)?]]) throws
        -> RecordCursor<Self>
    {
        try filter(keys: keys).fetchCursor(db)
    }

    /// Fetches the records with the given primary or unique keys, in no particular order.
    ///
    /// - Parameter keys: the values of primary or unique keys, by column name.
    /// - Throws: a ``DatabaseError``, with `SQLITE_MISUSE` if the columns of a key are not a unique key, and
    ///   any error that ``init(row:)`` throws.
    public static func fetchAll(_ db: Database, keys: [[String: (any DatabaseValueConvertible)?]]) throws
        -> [Self]
    {
        keys.isEmpty ? [] : try filter(keys: keys).fetchAll(db)
    }
}

extension FetchableRecord where Self: TableRecord & Hashable {
    /// Fetches all distinct records of the table.
    ///
    /// - Throws: a ``DatabaseError`` if the statement fails or its arguments do not match its parameters, and
    ///   any error that ``init(row:)`` throws.
    @inlinable
    public static func fetchSet(_ db: Database) throws -> Set<Self> { try fetchSet(db, all()) }

    /// Fetches the records with the given primary keys.
    ///
    /// - Parameter keys: values of the primary key, which must have one column.
    /// - Throws: a ``DatabaseError``, with `SQLITE_MISUSE` if the primary key has several columns, and any
    ///   error that ``init(row:)`` throws.
    public static func fetchSet<Keys>(_ db: Database, keys: Keys) throws -> Set<Self>
    where Keys: Collection, Keys.Element: DatabaseValueConvertible {
        keys.isEmpty ? [] : try filter(keys: keys).fetchSet(db)
    }

    /// Fetches the records with the given primary or unique keys.
    ///
    /// - Parameter keys: the values of primary or unique keys, by column name.
    /// - Throws: a ``DatabaseError``, with `SQLITE_MISUSE` if the columns of a key are not a unique key, and
    ///   any error that ``init(row:)`` throws.
    public static func fetchSet(_ db: Database, keys: [[String: (any DatabaseValueConvertible)?]]) throws
        -> Set<Self>
    {
        keys.isEmpty ? [] : try filter(keys: keys).fetchSet(db)
    }
}
