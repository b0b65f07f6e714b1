extension SQLRelation: WritableQuery {
    /// Writes the `SELECT` statement, without parentheses around it.
    func write(to context: inout SQLGenerationContext) throws {
        if !children.isEmpty, let query = try joinedQuery() { return try query.write(to: &context) }
        try context.inScope({ try $0.enter(source) }) { context in
            try writeCommonTables(to: &context)
            context.append(isDistinct ? "SELECT DISTINCT " : "SELECT ")
            try context.append(selection.resolve(context.db), separator: ", ") { try $0.write(to: &$1) }
            try writeOrigin(to: &context)
            try writeOrderAndLimit(to: &context)
        }
    }

    /// Writes the `WITH` clause.
    func writeCommonTables(to context: inout SQLGenerationContext) throws {
        guard !commonTables.isEmpty else { return }
        context.append(commonTables.contains(where: \.isRecursive) ? "WITH RECURSIVE " : "WITH ")
        try context.append(commonTables, separator: ", ") { try $0.write(to: &$1) }
        context.append(" ")
    }

    /// Writes from which table the rows come, and how they are filtered and grouped.
    func writeOrigin(to context: inout SQLGenerationContext) throws {
        context.append(" FROM ")
        try source.write(to: &context)
        try writeConditions(to: &context)
    }

    /// Writes how the rows are filtered and grouped.
    func writeConditions(to context: inout SQLGenerationContext) throws {
        try context.append(conditions: filters.resolve(context.db), after: " WHERE ")
        if !groups.isEmpty {
            let groups = try groups.resolve(context.db)
            if !groups.isEmpty {
                context.append(" GROUP BY ")
                try context.append(groups, separator: ", ") { try $0.write(to: &$1) }
            }
        }
        try context.append(conditions: groupFilters.resolve(context.db), after: " HAVING ")
    }

    func writeOrderAndLimit(to context: inout SQLGenerationContext) throws {
        if !ordering.isEmpty {
            let terms = try orderingTerms(context.db)
            if !terms.isEmpty {
                context.append(" ORDER BY ")
                try context.append(terms, separator: ", ") { try $0.write(to: &$1) }
            }
        }
        writeLimit(to: &context)
    }

    func writeLimit(to context: inout SQLGenerationContext) {
        if let limit {
            context.append(" LIMIT \(limit.count)")
            if let offset = limit.offset { context.append(" OFFSET \(offset)") }
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

    /// What tells the rows apart: the groups, or the columns of the result where they are made distinct, or the primary key.
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
        var context = SQLGenerationContext(db)
        try relation.write(to: &context)
        // What is written about the schema has read it, and has noticed if it has changed.
        return try db.readSchema { try db.requestStatement(sql: context.sql).columnCount }
    }
}

extension SQLGenerationContext {
    /// Appends conditions that must all be met, after a keyword; nothing if there is none.
    mutating func append(conditions: [SQLExpression], after keyword: String) throws {
        guard let first = conditions.first else { return }
        append(keyword)
        if conditions.count == 1 {
            try first.write(to: &self)
        } else {
            try SQLExpression.associative(.and, conditions).write(to: &self)
        }
    }
}
