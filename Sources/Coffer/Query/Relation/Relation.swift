/// A query of a table: the value that underlies every request of the query interface.
///
/// It describes the query; only ``write(to:)`` generates SQL. That is also where information from the schema,
/// such as the columns of a primary key, and the names of table aliases are resolved (see ``SQLScope``).
struct Relation: Sendable {
    var source: SourceTable
    var selection: Deferred<SQLSelection>

    /// The conditions that every row must meet, combined with `AND`.
    var filters: Deferred<SQLExpression> = .none

    var groups: Deferred<SQLExpression> = .none

    /// The conditions that every group must meet, combined with `AND`.
    var groupFilters: Deferred<SQLExpression> = .none

    var ordering = Ordering()
    var limit: Limit?
    var isDistinct = false
    var commonTables: [SQLCommonTable] = []

    /// The joined tables, and the tables whose rows are prefetched for the rows of this one.
    var children: [AssociatedRelation] = []

    /// The reason why the request is invalid: a conflict among its ``children``.
    var misuse: String?

    /// Creates a query of all rows.
    init(table: String, selection: [SQLSelection]) {
        self.source = SourceTable(tableName: table)
        self.selection = .values(selection)
    }

    /// The order of the rows.
    struct Ordering: Sendable {
        var terms: Deferred<SQLOrdering> = .none
        var isReversed = false

        /// True if rows that the terms do not distinguish are put in a fixed order too.
        var isStable = false

        var isEmpty: Bool { terms.isEmpty && !isStable }
    }

    /// The range of sorted rows to return.
    struct Limit: Sendable {
        var count: Int
        var offset: Int?
    }

    /// True if a result row represents a group of table rows rather than a single one.
    var hasGroups: Bool { !groups.isEmpty || !groupFilters.isEmpty }
}

extension Relation: WritableQuery {
    /// Writes the `SELECT` statement, without parentheses around it.
    func write(to writer: inout SQLWriter) throws {
        if !children.isEmpty, let query = try joinedQuery() { return try query.write(to: &writer) }
        try writer.inScope({ try $0.enter(source) }) { writer in
            try writeCommonTables(to: &writer)
            writer.append(isDistinct ? "SELECT DISTINCT " : "SELECT ")
            try writer.append(selection.resolve(writer.db), separator: ", ") { try $0.write(to: &$1) }
            try writeOrigin(to: &writer)
            try writeOrderAndLimit(to: &writer)
        }
    }

    /// Writes the statement as a subquery that is tested for a row, or read for its first value.
    ///
    /// In this position, SQLite (3.40 and 3.46) drops `DISTINCT`, as if duplicates made no difference,
    /// although an `OFFSET` counts them. Subqueries in a `FROM` clause are not affected.
    func writeAsSubquery(to writer: inout SQLWriter) throws {
        guard isDistinct, limit?.offset != nil else { return try write(to: &writer) }
        writer.append("SELECT * FROM (")
        try write(to: &writer)
        writer.append(")")
    }

    /// Writes the `WITH` clause.
    func writeCommonTables(to writer: inout SQLWriter) throws {
        guard !commonTables.isEmpty else { return }
        writer.append(commonTables.contains(where: \.isRecursive) ? "WITH RECURSIVE " : "WITH ")
        try writer.append(commonTables, separator: ", ") { try $0.write(to: &$1) }
        writer.append(" ")
    }

    /// Writes the `FROM`, `WHERE`, `GROUP BY` and `HAVING` clauses.
    func writeOrigin(to writer: inout SQLWriter) throws {
        writer.append(" FROM ")
        try source.write(to: &writer)
        try writeConditions(to: &writer)
    }

    /// Writes the `WHERE`, `GROUP BY` and `HAVING` clauses.
    func writeConditions(to writer: inout SQLWriter) throws {
        try writer.append(conditions: filters.resolve(writer.db), after: " WHERE ")
        if !groups.isEmpty {
            let groups = try groups.resolve(writer.db)
            if !groups.isEmpty {
                writer.append(" GROUP BY ")
                try writer.append(groups, separator: ", ") { try $0.write(to: &$1) }
            }
        }
        try writer.append(conditions: groupFilters.resolve(writer.db), after: " HAVING ")
    }

