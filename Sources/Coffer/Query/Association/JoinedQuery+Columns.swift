extension JoinedQuery {
    /// Returns the adapter that assigns the columns of a row to the tables; nil if all columns belong to the
    /// first table.
    ///
    /// - Throws: a ``DatabaseError`` if the number of columns that a table selects is unknown.
    func rowAdapter(_ db: Database) throws -> JoinedRowAdapter? {
        guard tables.dropFirst().contains(where: { !$0.relation.selection.isEmpty }) else { return nil }
        let counts = try columnCounts(db)
        guard counts.dropFirst().contains(where: { $0 > 0 }) else { return nil }
        // From the last table to the first, so that the tables joined to a table are processed before it.
        var scopes: [[JoinedRowAdapter.Scope]] = Array(repeating: [], count: tables.count)
        var end = counts.reduce(0, +)
        for index in tables.indices.dropFirst().reversed() {
            let start = end - counts[index]
            // A table that selects nothing is a scope only if it contains other scopes.
            if start < end || !scopes[index].isEmpty, let parent = tables[index].parent {
                scopes[parent].append(
                    JoinedRowAdapter.Scope(
                        name: tables[index].key, columns: start..<end, scopes: scopes[index]))
            }
            end = start
        }
        return JoinedRowAdapter(
            columnCount: counts.reduce(0, +), rootColumnCount: counts[0], scopes: scopes[0])
    }

    /// Returns the number of columns that each table selects.
    func columnCounts(_ db: Database) throws -> [Int] {
        try tables.map { table in
            try table.relation.selection.resolve(db).reduce(0) { try $0 + columnCount(of: $1, in: table, db) }
        }
    }

    private func columnCount(of selection: SQLSelection, in table: JoinedTable, _ db: Database) throws -> Int
    {
        switch selection.impl {
        case .expression, .aliased:
            return 1
        case .allColumns:
            return try columnCount(ofTable: table.relation.source.tableName, db)
        case .allColumnsExcluding(let names):
            return try db.columns(in: table.relation.source.tableName).count {
                !names.contains(CaseInsensitiveName($0.name))
            }
        case .qualified(let selection, let alias):
            // If the alias belongs to no table in reach, writing the selection throws an error.
            return try columnCount(
                of: selection, in: tables.first { $0.aliases.contains(alias) } ?? table, db)
        case .literal:
            throw DatabaseError.misuse(
                "The number of columns of a selection literal is unknown, so the columns of joined "
                    + "tables cannot be found after it. Select expressions of "
                    + "\(table.relation.source.tableName.quotedDatabaseIdentifier) instead, for example "
                    + "SQL(\"...\").sqlExpression.")
        }
    }

    private func columnCount(ofTable tableName: String, _ db: Database) throws -> Int {
        let name = CaseInsensitiveName(tableName)
        guard let definition = commonTables.first(where: { CaseInsensitiveName($0.name) == name }) else {
            return try db.columns(in: tableName).count
        }
        return try definition.columnCount(db)
    }
}

extension SQLCommonTable {
    fileprivate func columnCount(_ db: Database) throws -> Int {
        if let columns { return columns.count }
        var writer = SQLWriter(db)
        do {
            try query.write(to: &writer)
            return try db.checkOut(writer.sql, for: .request).columnCount
        } catch {
            throw DatabaseError(
                resultCode: .SQLITE_ERROR,
                message:
                    "The columns of the common table expression \(name.quotedDatabaseIdentifier) cannot be "
                    + "counted: \(error). Give their names where you create it.")
        }
    }
}
