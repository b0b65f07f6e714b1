// Searches of requests and columns. Any pattern is accepted for any table: only its text is passed on, and
// SQLite throws if the text is not valid for the table.

extension TableRequest where Self: FilteredRequest {
    /// Returns a request for the rows of a full-text table that match a pattern. No row matches a nil
    /// pattern.
    ///
    ///     // SELECT * FROM "itemText" WHERE "itemText" MATCH 'gold* ri*'
    ///     ItemText.all().matching(FTS3Pattern(matchingAllPrefixesIn: "gold ri"))
    public func matching(_ pattern: FTS3Pattern?) -> Self { matching(text: pattern?.rawPattern) }

    /// Returns a request for the rows of a full-text table that match a pattern. No row matches a nil
    /// pattern.
    ///
    ///     // SELECT * FROM "itemText" WHERE "itemText" MATCH 'gold* ri*' ORDER BY "rank"
    ///     ItemText.all().matching(FTS5Pattern(matchingAllPrefixesIn: "gold ri")).order(Column.rank)
    public func matching(_ pattern: FTS5Pattern?) -> Self { matching(text: pattern?.rawPattern) }

    private func matching(text: String?) -> Self {
        guard let text else { return none() }
        return filter(SQLExpression.binary(.match, SQLExpression(impl: .currentTable), text))
    }
}

extension TableRecord {
    /// Returns a request for the rows of a full-text table that match a pattern. No row matches a nil
    /// pattern.
    public static func matching(_ pattern: FTS3Pattern?) -> QueryInterfaceRequest<Self> {
        all().matching(pattern)
    }

    /// Returns a request for the rows of a full-text table that match a pattern. No row matches a nil
    /// pattern.
    ///
    ///     ItemText.matching(FTS5Pattern(matchingAllPrefixesIn: "gold ri")).order(Column.rank)
    public static func matching(_ pattern: FTS5Pattern?) -> QueryInterfaceRequest<Self> {
        all().matching(pattern)
    }
}

extension ColumnExpression {
    /// Returns a condition that is true if a column of a full-text table matches a pattern, and NULL for a
    /// nil pattern.
    ///
    ///     // SELECT * FROM "itemText" WHERE "name" MATCH 'ring'
    ///     ItemText.filter { $0.name.match(pattern) }
    public func match(_ pattern: FTS3Pattern?) -> SQLExpression {
        .binary(.match, sqlExpression, SQLExpression.databaseValue(pattern?.databaseValue ?? .null))
    }

    /// Returns a condition that is true if a column of a full-text table matches a pattern.
    public func match(_ pattern: FTS5Pattern) -> SQLExpression { .binary(.match, sqlExpression, pattern) }
}

extension Table {
    /// Returns a request for the rows of a full-text table that match a pattern. No row matches a nil
    /// pattern.
    public func matching(_ pattern: FTS3Pattern?) -> QueryInterfaceRequest<RowDecoder> {
        all().matching(pattern)
    }

    /// Returns a request for the rows of a full-text table that match a pattern. No row matches a nil
    /// pattern.
    public func matching(_ pattern: FTS5Pattern?) -> QueryInterfaceRequest<RowDecoder> {
        all().matching(pattern)
    }
}
