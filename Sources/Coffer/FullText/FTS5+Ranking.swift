// The auxiliary functions of FTS5. Their first argument, the name of the table, is filled in by the request.

extension FTS5 {
    /// Returns the rank of a row for the searched pattern, with weighted columns: smaller is better.
    ///
    ///     // SELECT * FROM "itemText" WHERE "itemText" MATCH 'ring' ORDER BY BM25("itemText", 10.0, 1.0)
    ///     ItemText.matching(pattern).order(FTS5.bm25(weights: [10, 1]))
    ///
    /// Without weights it equals ``Column/rank``, which is faster to sort by.
    ///
    /// - Parameter weights: the weight of a word in each column, in the order of the columns; 1 for columns
    ///   without a weight.
    /// - Returns: an expression for requests that match a pattern. SQLite throws in any other request.
    public static func bm25(weights: [Double] = []) -> SQLExpression {
        .function("BM25", [SQLExpression(impl: .currentTable)] + weights.map(\.sqlExpression))
    }

    /// Returns the text of a column, with marks around the matching words.
    ///
    ///     // SELECT HIGHLIGHT("itemText", 1, '<b>', '</b>') AS "details" FROM "itemText" WHERE "itemText" MATCH 'ring'
    ///     ItemText.matching(pattern).select(FTS5.highlight(Column("details"), from: "<b>", to: "</b>").forKey("details"))
    ///
    /// The text itself is not escaped. If it may contain text that looks like a mark, choose marks that it
    /// cannot contain.
    ///
    /// - Parameters:
    ///   - column: a column of the table.
    ///   - start: the mark before a word, or before the words of a phrase.
    ///   - end: the mark after it.
    /// - Returns: an expression for requests that match a pattern. A request throws a ``DatabaseError`` if
    ///   the table has no such column.
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

    /// Returns a fragment of a column's text that contains many of the matching words, with marks around
    /// them.
    ///
    ///     // SELECT SNIPPET("itemText", -1, '<b>', '</b>', '…', 8) FROM "itemText" WHERE "itemText" MATCH 'ring'
    ///     ItemText.matching(pattern).select(FTS5.snippet(from: "<b>", to: "</b>", ellipsis: "…", tokenCount: 8))
    ///
    /// - Parameters:
    ///   - column: a column of the table; nil for the best matching one.
    ///   - start: the mark before a word, or before the words of a phrase.
    ///   - end: the mark after it.
    ///   - ellipsis: the text that replaces omitted text before or after the fragment.
    ///   - tokenCount: the maximum number of words in the fragment, from 1 to 64.
    /// - Returns: an expression for requests that match a pattern. A request throws a ``DatabaseError`` if
    ///   the table has no such column.
    /// - Precondition: `tokenCount` is from 1 to 64.
    public static func snippet(
        _ column: (any ColumnExpression)? = nil, from start: String, to end: String, ellipsis: String,
        tokenCount: Int
    ) -> SQLExpression {
        precondition((1...64).contains(tokenCount), "A snippet must have 1 to 64 tokens.")
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
