// How requests and columns are searched. Any pattern is accepted for any table: only its text counts, and
// SQLite throws if it does not fit.

extension TableRequest where Self: FilteredRequest {
    /// Keeps the rows of a full-text table that match a pattern. Without a pattern there is none.
    ///
    ///     // SELECT * FROM "itemText" WHERE "itemText" MATCH 'gold* ri*'
    ///     ItemText.all().matching(FTS3Pattern(matchingAllPrefixesIn: "gold ri"))
    public func matching(_ pattern: FTS3Pattern?) -> Self { matching(text: pattern?.rawPattern) }

    /// Keeps the rows of a full-text table that match a pattern. Without a pattern there is none.
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
    /// The rows of a full-text table that match a pattern. Without a pattern there is none.
    public static func matching(_ pattern: FTS3Pattern?) -> QueryInterfaceRequest<Self> {
        all().matching(pattern)
    }

    /// The rows of a full-text table that match a pattern. Without a pattern there is none.
    ///
    ///     ItemText.matching(FTS5Pattern(matchingAllPrefixesIn: "gold ri")).order(Column.rank)
    public static func matching(_ pattern: FTS5Pattern?) -> QueryInterfaceRequest<Self> {
        all().matching(pattern)
    }
}

extension ColumnExpression {
    /// Whether a column of a full-text table matches a pattern; NULL without a pattern.
    ///
    ///     // SELECT * FROM "itemText" WHERE "name" MATCH 'ring'
    ///     ItemText.filter { $0.name.match(pattern) }
    public func match(_ pattern: FTS3Pattern?) -> SQLExpression {
        .binary(.match, sqlExpression, SQLExpression.databaseValue(pattern?.databaseValue ?? .null))
    }

    /// Whether a column of a full-text table matches a pattern.
    public func match(_ pattern: FTS5Pattern) -> SQLExpression { .binary(.match, sqlExpression, pattern) }
}

extension Table {
    /// The rows of a full-text table that match a pattern. Without a pattern there is none.
    public func matching(_ pattern: FTS3Pattern?) -> QueryInterfaceRequest<RowDecoder> {
        all().matching(pattern)
    }

    /// The rows of a full-text table that match a pattern. Without a pattern there is none.
    public func matching(_ pattern: FTS5Pattern?) -> QueryInterfaceRequest<RowDecoder> {
        all().matching(pattern)
    }
}
