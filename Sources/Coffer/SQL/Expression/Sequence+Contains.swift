extension Sequence where Element: SQLExpressible {
    /// Returns the expression `element IN (...)`, with one argument for each value of the sequence; `element
    /// = ?` for one value, and false for none.
    ///
    ///     // "name" IN (?, ?, ?)
    ///     ["deed", "will", "passport"].contains(Column("name"))
    public func contains(_ element: some SQLSpecificExpressible) -> SQLExpression {
        .isMember(element.sqlExpression, of: map(\.sqlExpression))
    }
}

extension Sequence<any SQLExpressible> {
    /// Returns the expression `element IN (...)`.
    public func contains(_ element: some SQLSpecificExpressible) -> SQLExpression {
        .isMember(element.sqlExpression, of: map(\.sqlExpression))
    }
}

// Ranges of integers are sequences too. They have their own functions, so that their bounds are compared
// instead of their elements being listed.

extension ClosedRange where Bound: SQLExpressible {
    /// Returns the expression `element BETWEEN lower AND upper`.
    public func contains(_ element: some SQLSpecificExpressible) -> SQLExpression {
        .between(element, self)
    }
}

extension ClosedRange where Bound: SQLExpressible & Strideable, Bound.Stride: SignedInteger {
    /// Returns the expression `element BETWEEN lower AND upper`.
    public func contains(_ element: some SQLSpecificExpressible) -> SQLExpression {
        .between(element, self)
    }
}

extension Range where Bound: SQLExpressible {
    /// Returns the expression `(element >= lower) AND (element < upper)`.
    public func contains(_ element: some SQLSpecificExpressible) -> SQLExpression {
        element >= lowerBound && element < upperBound
    }
}

extension Range where Bound: SQLExpressible & Strideable, Bound.Stride: SignedInteger {
    /// Returns the expression `(element >= lower) AND (element < upper)`.
    public func contains(_ element: some SQLSpecificExpressible) -> SQLExpression {
        element >= lowerBound && element < upperBound
    }
}

extension SQLExpression {
    fileprivate static func isMember(_ element: SQLExpression, of members: [SQLExpression]) -> SQLExpression {
        if members.isEmpty { return SQLExpression(impl: .boolean(false)) }
        if members.count == 1 { return .binary(.equal, element, members[0]) }
        return SQLExpression(impl: .isIn(element, .list(members), isNegated: false))
    }

    fileprivate static func between<Bound: SQLExpressible>(
        _ element: some SQLSpecificExpressible, _ range: ClosedRange<Bound>
    ) -> SQLExpression {
        SQLExpression(
            impl: .between(
                element.sqlExpression, range.lowerBound.sqlExpression, range.upperBound.sqlExpression,
                isNegated: false))
    }
}
