extension JoinedQuery {
    /// Writes the `SELECT` statement, without parentheses around it.
    func write(to writer: inout SQLWriter) throws {
        try writer.inScope({ try $0.enter(tables.map(\.named)) }) { writer in
            if !commonTables.isEmpty {
                var definitions = root
                definitions.commonTables = commonTables
                try definitions.writeCommonTables(to: &writer)
            }
            writer.append(root.isDistinct ? "SELECT DISTINCT " : "SELECT ")
            try writeSelections(to: &writer)
            writer.append(" FROM ")
            try write(tables[0], to: &writer)
            for table in tables.dropFirst() { try writeJoin(of: table, to: &writer) }
            try root.writeConditions(to: &writer)
            try writeOrder(to: &writer)
            root.writeLimit(to: &writer)
        }
    }

    /// Writes the selection of each table.
    private func writeSelections(to writer: inout SQLWriter) throws {
        var isFirst = true
        for table in tables {
            let selection = try table.relation.selection.resolve(writer.db)
            guard !selection.isEmpty else { continue }
            if !isFirst { writer.append(", ") }
            isFirst = false
            try writer.inScope({ $0.qualifyColumns(of: table) }) { writer in
                try writer.append(selection, separator: ", ") { try $0.write(to: &$1) }
            }
        }
        if isFirst {
            throw DatabaseError.misuse(
                "The request of \(root.source.tableName.quotedDatabaseIdentifier) selects no columns, "
                    + "neither of the table itself nor of joined tables.")
        }
    }

    private func write(_ table: JoinedTable, to writer: inout SQLWriter) throws {
        let tableName = table.relation.source.tableName
        writer.append(identifier: tableName)
        if !table.name.hasSameBytes(as: tableName) {
            writer.append(" ")
            writer.append(identifier: table.name)
        }
    }

    private func writeJoin(of table: JoinedTable, to writer: inout SQLWriter) throws {
        writer.append(table.isOptional ? " LEFT JOIN " : " JOIN ")
        try write(table, to: &writer)
        var terms: [SQLExpression] = []
        switch table.condition {
        case .columns(let condition):
            let left = tables[table.parent ?? 0].aliases[0]
            let right = table.aliases[0]
            terms = try (condition.columns(writer.db) ?? []).map {
                .binary(.equal, right[$0.right], left[$0.left])
            }
        case .predicate(let condition):
            terms = [condition]
        case nil:
            break
        }
        let filters = try table.relation.filters.resolve(writer.db)
        try writer.inScope({ $0.qualifyColumns(of: table) }) {
            try $0.append(conditions: terms + filters, after: " ON ")
        }
    }
}

// MARK: - Order

extension JoinedQuery {
    private func writeOrder(to writer: inout SQLWriter) throws {
        let terms = try orderingTerms(ofTableAt: 0, writer.db)
        guard !terms.isEmpty else { return }
        writer.append(" ORDER BY ")
        try writer.append(terms, separator: ", ") { try $0.write(to: &$1) }
    }

    /// Returns the terms of a table, followed by the terms of the tables joined to it.
    private func orderingTerms(ofTableAt index: Int, _ db: Database) throws -> [SQLOrdering] {
        let table = tables[index]
        let ordering = table.relation.ordering
        var terms = try ordering.terms.resolve(db)
        if ordering.isStable { terms += try stableOrderingTerms(ofTableAt: index, db) }
        if index > 0 { terms = terms.map { table.aliases[0][$0] } }
        for child in tables.indices where tables[child].parent == index {
            terms += try orderingTerms(ofTableAt: child, db)
        }
        return ordering.isReversed ? try terms.map { try $0.reversed() } : terms
    }

    /// Returns terms that distinguish the rows of a table, or, for the first table, the rows of the result.
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
    /// Qualifies the columns that are written next with a table of the query.
    fileprivate mutating func qualifyColumns(of table: JoinedTable) {
        qualifyColumns(ofTable: table.relation.source.tableName, with: table.name)
    }
}
