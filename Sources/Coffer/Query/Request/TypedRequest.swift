/// A request with a type that its rows are decoded to.
public protocol TypedRequest<RowDecoder> {
    /// The type that rows are decoded to: ``Row``, a value, or a record.
    associatedtype RowDecoder
}

extension TypedRequest where RowDecoder: TableRecord {
    /// The argument of the request's closures: usually the columns of the record type.
    public typealias DatabaseComponents = RowDecoder.DatabaseComponents
}

/// A request that supports all refinements: ``QueryInterfaceRequest``, and each ``Association``. Extend it
/// with requests that your application needs repeatedly.
///
///     extension DerivableRequest<Share> {
///         /// The shares that a guest can use on a day.
///         func usable(by guest: Owner, on day: Date) -> Self {
///             filter { $0.guestId == guest.id && ($0.expiry == nil || $0.expiry >= day) }
///         }
///     }
public protocol DerivableRequest<RowDecoder>: AggregatingRequest, FilteredRequest, JoinableRequest,
    OrderedRequest, SelectionRequest,
    TableRequest
{
    /// Returns the request without duplicate rows: `SELECT DISTINCT`.
    func distinct() -> Self

    /// Returns the request with the definition of a common table expression, which replaces another one of
    /// the same name.
    func with<T>(_ cte: CommonTableExpression<T>) -> Self
}
