/// A request of a table, which knows the keys of its rows.
public protocol TableRequest<RowDecoder>: TypedRequest {
    /// The name of the table.
    var databaseTableName: String { get }

    /// The request whose table an alias refers to. See `aliased(_:)`.
    func _aliased(_ alias: TableAliasBase) -> Self
}

extension TableRequest {
    /// The request whose table an alias refers to.
    public func aliased(_ alias: TableAlias<RowDecoder>) -> Self { _aliased(alias) }

    /// The request whose table an alias refers to.
    public func aliased(_ alias: TableAlias<Void>) -> Self { _aliased(alias) }
}

// MARK: - Keys

extension TableRequest where Self: FilteredRequest {
    /// Keeps the row with a primary key. No row has the key NULL.
    ///
    /// A table without a primary key has its row IDs for keys. The strategies of record types that say how
    /// dates, data and UUIDs are stored, such as ``EncodableRecord/databaseUUIDEncodingStrategy(for:)``, hold
    /// for the key too.
    ///
    /// When the request is used, it throws a ``DatabaseError`` of code `SQLITE_MISUSE` if the primary key has
    /// several columns.
    public func filter(key: some DatabaseValueConvertible) -> Self {
        filter(primaryKeys: [RequestedKey(key)])
    }

    /// Keeps the rows with some primary keys; see `filter(key:)`.
    public func filter<Keys>(keys: Keys) -> Self
    where Keys: Collection, Keys.Element: DatabaseValueConvertible {
        filter(primaryKeys: keys.map { RequestedKey($0) })
    }

    /// Keeps the row with a primary or unique key: a value for each of its columns. No row has the key nil.
    ///
    ///     // SELECT * FROM "share" WHERE ("itemId" = 4) AND ("guestId" = 3)
    ///     Share.all().filter(key: ["itemId": 4, "guestId": 3])
    ///
    /// The values are taken as they are: no strategy of the record type changes them.
    ///
    /// When the request is used, it throws a ``DatabaseError`` of code `SQLITE_MISUSE` if the columns are
    /// neither the primary key nor those of a unique index.
    public func filter(key: [String: (any DatabaseValueConvertible)?]?) -> Self {
        guard let key else { return none() }
        return filter(keys: [key])
    }

    /// Keeps the rows with some primary or unique keys; see `filter(key:)`.
    public func filter(keys: [[String: (any DatabaseValueConvertible)?]]) -> Self {
        guard !keys.isEmpty else { return none() }
        let keys = keys.map { key in key.mapValues { $0?.databaseValue ?? .null } }
        return filterWhenConnected(Relation.uniqueKeyCondition(keys, table: databaseTableName))
    }

    private func filter(primaryKeys keys: [RequestedKey]) -> Self {
        filterWhenConnected(
            Relation.primaryKeyCondition(keys, KeyStorage(RowDecoder.self), table: databaseTableName))
    }
}

extension TableRequest
where Self: FilteredRequest, RowDecoder: Identifiable, RowDecoder.ID: DatabaseValueConvertible {
    /// Keeps the row with a primary key.
    public func filter(id: RowDecoder.ID) -> Self { filter(key: id) }

    /// Keeps the rows with some primary keys.
    public func filter(ids: some Collection<RowDecoder.ID>) -> Self { filter(keys: ids) }
}

// MARK: - Order and groups

extension TableRequest where Self: OrderedRequest {
    /// Sorts by the columns of the primary key, or by the row ID if the table declares none.
    public func orderByPrimaryKey() -> Self {
        let tableName = databaseTableName
        return orderWhenConnected { db in try db.primaryKey(tableName).columns.map { Column($0) } }
    }
}

extension TableRequest where Self: AggregatingRequest {
    /// Groups rows by the primary key, or by the row ID if the table declares none: each row is a group.
    public func groupByPrimaryKey() -> Self {
        let tableName = databaseTableName
        return groupWhenConnected { db in
            try db.columnsOfRowKey(of: tableName).map { Column($0) }
        }
    }
}
