extension SQLSpecificExpressible {
    /// Returns the expression, compared and sorted by a collation.
    ///
    ///     // "name" COLLATE NOCASE
    ///     Column("name").collating(.nocase)
    ///
    /// In a condition, the collation applies to the comparison of its operands:
    ///
    ///     // ("name" = ? COLLATE NOCASE) OR (("details" COLLATE NOCASE) IN (?, ?))
    ///     (Column("name") == "passport" || ["void", "lost"].contains(Column("details"))).collating(.nocase)
    public func collating(_ collation: Database.CollationName) -> SQLExpression {
        sqlExpression.collated(collation)
    }

    /// Returns the expression, compared and sorted by a collation, which must be registered with the
    /// connection.
    public func collating(_ collation: DatabaseCollation) -> SQLExpression {
        collating(Database.CollationName(collation.name))
    }

    /// The `LIKE` operator, which ignores the case of ASCII letters.
    ///
    ///     // "fileName" LIKE ?
    ///     Column("fileName").like("%.pdf")
    ///
    /// - Parameters:
    ///   - pattern: the pattern, in which `%` matches any text and `_` any single character.
    ///   - escape: the escape character, after which `%` and `_` match themselves.
    public func like(_ pattern: some SQLExpressible, escape: (any SQLExpressible)? = nil) -> SQLExpression {
        SQLExpression(
            impl: .like(
                sqlExpression, pattern: pattern.sqlExpression, escape: escape?.sqlExpression, isNegated: false
            ))
    }
}

extension SQLExpression {
    /// Returns the expression with a collation where SQLite looks for it: the result of a comparison has
    /// none.
    fileprivate func collated(_ collation: Database.CollationName) -> SQLExpression {
        switch impl {
        case .binary(let op, let lhs, let rhs) where op.isComparison:
            // The collation of the left operand has precedence over the right operand's.
            if case .collated = lhs.impl { return self }
            return SQLExpression(impl: .binary(op, lhs, rhs.collated(collation)))
        case .associative(let op, let operands) where op == .and || op == .or:
            return SQLExpression(impl: .associative(op, operands.map { $0.collated(collation) }))
        case .not(let operand):
            return SQLExpression(impl: .not(operand.collated(collation)))
        case .between(let operand, let lower, let upper, let isNegated):
            return SQLExpression(
                impl: .between(operand.collated(collation), lower, upper, isNegated: isNegated))
        case .isIn(let operand, let members, let isNegated):
            return SQLExpression(impl: .isIn(operand.collated(collation), members, isNegated: isNegated))
        case .qualified(let operand, let alias):
            return SQLExpression(impl: .qualified(operand.collated(collation), alias))
        case .collated:
            return self
        case .databaseValue(let value) where value.isNull:
            return self
        default:
            return SQLExpression(impl: .collated(self, collation))
        }
    }
}

extension SQLExpression.BinaryOperator {
    var isComparison: Bool {
        switch self {
        case .equal, .notEqual, .isSame, .isNotSame, .less, .lessOrEqual, .greater, .greaterOrEqual: true
        case .subtract, .divide, .leftShift, .rightShift, .match, .jsonRepresentation, .jsonValue: false
        }
    }
}
