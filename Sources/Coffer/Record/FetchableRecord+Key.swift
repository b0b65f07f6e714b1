// MARK: - One record by its primary key

extension FetchableRecord where Self: TableRecord {
    /// Fetches the record with a primary key, or nil if there is none.
    ///
    ///     // SELECT * FROM "owner" WHERE "id" = 7
    ///     guard let owner = try Owner.fetchOne(db, key: 7) else { return }
    ///
    /// A table without a primary key has its row IDs for keys.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - key: the value of the primary key, or the values of the columns of a unique key.
    /// - Throws: a ``DatabaseError``, of code `SQLITE_MISUSE` if the primary key has several columns, and
    ///   what ``init(row:)`` throws.
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
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - key: the value of the primary key, or the values of the columns of a unique key.
    /// - Throws: also ``RecordError/recordNotFound(databaseTableName:key:)`` if there is none.
    @inlinable
    public static func find(_ db: Database, key: some DatabaseValueConvertible) throws -> Self {
        guard let record = try fetchOne(db, key: key) else { throw recordNotFound(db, key: key) }
        return record
    }

    /// Fetches the record with a primary or unique key, a value for each of its columns; nil if there is
    /// none, and for the key nil.
    ///
    ///     let share = try Share.fetchOne(db, key: ["guestId": guest.id, "itemId": item.id])
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - key: the value of the primary key, or the values of the columns of a unique key.
    /// - Throws: a ``DatabaseError``, of code `SQLITE_MISUSE` if the columns are neither the primary key nor
    ///   those of a unique index.
    public static func fetchOne(_ db: Database, key: [String: (any DatabaseValueConvertible)?]?) throws
        -> Self?
    {
        guard let key else { return nil }
        return try filter(key: key).fetchOne(db)
    }

    /// Fetches the record with a primary or unique key: see `fetchOne(_:key:)`.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - key: the value of the primary key, or the values of the columns of a unique key.
    /// - Throws: also ``RecordError/recordNotFound(databaseTableName:key:)`` if there is none.
    public static func find(_ db: Database, key: [String: (any DatabaseValueConvertible)?]) throws -> Self {
        guard let record = try fetchOne(db, key: key) else {
            throw recordNotFound(key: key)
        }
        return record
    }
}

extension FetchableRecord where Self: TableRecord & Identifiable, ID: DatabaseValueConvertible {
    /// Fetches the record with an ID, or nil if there is none: see `fetchOne(_:key:)`.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - id: the value of the primary key.
    /// - Throws: a ``DatabaseError``, of code `SQLITE_MISUSE` if the primary key has several columns, and
    ///   what ``init(row:)`` throws.
    @inlinable
    public static func fetchOne(_ db: Database, id: ID) throws -> Self? { try fetchOne(db, key: id) }

    /// Fetches the record with an ID.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - id: the value of the primary key.
    /// - Throws: also ``RecordError/recordNotFound(databaseTableName:key:)`` if there is none.
    @inlinable
    public static func find(_ db: Database, id: ID) throws -> Self { try find(db, key: id) }

    /// A cursor over the records with some IDs, in no particular order.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - ids: values of the primary key, one for each row.
    /// - Throws: a ``DatabaseError``, of code `SQLITE_MISUSE` if the primary key has several columns, and
    ///   what ``init(row:)`` throws.
    public static func fetchCursor(_ db: Database, ids: some Collection<ID>) throws -> RecordCursor<Self> {
        try filter(ids: ids).fetchCursor(db)
    }

    /// The records with some IDs, in no particular order.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - ids: values of the primary key, one for each row.
    /// - Throws: a ``DatabaseError``, of code `SQLITE_MISUSE` if the primary key has several columns, and
    ///   what ``init(row:)`` throws.
    public static func fetchAll(_ db: Database, ids: some Collection<ID>) throws -> [Self] {
        ids.isEmpty ? [] : try filter(ids: ids).fetchAll(db)
    }
}

extension FetchableRecord where Self: TableRecord & Identifiable & Hashable, ID: DatabaseValueConvertible {
    /// The records with some IDs.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - ids: values of the primary key, one for each row.
    /// - Throws: a ``DatabaseError``, of code `SQLITE_MISUSE` if the primary key has several columns, and
    ///   what ``init(row:)`` throws.
    public static func fetchSet(_ db: Database, ids: some Collection<ID>) throws -> Set<Self> {
        ids.isEmpty ? [] : try filter(ids: ids).fetchSet(db)
    }
}

// MARK: - All records, and those with some keys

