extension SQLRelation {
    /// A statement that selects the rows of the query, with its arguments.
    ///
    /// - Parameters:
    ///   - singleResult: whether only the first row will be read. Then the statement asks for no more, unless there cannot be more.
    ///   - query: the query of all joined tables, if it is made already.
    func makeStatement(_ db: Database, forSingleResult singleResult: Bool, _ query: JoinedQuery? = nil) throws -> Statement {
        guard singleResult, let limit else {
            return try makeStatement(db, limitingUnlimitedResult: singleResult, query)
        }
        var relation = self
        relation.limit?.count = limit.count < 0 ? 1 : min(limit.count, 1)
        return try relation.makeStatement(db, limitingUnlimitedResult: false, nil)
    }

    private func makeStatement(_ db: Database, limitingUnlimitedResult isLimited: Bool, _ query: JoinedQuery?) throws -> Statement {
        var context = SQLGenerationContext(db)
        if let query { try query.write(to: &context) } else { try write(to: &context) }
        let statement =
            if isLimited {
                try db.singleResultStatement(sql: context.sql) { try hasAtMostOneRow(db) ? context.sql : context.sql + " LIMIT 1" }
            } else {
                try db.requestStatement(sql: context.sql)
            }
        try statement.setArguments(context.arguments)
        if !filters.isEmpty || !children.isEmpty {
            statement.setRequest(self)
        } else {
            // The same text may have been made of a request that fetches more rows after its own.
            statement.forgetRequest()
        }
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
