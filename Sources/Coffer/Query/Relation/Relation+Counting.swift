extension Relation {
    /// Returns the number of rows of the query.
    func fetchCount(_ db: Database) throws -> Int {
        var writer = SQLWriter(db)
        try writeCount(to: &writer)
        return try fetchInt(writer)
    }

    /// Returns true if the query has no rows.
    func isEmpty(_ db: Database) throws -> Bool {
        var writer = SQLWriter(db)
        writer.append("SELECT EXISTS (")
        try writeAsSubquery(to: &writer)
        writer.append(")")
        return try fetchInt(writer) == 0
    }

    private func fetchInt(_ writer: SQLWriter) throws -> Int {
        // Aggregates and EXISTS always have one row.
        try Int.fetchOne(writer.db.checkOut(writer)) ?? 0
    }

    private func writeCount(to writer: inout SQLWriter) throws {
        var relation = self
        // The order of the rows does not change their number.
        if children.isEmpty { relation.ordering = Ordering() } else { relation = relation.unordered() }
        let selection = try selection.resolve(writer.db)
        if limit == nil, !hasGroups, !hasJoins, commonTables.isEmpty {
            if isDistinct, selection.count == 1, let expression = selection[0].countedExpression {
                relation.isDistinct = false
                relation.selection = .values([count(distinct: expression).sqlSelection])
                return try relation.write(to: &writer)
            }
            // Filters can refer to the alias of a selected expression: see `Column.detached`.
            if !isDistinct, !selection.contains(where: { $0.mayAggregate || $0.definesName }) {
                relation.selection = .values([SQL(sql: "COUNT(*)").sqlSelection])
                return try relation.write(to: &writer)
            }
        }
        writer.append("SELECT COUNT(*) FROM (")
        try relation.write(to: &writer)
        writer.append(")")
    }
}

extension SQLSelection {
    /// The selected expression; nil if the selection is not an expression, or may be an aggregate.
    fileprivate var countedExpression: SQLExpression? {
        switch impl {
        case .expression(let expression), .aliased(let expression, name: _):
            expression.mayAggregate ? nil : expression
        case .qualified(let selection, let alias):
            selection.countedExpression.map { SQLExpression(impl: .qualified($0, alias)) }
        case .allColumns, .allColumnsExcluding, .literal: nil
        }
    }

    /// True if the selection gives an expression an alias, which conditions can refer to.
    fileprivate var definesName: Bool {
        if case .aliased = unqualified.impl { true } else { false }
    }
}
