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
    /// - Throws: a ``RowDecodingError`` if there is no such scope, and what ``FetchableRecord/init(row:)`` throws.
    public func decode<Record: FetchableRecord>(_ type: Record.Type = Record.self, forKey scope: String) throws -> Record {
        guard let row = scopesTree[scope] else {
            throw RowDecodingError(.unsupported("scope not found: \(String(reflecting: scope))"), row: self)
        }
        return try Record(row: row)
    }

    /// Decodes the record in a scope, or returns nil if there is no such scope, or nothing but NULL in its row.
    public func decodeIfPresent<Record: FetchableRecord>(_ type: Record.Type = Record.self, forKey scope: String) throws -> Record? {
        guard let row = scopesTree[scope], row.containsNonNullValue else { return nil }
        return try Record(row: row)
    }
}
