/// A query of a table: the value behind every request of the query interface.
///
/// It says what is asked for; ``write(to:)`` is the only place that makes SQL of it. What needs the schema,
/// such as the columns of a primary key, is resolved there, and so are the names that table aliases stand for
/// (see ``SQLScope``).
struct Relation: Sendable {
    var source: SourceTable
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
        self.source = SourceTable(tableName: table)
        self.selection = .values(selection)
    }

    /// How the rows are sorted.
    struct Ordering: Sendable {
        var terms: Deferred<SQLOrdering> = .none
        var isReversed = false

        /// Whether rows that the terms do not distinguish are put in an order too.
        var isStable = false

        var isEmpty: Bool { terms.isEmpty && !isStable }
    }

    /// Which of the sorted rows there are.
    struct Limit: Sendable {
        var count: Int
        var offset: Int?
    }

    /// Whether a row is made of several rows of the table, and not one of them.
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

    /// Writes the statement such that another one can ask whether it has a row, or for its first value.
    ///
    /// SQLite (3.40 and 3.46) forgets `DISTINCT` there, as if duplicates made no difference: but an `OFFSET`
    /// counts them. A table is not treated so.
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

    /// Writes from which table the rows come, and how they are filtered and grouped.
    func writeOrigin(to writer: inout SQLWriter) throws {
        writer.append(" FROM ")
        try source.write(to: &writer)
        try writeConditions(to: &writer)
    }

    /// Writes how the rows are filtered and grouped.
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

    /// The terms of the ordering, and then those that make it stable, reversed where they have to be.
    private func orderingTerms(_ db: Database) throws -> [SQLOrdering] {
        var terms = try ordering.terms.resolve(db)
        if ordering.isStable {
            terms += try stableOrderingTerms(db)
        }
        return ordering.isReversed ? try terms.map { try $0.reversed() } : terms
    }

    /// What distinguishes the rows: the groups, or the columns of the result where they are made distinct, or
    /// the primary key.
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

    /// How many columns the query returns.
    func selectedColumnCount(_ db: Database) throws -> Int {
        var relation = self
        relation.ordering = Ordering()
        var writer = SQLWriter(db)
        try relation.write(to: &writer)
        // What is written about the schema has read it, and has noticed if it has changed.
        return try db.readSchema { try db.checkOut(writer.sql, for: .request).columnCount }
    }
}

extension Relation {
    /// A statement that selects the rows of the query, with its arguments.
    ///
    /// - Parameters:
    ///   - singleResult: whether only the first row will be read. Then the statement asks for no more, unless
    ///     there cannot be more.
    ///   - query: the query of all joined tables, if it is made already.
    func makeStatement(_ db: Database, forSingleResult singleResult: Bool, _ query: JoinedQuery? = nil) throws
        -> Statement
    {
        guard singleResult, let limit else {
            return try makeStatement(db, limitingUnlimitedResult: singleResult, query)
        }
        var relation = self
        relation.limit?.count = limit.count < 0 ? 1 : min(limit.count, 1)
        return try relation.makeStatement(db, limitingUnlimitedResult: false, nil)
    }

    private func makeStatement(_ db: Database, limitingUnlimitedResult isLimited: Bool, _ query: JoinedQuery?)
        throws -> Statement
    {
        var writer = SQLWriter(db)
        if let query { try query.write(to: &writer) } else { try write(to: &writer) }
        let statement: Statement
        if !isLimited {
            statement = try db.checkOut(writer.sql, for: .request)
        } else if let kept = db.keptStatement(writer.sql, for: .firstRow) {
            statement = kept
        } else {
            // Not in a closure, which would copy the relation each time.
            let text = try hasAtMostOneRow(db) ? writer.sql : writer.sql + " LIMIT 1"
            statement = try db.prepare(text, keptAs: writer.sql, for: .firstRow)
        }
        try statement.setArguments(writer.arguments)
        if !filters.isEmpty || !children.isEmpty {
            statement.setRequest(self)
        } else {
            // The same text may have been made of a request that fetches more rows after its own.
            statement.forgetRequest()
        }
        return statement
    }
}

/// Parts of a request that are known now, or as soon as there is a connection that knows the schema.
enum Deferred<Element: Sendable>: Sendable {
    case values([Element])
    case connected(@Sendable (Database) throws -> [Element])

    /// No part.
    static var none: Self { .values([]) }

    /// Whether it is known that there is no part.
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
