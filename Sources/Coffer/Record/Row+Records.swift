// MARK: - Records in scopes

extension Row {
    /// The record in a scope, at any depth: the scope nearest to the root.
    ///
    /// - Precondition: there is such a scope, and its row can be decoded.
    public subscript<Record: FetchableRecord>(_ scope: String) -> Record {
        trapping { try decode(Record.self, forKey: scope) }
    }

    /// The record in a scope, or nil if there is no such scope, or nothing but NULL in its row.
    ///
    /// - Precondition: the row can be decoded.
    public subscript<Record: FetchableRecord>(_ scope: String) -> Record? {
        trapping { try decodeIfPresent(Record.self, forKey: scope) }
    }

    /// Decodes the record in a scope, at any depth: the scope nearest to the root.
    ///
    /// - Throws: a ``RowDecodingError`` if there is no such scope, or nothing but NULL in its row, and what ``FetchableRecord/init(row:)`` throws.
    public func decode<Record: FetchableRecord>(_ type: Record.Type = Record.self, forKey scope: String) throws -> Record {
        guard let row = scopesTree[scope] else {
            let names = scopesTree.names.sorted()
            throw RowDecodingError(
                .unsupported(
                    "scope not found: \(String(reflecting: scope))" + (names.isEmpty ? "" : ", available scopes: \(names)")), row: self)
        }
        guard row.containsNonNullValue else {
            throw RowDecodingError(.unsupported("scope \(String(reflecting: scope)) only contains null values"), row: self)
        }
        return try Record(row: row)
    }

    /// Decodes the record in a scope, or returns nil if there is no such scope, or nothing but NULL in its row.
    public func decodeIfPresent<Record: FetchableRecord>(_ type: Record.Type = Record.self, forKey scope: String) throws -> Record? {
        guard let row = scopesTree[scope], row.containsNonNullValue else { return nil }
        return try Record(row: row)
    }
}

// MARK: - Records of prefetched rows

extension Row {
    /// The records of the rows that were fetched for an association: see ``prefetchedRows``.
    ///
    ///     let row = try Row.fetchOne(db, Owner.including(all: Owner.items))
    ///     let items: [Item]? = row?["items"]
    ///
    /// - Precondition: the association was fetched, and its rows can be decoded.
    public subscript<Records: RangeReplaceableCollection>(_ key: String) -> Records where Records.Element: FetchableRecord {
        trapping { try decode(Records.self, forKey: key) }
    }

    /// The distinct records of the rows that were fetched for an association: see ``prefetchedRows``.
    ///
    /// - Precondition: the association was fetched, and its rows can be decoded.
    public subscript<Record: FetchableRecord & Hashable>(_ key: String) -> Set<Record> {
        trapping { try decode(Set<Record>.self, forKey: key) }
    }

    /// Decodes the records of the rows that were fetched for an association.
    ///
    /// - Throws: a ``RowDecodingError`` if the association was not fetched, and what ``FetchableRecord/init(row:)`` throws.
    public func decode<Records: RangeReplaceableCollection>(
        _ type: Records.Type = Records.self, forKey key: String
    ) throws -> Records where Records.Element: FetchableRecord {
        var records = Records()
        let rows = try prefetchedRows(forKey: key)
        records.reserveCapacity(rows.count)
        for row in rows { records.append(try Records.Element(row: row)) }
        return records
    }

    /// Decodes the distinct records of the rows that were fetched for an association.
    ///
    /// - Throws: a ``RowDecodingError`` if the association was not fetched, and what ``FetchableRecord/init(row:)`` throws.
    public func decode<Record: FetchableRecord & Hashable>(
        _ type: Set<Record>.Type = Set<Record>.self, forKey key: String
    ) throws -> Set<Record> {
        try Set(prefetchedRows(forKey: key).map { try Record(row: $0) })
    }

    private func prefetchedRows(forKey key: String) throws -> [Row] {
        if let rows = prefetchedRows[key] { return rows }
        let keys = prefetchedRows.keys.sorted()
        throw RowDecodingError(
            .unsupported(
                "key for prefetched rows not found: \(String(reflecting: key))" + (keys.isEmpty ? "" : ", available keys: \(keys)")),
            row: self)
    }
}
