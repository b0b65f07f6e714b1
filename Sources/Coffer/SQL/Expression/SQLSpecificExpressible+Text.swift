extension SQLSpecificExpressible {
    /// The expression, compared and sorted by a collation.
    ///
    ///     // "name" COLLATE "NOCASE"
    ///     Column("name").collating(.nocase)
    public func collating(_ collation: Database.CollationName) -> SQLExpression {
        SQLExpression(impl: .collated(sqlExpression, collation))
    }

    /// The expression, compared and sorted by a collation, which the connection has to know.
    public func collating(_ collation: DatabaseCollation) -> SQLExpression {
        collating(Database.CollationName(collation.name))
    }

    /// The `LIKE` operator, which ignores the case of ASCII letters.
    ///
    ///     // "email" LIKE ?
    ///     Column("email").like("%@example.com")
    ///
    /// - Parameters:
    ///   - pattern: the pattern, in which `%` stands for any text and `_` for any character.
    ///   - escape: the character before a `%` or `_` that stands for itself.
    public func like(_ pattern: some SQLExpressible, escape: (any SQLExpressible)? = nil) -> SQLExpression {
        SQLExpression(
            impl: .like(sqlExpression, pattern: pattern.sqlExpression, escape: escape?.sqlExpression, isNegated: false))
    }
}
