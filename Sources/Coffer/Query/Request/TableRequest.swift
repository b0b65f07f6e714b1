/// A request of a table, which can use the keys of its rows.
public protocol TableRequest<RowDecoder>: TypedRequest {
    /// The name of the table.
    var databaseTableName: String { get }

    /// Returns the request with an alias for its table. See `aliased(_:)`.
    func _aliased(_ alias: TableAliasBase) -> Self
}

extension TableRequest {
    /// Returns a request with an alias for its table.
    public func aliased(_ alias: TableAlias<RowDecoder>) -> Self { _aliased(alias) }

    /// Returns a request with an alias for its table.
    public func aliased(_ alias: TableAlias<Void>) -> Self { _aliased(alias) }
}

// MARK: - Keys

extension TableRequest where Self: FilteredRequest {
    /// Keeps the row with a primary key. NULL matches no row.
    ///
    /// In a table without a primary key, the row ID is the key. The record type's strategies for dates, data
    /// and UUIDs, such as ``EncodableRecord/databaseUUIDEncodingStrategy(for:)``, also apply to the key.
    ///
    /// When the request is used, it throws a ``DatabaseError`` with `SQLITE_MISUSE` if the primary key has
    /// several columns.
    public func filter(key: some DatabaseValueConvertible) -> Self {
        filter(primaryKeys: [RequestedKey(key)])
    }

    /// Keeps the rows with the given primary keys: see `filter(key:)`.
    public func filter<Keys>(keys: Keys) -> Self
    where Keys: Collection, Keys.Element: DatabaseValueConvertible {
        filter(primaryKeys: keys.map { RequestedKey($0) })
    }

    /// Keeps the row with a primary or unique key, given as values by column name. The key nil matches no
    /// row.
    ///
    ///     // SELECT * FROM "share" WHERE ("itemId" = 4) AND ("guestId" = 3)
    ///     Share.all().filter(key: ["itemId": 4, "guestId": 3])
    ///
    /// The values are used unchanged: the strategies of the record type do not apply.
    ///
    /// When the request is used, it throws a ``DatabaseError`` with `SQLITE_MISUSE` if the columns are
    /// neither the primary key nor a unique index.
    public func filter(key: [String: (any DatabaseValueConvertible)?]?) -> Self {
        guard let key else { return none() }
        return filter(keys: [key])
    }

    /// Keeps the rows with the given primary or unique keys: see `filter(key:)`.
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

    /// Keeps the rows with the given primary keys.
    public func filter(ids: some Collection<RowDecoder.ID>) -> Self { filter(keys: ids) }
}

// MARK: - Order and groups

extension TableRequest where Self: OrderedRequest {
    /// Sorts by the columns of the primary key, or by the row ID if the table declares no primary key.
    public func orderByPrimaryKey() -> Self {
        let tableName = databaseTableName
        return orderWhenConnected { db in try db.primaryKey(tableName).columns.map { Column($0) } }
    }
}

extension TableRequest where Self: AggregatingRequest {
    /// Groups rows by the primary key, or by the row ID if the table declares no primary key: each row is a
    /// group.
    public func groupByPrimaryKey() -> Self {
        let tableName = databaseTableName
        return groupWhenConnected { db in
            try db.columnsOfRowKey(of: tableName).map { Column($0) }
        }
    }
}
