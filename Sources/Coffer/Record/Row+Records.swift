// MARK: - Records in scopes

extension Row {
    /// The record in a scope, at any depth. If several scopes have the name, it is the scope nearest to the
    /// root.
    ///
    /// - Precondition: there is such a scope, and its row can be decoded.
    @inlinable
    public subscript<Record: FetchableRecord>(_ scope: String) -> Record {
        trapping { try decode(Record.self, forKey: scope) }
    }

    /// The record in a scope, or nil if there is no such scope or its row contains only NULL.
    ///
    /// - Precondition: the row can be decoded.
    @inlinable
    public subscript<Record: FetchableRecord>(_ scope: String) -> Record? {
        trapping { try decodeIfPresent(Record.self, forKey: scope) }
    }

    /// Decodes the record in a scope, at any depth. If several scopes have the name, it is the scope nearest
    /// to the root.
    ///
    /// - Parameter scope: the name of the scope.
    /// - Throws: a ``RowDecodingError`` if there is no such scope or its row contains only NULL, and any
    ///   error that ``FetchableRecord/init(row:)`` throws.
    @inlinable
    public func decode<Record: FetchableRecord>(_ type: Record.Type = Record.self, forKey scope: String)
        throws -> Record
    {
        try Record(row: row(ofScope: scope))
    }

    /// Decodes the record in a scope, or returns nil if there is no such scope or its row contains only NULL.
    ///
    /// - Parameter scope: the name of the scope.
    @inlinable
    public func decodeIfPresent<Record: FetchableRecord>(
        _ type: Record.Type = Record.self, forKey scope: String
    ) throws -> Record? {
        try rowIfPresent(ofScope: scope).map { try Record(row: $0) }
    }

    /// Returns the row of a scope, if it contains a value other than NULL.
    @usableFromInline
    func rowIfPresent(ofScope name: String) -> Row? {
        guard let row = scope(named: name), row.containsNonNullValue else { return nil }
        return row
    }

    @usableFromInline
    func row(ofScope name: String) throws -> Row {
        if let row = rowIfPresent(ofScope: name) { return row }
        guard scope(named: name) == nil else {
            throw RowDecodingError(
                .unsupported("scope \(String(reflecting: name)) only contains null values"), row: self)
        }
        let names = scopesTree.names.sorted()
        throw RowDecodingError(
            .unsupported(
                "scope not found: \(String(reflecting: name))"
                    + (names.isEmpty ? "" : ", available scopes: \(names)")), row: self)
    }
}

// MARK: - Records of prefetched rows

extension Row {
    /// The records decoded from the prefetched rows of an association: see ``prefetchedRows``.
    ///
    ///     let row = try Row.fetchOne(db, Owner.including(all: Owner.items))
    ///     let items: [Item]? = row?["items"]
    ///
    /// - Precondition: the association was fetched, and its rows can be decoded.
    @inlinable
    public subscript<Records: RangeReplaceableCollection>(_ key: String) -> Records
    where Records.Element: FetchableRecord {
        trapping { try decode(Records.self, forKey: key) }
    }

    /// The distinct records decoded from the prefetched rows of an association: see ``prefetchedRows``.
    ///
    /// - Precondition: the association was fetched, and its rows can be decoded.
    @inlinable
    public subscript<Record: FetchableRecord & Hashable>(_ key: String) -> Set<Record> {
        trapping { try decode(Set<Record>.self, forKey: key) }
    }

    /// Decodes the records of the prefetched rows of an association.
    ///
    /// - Parameter key: the key of the prefetched rows, such as the plural of the table name.
    /// - Throws: a ``RowDecodingError`` if the association was not fetched, and any error that
    ///   ``FetchableRecord/init(row:)`` throws.
    @inlinable
    public func decode<Records: RangeReplaceableCollection>(
        _ type: Records.Type = Records.self, forKey key: String
    ) throws -> Records where Records.Element: FetchableRecord {
        var records = Records()
        let rows = try prefetchedRows(forKey: key)
        records.reserveCapacity(rows.count)
        for row in rows { records.append(try Records.Element(row: row)) }
        return records
    }

    /// Decodes the distinct records of the prefetched rows of an association.
    ///
    /// - Parameter key: the key of the prefetched rows, such as the plural of the table name.
    /// - Throws: a ``RowDecodingError`` if the association was not fetched, and any error that
    ///   ``FetchableRecord/init(row:)`` throws.
    @inlinable
    public func decode<Record: FetchableRecord & Hashable>(
        _ type: Set<Record>.Type = Set<Record>.self, forKey key: String
    ) throws -> Set<Record> {
        try Set(prefetchedRows(forKey: key).map { try Record(row: $0) })
    }

    @usableFromInline
    func prefetchedRows(forKey key: String) throws -> [Row] {
        if let rows = prefetchedRows[key] { return rows }
        let keys = prefetchedRows.keys.sorted()
        throw RowDecodingError(
            .unsupported(
                "key for prefetched rows not found: \(String(reflecting: key))"
                    + (keys.isEmpty ? "" : ", available keys: \(keys)")),
            row: self)
    }
}
