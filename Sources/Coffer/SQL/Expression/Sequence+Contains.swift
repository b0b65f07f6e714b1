extension Sequence where Element: SQLExpressible {
    /// The expression `element IN (...)`, with one argument for each value of the sequence.
    ///
    ///     // "id" IN (?, ?, ?)
    ///     [1, 2, 3].contains(Column("id"))
    public func contains(_ element: some SQLSpecificExpressible) -> SQLExpression {
        SQLExpression(impl: .isIn(element.sqlExpression, .list(map(\.sqlExpression)), isNegated: false))
    }
}

extension Sequence<any SQLExpressible> {
    /// The expression `element IN (...)`.
    public func contains(_ element: some SQLSpecificExpressible) -> SQLExpression {
        SQLExpression(impl: .isIn(element.sqlExpression, .list(map(\.sqlExpression)), isNegated: false))
    }
}

// Ranges of integers are sequences too: they have their own functions, so that they are compared and not enumerated.

extension ClosedRange where Bound: SQLExpressible {
    /// The expression `element BETWEEN lower AND upper`.
    public func contains(_ element: some SQLSpecificExpressible) -> SQLExpression {
        .between(element, self)
    }
}

extension ClosedRange where Bound: SQLExpressible & Strideable, Bound.Stride: SignedInteger {
    /// The expression `element BETWEEN lower AND upper`.
    public func contains(_ element: some SQLSpecificExpressible) -> SQLExpression {
        .between(element, self)
    }
}

extension Range where Bound: SQLExpressible {
    /// The expression `(element >= lower) AND (element < upper)`.
    public func contains(_ element: some SQLSpecificExpressible) -> SQLExpression {
        element >= lowerBound && element < upperBound
    }
}

extension Range where Bound: SQLExpressible & Strideable, Bound.Stride: SignedInteger {
    /// The expression `(element >= lower) AND (element < upper)`.
    public func contains(_ element: some SQLSpecificExpressible) -> SQLExpression {
        element >= lowerBound && element < upperBound
    }
}

extension SQLExpression {
    fileprivate static func between<Bound: SQLExpressible>(
        _ element: some SQLSpecificExpressible, _ range: ClosedRange<Bound>
    ) -> SQLExpression {
        SQLExpression(
            impl: .between(
                element.sqlExpression, range.lowerBound.sqlExpression, range.upperBound.sqlExpression, isNegated: false))
    }
}
