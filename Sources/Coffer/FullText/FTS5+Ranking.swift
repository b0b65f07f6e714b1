// The functions that FTS5 has for the rows of a search. Each finds out by itself which table it is written
// for.

extension FTS5 {
    /// How well a row matches the pattern that is searched for, with weights of columns: the smaller the
    /// better.
    ///
    ///     // SELECT * FROM "itemText" WHERE "itemText" MATCH 'ring' ORDER BY BM25("itemText", 10.0, 1.0)
    ///     ItemText.matching(pattern).order(FTS5.bm25(weights: [10, 1]))
    ///
    /// Without weights it is ``Column/rank``, which is faster to sort by.
    /// - Parameter weights: how much a word counts in each column, in the order of the columns; 1 for those
    ///   that are left out.
    /// - Returns: an expression for requests that match a pattern: elsewhere, SQLite throws.
    public static func bm25(weights: [Double] = []) -> SQLExpression {
        .function("BM25", [SQLExpression(impl: .currentTable)] + weights.map(\.sqlExpression))
    }

    /// The text of a column, with marks around the words that were searched for.
    ///
    ///     // SELECT HIGHLIGHT("itemText", 1, '<b>', '</b>') AS "details" FROM "itemText" WHERE "itemText" MATCH 'ring'
    ///     ItemText.matching(pattern).select(FTS5.highlight(Column("details"), from: "<b>", to: "</b>").forKey("details"))
    ///
    /// The text itself is not escaped: where it may contain what looks like a mark, choose marks that it
    /// cannot contain.
    ///
    /// - Parameters:
    ///   - column: a column of the table.
    ///   - start: the mark before a word, or before the words of a phrase.
    ///   - end: the mark behind it.
    /// - Returns: an expression for requests that match a pattern. When the request is used, it throws a
    ///   ``DatabaseError`` if the table has no such column.
    public static func highlight(_ column: some ColumnExpression, from start: String, to end: String)
        -> SQLExpression
    {
        .function(
            "HIGHLIGHT",
            [
                SQLExpression(impl: .currentTable), .position(of: column), start.sqlExpression,
                end.sqlExpression,
            ])
    }

    /// A piece of the text of a column that has many of the words that were searched for, with marks around
    /// them.
    ///
    ///     // SELECT SNIPPET("itemText", -1, '<b>', '</b>', '…', 8) FROM "itemText" WHERE "itemText" MATCH 'ring'
    ///     ItemText.matching(pattern).select(FTS5.snippet(from: "<b>", to: "</b>", ellipsis: "…", tokenCount: 8))
    ///
    /// - Parameters:
    ///   - column: a column of the table; nil for the one that fits best.
    ///   - start: the mark before a word, or before the words of a phrase.
    ///   - end: the mark behind it.
    ///   - ellipsis: what stands where the text goes on, before or behind the piece.
    ///   - tokenCount: how many words the piece has at most: from 1 to 64.
    /// - Returns: an expression for requests that match a pattern. When the request is used, it throws a
    ///   ``DatabaseError`` if the table has no such column.
    /// - Precondition: `tokenCount` is from 1 to 64.
    public static func snippet(
        _ column: (any ColumnExpression)? = nil, from start: String, to end: String, ellipsis: String,
        tokenCount: Int
    ) -> SQLExpression {
        precondition((1...64).contains(tokenCount), "A snippet has from 1 to 64 words.")
        let column =
            column.map { SQLExpression.position(of: $0) } ?? SQLExpression(impl: .literal(SQL(sql: "-1")))
        return .function(
            "SNIPPET",
            [
                SQLExpression(impl: .currentTable), column, start.sqlExpression, end.sqlExpression,
                ellipsis.sqlExpression,
                tokenCount.sqlExpression,
            ])
    }
}

extension SQLExpression {
    fileprivate static func position(of column: some ColumnExpression) -> SQLExpression {
        SQLExpression(impl: .columnPosition(column.name))
    }
}
