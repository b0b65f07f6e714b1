/// A request with an adapter applied to its rows, which ``FetchRequest/adapted(_:)`` returns.
public struct AdaptedFetchRequest<Base: FetchRequest> {
    private let base: Base
    private let adapter: @Sendable (Database) throws -> any RowAdapter

    init(_ base: Base, _ adapter: @escaping @Sendable (Database) throws -> any RowAdapter) {
        self.base = base
        self.adapter = adapter
    }
}

extension AdaptedFetchRequest: FetchRequest {
    public typealias RowDecoder = Base.RowDecoder

    public var sqlSubquery: SQLSubquery { base.sqlSubquery }

    public func makePreparedRequest(_ db: Database, forSingleResult singleResult: Bool = false) throws
        -> PreparedRequest
    {
        var request = try base.makePreparedRequest(db, forSingleResult: singleResult)
        let adapter = try adapter(db)
        request.adapter = request.adapter.map { ChainedRowAdapter(first: $0, second: adapter) } ?? adapter
        return request
    }

    public func fetchCount(_ db: Database) throws -> Int { try base.fetchCount(db) }
    public func databaseRegion(_ db: Database) throws -> DatabaseRegion { try base.databaseRegion(db) }
}
