extension SQLRelation {
    /// A statement that selects the rows of the query, with its arguments.
    ///
    /// - Parameter singleResult: whether only the first row will be read. Then the statement asks for no more, unless there cannot be more.
    func makeStatement(_ db: Database, forSingleResult singleResult: Bool) throws -> Statement {
        guard singleResult, let limit else {
            return try makeStatement(db, limitingUnlimitedResult: singleResult)
        }
        var relation = self
        relation.limit?.count = limit.count < 0 ? 1 : min(limit.count, 1)
        return try relation.makeStatement(db, limitingUnlimitedResult: false)
    }

    private func makeStatement(_ db: Database, limitingUnlimitedResult isLimited: Bool) throws -> Statement {
        var context = SQLGenerationContext(db)
        try write(to: &context)
        let statement =
            if isLimited {
                try db.singleResultStatement(sql: context.sql) { try hasAtMostOneRow(db) ? context.sql : context.sql + " LIMIT 1" }
            } else {
                try db.requestStatement(sql: context.sql)
            }
        try statement.setArguments(context.arguments)
        if !filters.isEmpty { statement.request = self }
        return statement
    }
}

extension Database {
    /// A statement for SQL that was generated, with its arguments.
    func requestStatement(_ context: SQLGenerationContext) throws -> Statement {
        let statement = try requestStatement(sql: context.sql)
        try statement.setArguments(context.arguments)
        return statement
    }
}
