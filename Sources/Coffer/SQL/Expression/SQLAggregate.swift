/// The call of an aggregate function.
struct SQLAggregate: Sendable {
    let name: String
    let arguments: [SQLExpression]
    var isDistinct = false

    /// The order in which the values of a group are taken.
    var ordering: SQLOrdering?

    /// Which rows of a group count.
    var filter: SQLExpression?

    func write(to writer: inout SQLWriter) throws {
        writer.append(functionName: name)
        writer.append(isDistinct ? "(DISTINCT " : "(")
        try writer.append(arguments, separator: ", ") { try $0.write(to: &$1) }
        if let ordering {
            writer.append(" ORDER BY ")
            try ordering.write(to: &writer)
        }
        writer.append(")")
        if let filter {
            writer.append(" FILTER (WHERE ")
            try filter.write(to: &writer)
            writer.append(")")
        }
    }
}

extension SQLExpression {
    /// The call of an aggregate with one argument.
    static func aggregate(
        _ name: String, _ value: some SQLSpecificExpressible, isDistinct: Bool = false,
        ordering: (any SQLOrderingTerm)? = nil,
        filter: (any SQLSpecificExpressible)? = nil
    ) -> SQLExpression {
        SQLExpression(
            impl: .aggregate(
                SQLAggregate(
                    name: name, arguments: [value.sqlExpression], isDistinct: isDistinct,
                    ordering: ordering?.sqlOrdering,
                    filter: filter?.sqlExpression)))
    }
}

// MARK: - Functions

/// The `AVG` aggregate: the mean of the values that are not NULL, as a floating-point number.
///
/// - Parameters:
///   - value: what is averaged.
///   - filter: which rows count; nil for all of them.
public func average(_ value: some SQLSpecificExpressible, filter: (any SQLSpecificExpressible)? = nil)
    -> SQLExpression
{
    .aggregate("AVG", value, filter: filter)
}

/// The `COUNT` aggregate: how many values are not NULL.
public func count(_ counted: some SQLSpecificExpressible) -> SQLExpression {
    .aggregate("COUNT", counted)
}

/// The `COUNT(DISTINCT)` aggregate: how many different values there are, NULL not counted.
public func count(distinct value: some SQLSpecificExpressible) -> SQLExpression {
    .aggregate("COUNT", value, isDistinct: true)
}

/// The `MAX` aggregate: the greatest value, or NULL if there is none.
///
///     // MAX("weight") FILTER (WHERE "amount" > 1)
///     max(Column("weight"), filter: Column("amount") > 1)
///
/// - Parameters:
///   - value: the expression.
///   - filter: the rows that count; nil is all of them.
public func max(_ value: some SQLSpecificExpressible, filter: (any SQLSpecificExpressible)? = nil)
    -> SQLExpression
{
    .aggregate("MAX", value, filter: filter)
}

/// The `MIN` aggregate: the smallest value that is not NULL, or NULL if there is none.
///
/// - Parameters:
///   - value: the expression.
///   - filter: the rows that count; nil is all of them.
public func min(_ value: some SQLSpecificExpressible, filter: (any SQLSpecificExpressible)? = nil)
    -> SQLExpression
{
    .aggregate("MIN", value, filter: filter)
}

/// The `SUM` aggregate: NULL if there is no value that is not NULL, an error if the sum of integers
/// overflows.
///
/// - Parameters:
///   - value: what is summed up.
///   - ordering: the order of the summands, which matters to floating-point numbers. It needs SQLite 3.44.
///   - filter: which rows count; nil for all of them.
public func sum(
    _ value: some SQLSpecificExpressible, orderBy ordering: (any SQLOrderingTerm)? = nil,
    filter: (any SQLSpecificExpressible)? = nil
) -> SQLExpression {
    .aggregate("SUM", value, ordering: ordering, filter: filter)
}

/// The `TOTAL` aggregate: the sum as a floating-point number, which is 0 where ``sum(_:orderBy:filter:)`` is
/// NULL, and never overflows.
///
/// - Parameters:
///   - value: the expression.
///   - ordering: the order in which rows are added up; nil is any.
///   - filter: the rows that count; nil is all of them.
public func total(
    _ value: some SQLSpecificExpressible, orderBy ordering: (any SQLOrderingTerm)? = nil,
    filter: (any SQLSpecificExpressible)? = nil
) -> SQLExpression {
    .aggregate("TOTAL", value, ordering: ordering, filter: filter)
}
