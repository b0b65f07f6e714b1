extension JoinedQuery {
    /// Writes the `SELECT` statement, without parentheses around it.
    func write(to context: inout SQLWriter) throws {
        try context.inScope({ try $0.enter(tables.map(\.named)) }) { context in
            if !commonTables.isEmpty {
                var definitions = root
                definitions.commonTables = commonTables
                try definitions.writeCommonTables(to: &context)
            }
            context.append(root.isDistinct ? "SELECT DISTINCT " : "SELECT ")
            try writeSelections(to: &context)
            context.append(" FROM ")
            try write(tables[0], to: &context)
            for table in tables.dropFirst() { try writeJoin(of: table, to: &context) }
            try root.writeConditions(to: &context)
            try writeOrder(to: &context)
            root.writeLimit(to: &context)
        }
    }

    /// Writes what is selected of each table.
    private func writeSelections(to context: inout SQLWriter) throws {
        var isFirst = true
        for table in tables {
            let selection = try table.relation.selection.resolve(context.db)
            guard !selection.isEmpty else { continue }
            if !isFirst { context.append(", ") }
            isFirst = false
            try context.inScope({ $0.qualifyColumns(of: table) }) { context in
                try context.append(selection, separator: ", ") { try $0.write(to: &$1) }
            }
        }
        if isFirst {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message:
                    "The request of \(root.source.tableName.quotedDatabaseIdentifier) selects nothing, neither of it nor of what is joined."
            )
        }
    }

    private func write(_ table: JoinedTable, to context: inout SQLWriter) throws {
        let tableName = table.relation.source.tableName
        context.append(identifier: tableName)
        if !table.name.hasSameBytes(as: tableName) {
            context.append(" ")
            context.append(identifier: table.name)
        }
    }

    private func writeJoin(of table: JoinedTable, to context: inout SQLWriter) throws {
        context.append(table.isOptional ? " LEFT JOIN " : " JOIN ")
        try write(table, to: &context)
        var terms: [SQLExpression] = []
        switch table.condition {
        case .columns(let condition):
            let left = tables[table.parent ?? 0].aliases[0]
            let right = table.aliases[0]
            terms = try (condition.columns(context.db) ?? []).map { .binary(.equal, right[$0.right], left[$0.left]) }
        case .predicate(let condition):
            terms = [condition]
        case nil:
            break
        }
        let filters = try table.relation.filters.resolve(context.db)
        try context.inScope({ $0.qualifyColumns(of: table) }) { try $0.append(conditions: terms + filters, after: " ON ") }
    }
}

// MARK: - Order

extension JoinedQuery {
    private func writeOrder(to context: inout SQLWriter) throws {
        let terms = try orderingTerms(ofTableAt: 0, context.db)
        guard !terms.isEmpty else { return }
        context.append(" ORDER BY ")
        try context.append(terms, separator: ", ") { try $0.write(to: &$1) }
    }

    /// The terms of a table, then those of the tables that are joined to it.
    private func orderingTerms(ofTableAt index: Int, _ db: Database) throws -> [SQLOrdering] {
        let table = tables[index]
        let ordering = table.relation.ordering
        var terms = try ordering.terms.resolve(db)
        if ordering.isStable { terms += try stableOrderingTerms(ofTableAt: index, db) }
        if index > 0 { terms = terms.map { table.aliases[0][$0] } }
        for child in tables.indices where tables[child].parent == index { terms += try orderingTerms(ofTableAt: child, db) }
        return ordering.isReversed ? try terms.map { try $0.reversed() } : terms
    }

    /// What tells the rows of a table apart: for the first one, all rows.
    private func stableOrderingTerms(ofTableAt index: Int, _ db: Database) throws -> [SQLOrdering] {
        let relation = tables[index].relation
        if index == 0, !relation.groups.isEmpty { return try relation.groups.resolve(db).map(\.sqlOrdering) }
        if !(index == 0 && relation.isDistinct), try db.tableExists(relation.source.tableName) {
            return try db.primaryKey(relation.source.tableName).columns.map { Column($0).sqlOrdering }
        }
        let width = try columnCounts(db)
        let start = width[..<index].reduce(0, +)
        return (start..<(start + width[index])).map { SQL(sql: "\($0 + 1)").sqlExpression.sqlOrdering }
    }
}

extension SQLScope {
    /// Has the columns that follow belong to a table of the query.
    fileprivate mutating func qualifyColumns(of table: JoinedTable) {
        qualifyColumns(ofTable: table.relation.source.tableName, with: table.name)
    }
}