extension FetchableRecord where Self: TableRecord {
    /// A cursor over all records of the table.
    ///
    /// - Throws: a ``DatabaseError`` if the statement fails or its arguments do not fit, and what
    ///   ``init(row:)`` throws.
    @inlinable
    public static func fetchCursor(_ db: Database) throws -> RecordCursor<Self> { try fetchCursor(db, all()) }

    /// All records of the table.
    ///
    /// - Throws: a ``DatabaseError`` if the statement fails or its arguments do not fit, and what
    ///   ``init(row:)`` throws.
    @inlinable
    public static func fetchAll(_ db: Database) throws -> [Self] { try fetchAll(db, all()) }

    /// The first record of the table, or nil if there is none.
    ///
    /// - Throws: a ``DatabaseError`` if the statement fails or its arguments do not fit, and what
    ///   ``init(row:)`` throws.
    @inlinable
    public static func fetchOne(_ db: Database) throws -> Self? { try fetchOne(db, all()) }

    /// A cursor over the records with some primary keys, in no particular order.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - keys: values of the primary key, or the values of the columns of a unique key, one for each row.
    /// - Throws: a ``DatabaseError``, of code `SQLITE_MISUSE` if the primary key has several columns, and
    ///   what ``init(row:)`` throws.
    public static func fetchCursor<Keys>(_ db: Database, keys: Keys) throws -> RecordCursor<Self>
    where Keys: Collection, Keys.Element: DatabaseValueConvertible {
        try filter(keys: keys).fetchCursor(db)
    }

    /// The records with some primary keys, in no particular order.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - keys: values of the primary key, or the values of the columns of a unique key, one for each row.
    /// - Throws: a ``DatabaseError``, of code `SQLITE_MISUSE` if the primary key has several columns, and
    ///   what ``init(row:)`` throws.
    public static func fetchAll<Keys>(_ db: Database, keys: Keys) throws -> [Self]
    where Keys: Collection, Keys.Element: DatabaseValueConvertible {
        keys.isEmpty ? [] : try filter(keys: keys).fetchAll(db)
    }

    /// A cursor over the records with some primary or unique keys, in no particular order.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - keys: values of the primary key, or the values of the columns of a unique key, one for each row.
    /// - Throws: a ``DatabaseError``, of code `SQLITE_MISUSE` if the columns of a key are not unique, and
    ///   what ``init(row:)`` throws.
    public static func fetchCursor(_ db: Database, keys: [[String: (any DatabaseValueConvertible)?]]) throws
        -> RecordCursor<Self>
    {
        try filter(keys: keys).fetchCursor(db)
    }

    /// The records with some primary or unique keys, in no particular order.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - keys: values of the primary key, or the values of the columns of a unique key, one for each row.
    /// - Throws: a ``DatabaseError``, of code `SQLITE_MISUSE` if the columns of a key are not unique, and
    ///   what ``init(row:)`` throws.
    public static func fetchAll(_ db: Database, keys: [[String: (any DatabaseValueConvertible)?]]) throws
        -> [Self]
    {
        keys.isEmpty ? [] : try filter(keys: keys).fetchAll(db)
    }
}

extension FetchableRecord where Self: TableRecord & Hashable {
    /// All distinct records of the table.
    ///
    /// - Throws: a ``DatabaseError`` if the statement fails or its arguments do not fit, and what
    ///   ``init(row:)`` throws.
    @inlinable
    public static func fetchSet(_ db: Database) throws -> Set<Self> { try fetchSet(db, all()) }

    /// The records with some primary keys.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - keys: values of the primary key, or the values of the columns of a unique key, one for each row.
    /// - Throws: a ``DatabaseError``, of code `SQLITE_MISUSE` if the primary key has several columns, and
    ///   what ``init(row:)`` throws.
    public static func fetchSet<Keys>(_ db: Database, keys: Keys) throws -> Set<Self>
    where Keys: Collection, Keys.Element: DatabaseValueConvertible {
        keys.isEmpty ? [] : try filter(keys: keys).fetchSet(db)
    }

    /// The records with some primary or unique keys.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - keys: values of the primary key, or the values of the columns of a unique key, one for each row.
    /// - Throws: a ``DatabaseError``, of code `SQLITE_MISUSE` if the columns of a key are not unique, and
    ///   what ``init(row:)`` throws.
    public static func fetchSet(_ db: Database, keys: [[String: (any DatabaseValueConvertible)?]]) throws
        -> Set<Self>
    {
        keys.isEmpty ? [] : try filter(keys: keys).fetchSet(db)
    }
}
