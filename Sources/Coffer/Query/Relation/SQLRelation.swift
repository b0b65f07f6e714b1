/// A query of a table: the value behind every request of the query interface.
///
/// It says what is asked for; ``write(to:)`` is the only place that makes SQL of it. What needs the schema, such as the columns of a
/// primary key, is resolved there, and so are the names that table aliases stand for (see ``SQLScope``).
struct SQLRelation: Sendable {
    var source: SQLSource
    var selection: Deferred<SQLSelection>

    /// The conditions that a row must meet, all of them.
    var filters: Deferred<SQLExpression> = .none

    var groups: Deferred<SQLExpression> = .none

    /// The conditions that a group must meet, all of them.
    var groupFilters: Deferred<SQLExpression> = .none

    var ordering = Ordering()
    var limit: Limit?
    var isDistinct = false
    var commonTables: [SQLCommonTable] = []

    /// The tables that are joined, or whose rows are fetched for the rows of this one.
    var children: [AssociatedRelation] = []

    /// Why the request cannot be used: what is wrong with its ``children``.
    var misuse: String?

    /// A query of all rows.
    init(table: String, selection: [SQLSelection]) {
        self.source = SQLSource(tableName: table)
        self.selection = .values(selection)
    }

    /// How the rows are sorted.
    struct Ordering: Sendable {
        var terms: Deferred<SQLOrdering> = .none
        var isReversed = false

        /// Whether rows that the terms do not tell apart are put in an order too.
        var isStable = false

        var isEmpty: Bool { terms.isEmpty && !isStable }
    }

    /// Which of the sorted rows there are.
    struct Limit: Sendable {
        var count: Int
        var offset: Int?
    }

    /// Whether the rows are those of the table, and not made of several.
    var hasGroups: Bool { !groups.isEmpty || !groupFilters.isEmpty }
}
