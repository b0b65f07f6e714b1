/// A request that hides the type of another request.
public struct AnyFetchRequest<RowDecoder> {
    private let request: any FetchRequest

    /// Creates a request that forwards to `request`.
    public init(_ request: some FetchRequest<RowDecoder>) {
        self.request = request
    }

    private init(erasing request: any FetchRequest) {
        self.request = request
    }

    /// Returns the same request with rows that are decoded to another type.
    public func asRequest<NewDecoder>(of type: NewDecoder.Type) -> AnyFetchRequest<NewDecoder> {
        AnyFetchRequest<NewDecoder>(erasing: request)
    }
}

extension AnyFetchRequest: FetchRequest {
    public var sqlSubquery: SQLSubquery { request.sqlSubquery }

    public func makePreparedRequest(_ db: Database, forSingleResult singleResult: Bool = false) throws
        -> PreparedRequest
    {
        try request.makePreparedRequest(db, forSingleResult: singleResult)
    }

    public func fetchCount(_ db: Database) throws -> Int { try request.fetchCount(db) }
    public func databaseRegion(_ db: Database) throws -> DatabaseRegion { try request.databaseRegion(db) }
}