    func writeOrderAndLimit(to writer: inout SQLWriter) throws {
        if !ordering.isEmpty {
            let terms = try orderingTerms(writer.db)
            if !terms.isEmpty {
                writer.append(" ORDER BY ")
                try writer.append(terms, separator: ", ") { try $0.write(to: &$1) }
            }
        }
        writeLimit(to: &writer)
    }

    func writeLimit(to writer: inout SQLWriter) {
        if let limit {
            writer.append(" LIMIT \(limit.count)")
            if let offset = limit.offset { writer.append(" OFFSET \(offset)") }
        }
    }

    /// Returns the terms of the ordering, followed by the terms that make it stable, all reversed if needed.
    private func orderingTerms(_ db: Database) throws -> [SQLOrdering] {
        var terms = try ordering.terms.resolve(db)
        if ordering.isStable {
            terms += try stableOrderingTerms(db)
        }
        return ordering.isReversed ? try terms.map { try $0.reversed() } : terms
    }

    /// Returns terms that distinguish the rows: the groups, the primary key, or, for distinct rows and rows
    /// without a known key, the result columns.
    private func stableOrderingTerms(_ db: Database) throws -> [SQLOrdering] {
        let groups = try groups.resolve(db)
        if !groups.isEmpty {
            return groups.map(\.sqlOrdering)
        }
        if !isDistinct, let key = try db.primaryKeyIfKnown(source.tableName) {
            return key.columns.map { Column($0).sqlOrdering }
        }
        return try (1...max(1, selectedColumnCount(db))).map { SQL(sql: "\($0)").sqlExpression.sqlOrdering }
    }

    /// Returns the number of columns that the query returns.
    func selectedColumnCount(_ db: Database) throws -> Int {
        var relation = self
        relation.ordering = Ordering()
        var writer = SQLWriter(db)
        try relation.write(to: &writer)
        // Writing the query reads the schema and detects any change of it.
        return try db.readSchema { try db.checkOut(writer.sql, for: .request).columnCount }
    }
}

extension Relation {
    /// Returns a statement, with its arguments set, that selects the rows of the query.
    ///
    /// - Parameters:
    ///   - singleResult: true if only the first row will be read. The statement is then limited to one row,
    ///     unless it cannot return more or has a limit of its own.
    ///   - query: the query of all joined tables, if it has already been built.
    func makeStatement(_ db: Database, forSingleResult singleResult: Bool, _ query: JoinedQuery? = nil) throws
        -> Statement
    {
        var writer = SQLWriter(db)
        if let query { try query.write(to: &writer) } else { try write(to: &writer) }
        let statement: Statement
        if !singleResult || limit != nil {
            statement = try db.checkOut(writer.sql, for: .request)
        } else if let kept = db.keptStatement(writer.sql, for: .firstRow) {
            statement = kept
        } else {
            // Not in a closure, which would copy the relation on each call.
            let text = try hasAtMostOneRow(db) ? writer.sql : writer.sql + " LIMIT 1"
            statement = try db.prepare(text, keptAs: writer.sql, for: .firstRow)
        }
        try statement.setArguments(writer.arguments)
        if !filters.isEmpty || !children.isEmpty {
            statement.setRequest(self)
        } else {
            // The cached statement may still hold an earlier request with the same text that prefetches rows.
            statement.forgetRequest()
        }
        return statement
    }
}

/// Parts of a request that are known now, or as soon as a connection provides the schema.
enum Deferred<Element: Sendable>: Sendable {
    case values([Element])
    case connected(@Sendable (Database) throws -> [Element])

    /// No parts.
    static var none: Self { .values([]) }

    /// True if there are certainly no parts.
    var isEmpty: Bool {
        if case .values(let values) = self { values.isEmpty } else { false }
    }

    func resolve(_ db: Database) throws -> [Element] {
        switch self {
        case .values(let values): values
        case .connected(let values): try values(db)
        }
    }

    mutating func append(_ other: Deferred) {
        switch (self, other) {
        case (.values(let values), .values(let newValues)):
            self = .values(values + newValues)
        case (.values(let values), _) where values.isEmpty:
            self = other
        case (let first, _):
            self = .connected { db in try first.resolve(db) + other.resolve(db) }
        }
    }
}
