/// A call of an aggregate function.
struct SQLAggregate: Sendable {
    let name: String
    let arguments: [SQLExpression]
    var isDistinct = false

    /// The order in which the values of a group are aggregated.
    var ordering: SQLOrdering?

    /// A condition that selects the rows of a group; nil for all rows.
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
    /// Creates a call of an aggregate with one argument.
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
/// - Parameter filter: a condition that selects the rows; nil for all rows.
public func average(_ value: some SQLSpecificExpressible, filter: (any SQLSpecificExpressible)? = nil)
    -> SQLExpression
{
    .aggregate("AVG", value, filter: filter)
}

/// The `COUNT` aggregate: the number of values that are not NULL.
public func count(_ counted: some SQLSpecificExpressible) -> SQLExpression {
    .aggregate("COUNT", counted)
}

/// The `COUNT(DISTINCT)` aggregate: the number of distinct values that are not NULL.
public func count(distinct value: some SQLSpecificExpressible) -> SQLExpression {
    .aggregate("COUNT", value, isDistinct: true)
}

/// The `MAX` aggregate: the greatest value, or NULL if there is none.
///
///     // MAX("weight") FILTER (WHERE "amount" > 1)
///     max(Column("weight"), filter: Column("amount") > 1)
///
/// - Parameter filter: a condition that selects the rows; nil for all rows.
public func max(_ value: some SQLSpecificExpressible, filter: (any SQLSpecificExpressible)? = nil)
    -> SQLExpression
{
    .aggregate("MAX", value, filter: filter)
}

/// The `MIN` aggregate: the smallest value that is not NULL, or NULL if there is none.
///
/// - Parameter filter: a condition that selects the rows; nil for all rows.
public func min(_ value: some SQLSpecificExpressible, filter: (any SQLSpecificExpressible)? = nil)
    -> SQLExpression
{
    .aggregate("MIN", value, filter: filter)
}

/// The `SUM` aggregate. The result is NULL if all values are NULL, and an error if a sum of integers
/// overflows.
///
/// - Parameters:
///   - ordering: the order of the summands, which affects floating-point results; nil for any order. It needs
///     SQLite 3.44.
///   - filter: a condition that selects the rows; nil for all rows.
public func sum(
    _ value: some SQLSpecificExpressible, orderBy ordering: (any SQLOrderingTerm)? = nil,
    filter: (any SQLSpecificExpressible)? = nil
) -> SQLExpression {
    .aggregate("SUM", value, ordering: ordering, filter: filter)
}

/// The `TOTAL` aggregate: the sum as a floating-point number. It is 0 when ``sum(_:orderBy:filter:)`` is
/// NULL, and never overflows.
///
/// - Parameters:
///   - ordering: the order of the summands, which affects floating-point results; nil for any order. It needs
///     SQLite 3.44.
///   - filter: a condition that selects the rows; nil for all rows.
public func total(
    _ value: some SQLSpecificExpressible, orderBy ordering: (any SQLOrderingTerm)? = nil,
    filter: (any SQLSpecificExpressible)? = nil
) -> SQLExpression {
    .aggregate("TOTAL", value, ordering: ordering, filter: filter)
}
