extension Database {
    /// Executes all statements of a literal.
    ///
    ///     try db.execute(literal: "DELETE FROM share WHERE itemId = \(item.id) AND expiry < \(today)")
    ///
    /// - Throws: a ``DatabaseError`` if a statement does not compile or fails, or if values are missing or
    ///   remain. Statements before the failed one have been executed.
    public func execute(literal sqlLiteral: SQL) throws {
        let (sql, arguments) = try sqlLiteral.build(self)
        try execute(sql: sql, arguments: arguments)
    }

    /// Prepares a statement, and sets its arguments to the values of the literal, if there are any.
    ///
    /// - Throws: a ``DatabaseError`` if the SQL does not compile, or if the literal has values, but not as
    ///   many as the SQL needs.
    public func makeStatement(literal sqlLiteral: SQL) throws -> Statement {
        let (sql, arguments) = try sqlLiteral.build(self)
        let statement = try makeStatement(sql: sql)
        // A literal without values may have placeholders, whose arguments come later.
        if !arguments.isEmpty { try statement.setArguments(arguments) }
        return statement
    }

    /// Returns a cached statement, with its arguments set to the values of the literal.
    ///
    /// Two literals that differ only in their values share one statement: do not use them at the same time.
    public func cachedStatement(literal sqlLiteral: SQL) throws -> Statement {
        let (sql, arguments) = try sqlLiteral.build(self)
        let statement = try cachedStatement(sql: sql)
        // A literal without values may have placeholders, whose arguments come later.
        if !arguments.isEmpty { try statement.setArguments(arguments) }
        return statement
    }

    /// Returns the statements of a literal. They are prepared and given their arguments as the cursor
    /// advances.
    public func allStatements(literal sqlLiteral: SQL) throws -> SQLStatementCursor {
        let (sql, arguments) = try sqlLiteral.build(self)
        return try allStatements(sql: sql, arguments: arguments.isEmpty ? nil : arguments)
    }
}
