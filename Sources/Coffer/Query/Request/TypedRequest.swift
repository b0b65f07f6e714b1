/// A request that knows what its rows become.
public protocol TypedRequest<RowDecoder> {
    /// What the rows become: ``Row``, a value, or a record.
    associatedtype RowDecoder
}

extension TypedRequest where RowDecoder: TableRecord {
    /// What closures of the request get as their argument: mostly the columns of the record type.
    public typealias DatabaseComponents = RowDecoder.DatabaseComponents
}

/// A request that can be refined in all ways: ``QueryInterfaceRequest``, and each ``Association``. Extend it
/// with what your application asks for again and again.
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
    /// The request without duplicates: `SELECT DISTINCT`.
    func distinct() -> Self

    /// The request with the definition of a common table expression, in place of another one of the same
    /// name.
    func with<T>(_ cte: CommonTableExpression<T>) -> Self
}
