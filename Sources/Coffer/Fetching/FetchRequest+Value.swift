extension DatabaseValueConvertible {
    /// A cursor over the values of the leftmost column of a request: see `fetchCursor(_:arguments:adapter:)`.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - request: what is fetched.
    /// - Throws: a ``DatabaseError`` if the request has no SQL. The cursor throws ``RowDecodingError`` for
    ///   what is no such value.
    @inlinable
    public static func fetchCursor(_ db: Database, _ request: some FetchRequest) throws
        -> DatabaseValueCursor<Self>
    {
        let request = try request.makePreparedRequest(db, forSingleResult: false)
        return try fetchCursor(request.statement, adapter: request.adapter)
    }

    /// All values of the leftmost column of a request: see `fetchCursor(_:arguments:adapter:)`.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - request: what is fetched.
    /// - Throws: a ``DatabaseError`` if the statement fails. A value of another type, or NULL, throws
    ///   ``RowDecodingError``.
    @inlinable
    public static func fetchAll(_ db: Database, _ request: some FetchRequest) throws -> [Self] {
        let request = try request.makePreparedRequest(db, forSingleResult: false)
        return try fetchAll(request.statement, adapter: request.adapter)
    }

    /// The first value of the leftmost column of a request, or nil: see `fetchOne(_:arguments:adapter:)`.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - request: what is fetched.
    /// - Throws: a ``DatabaseError`` if the statement fails, and ``RowDecodingError`` for a value of another
    ///   type.
    @inlinable
    public static func fetchOne(_ db: Database, _ request: some FetchRequest) throws -> Self? {
        let request = try request.makePreparedRequest(db, forSingleResult: true)
        return try fetchOne(request.statement, adapter: request.adapter)
    }
}

extension DatabaseValueConvertible where Self: Hashable {
    /// The distinct values of the leftmost column of a request: see `fetchCursor(_:arguments:adapter:)`.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - request: what is fetched.
    /// - Throws: a ``DatabaseError`` if the statement fails. A value of another type, or NULL, throws
    ///   ``RowDecodingError``.
    @inlinable
    public static func fetchSet(_ db: Database, _ request: some FetchRequest) throws -> Set<Self> {
        let request = try request.makePreparedRequest(db, forSingleResult: false)
        return try fetchSet(request.statement, adapter: request.adapter)
    }
}

extension DatabaseValueConvertible where Self: StatementColumnConvertible {
    /// A cursor over the values of the leftmost column of a request: see `fetchCursor(_:arguments:adapter:)`.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - request: what is fetched.
    /// - Throws: a ``DatabaseError`` if the request has no SQL. The cursor throws ``RowDecodingError`` for
    ///   what is no such value.
    @inlinable
    public static func fetchCursor(_ db: Database, _ request: some FetchRequest) throws
        -> FastDatabaseValueCursor<Self>
    {
        let request = try request.makePreparedRequest(db, forSingleResult: false)
        return try fetchCursor(request.statement, adapter: request.adapter)
    }

    /// All values of the leftmost column of a request: see `fetchCursor(_:arguments:adapter:)`.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - request: what is fetched.
    /// - Throws: a ``DatabaseError`` if the statement fails. A value of another type, or NULL, throws
    ///   ``RowDecodingError``.
    @inlinable
    public static func fetchAll(_ db: Database, _ request: some FetchRequest) throws -> [Self] {
        let request = try request.makePreparedRequest(db, forSingleResult: false)
        return try fetchAll(request.statement, adapter: request.adapter)
    }

    /// The first value of the leftmost column of a request, or nil: see `fetchOne(_:arguments:adapter:)`.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - request: what is fetched.
    /// - Throws: a ``DatabaseError`` if the statement fails, and ``RowDecodingError`` for a value of another
    ///   type.
    @inlinable
    public static func fetchOne(_ db: Database, _ request: some FetchRequest) throws -> Self? {
        let request = try request.makePreparedRequest(db, forSingleResult: true)
        return try fetchOne(request.statement, adapter: request.adapter)
    }
}

extension DatabaseValueConvertible where Self: Hashable & StatementColumnConvertible {
    /// The distinct values of the leftmost column of a request: see `fetchCursor(_:arguments:adapter:)`.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - request: what is fetched.
    /// - Throws: a ``DatabaseError`` if the statement fails. A value of another type, or NULL, throws
    ///   ``RowDecodingError``.
    @inlinable
    public static func fetchSet(_ db: Database, _ request: some FetchRequest) throws -> Set<Self> {
        let request = try request.makePreparedRequest(db, forSingleResult: false)
        return try fetchSet(request.statement, adapter: request.adapter)
    }
}

extension FetchRequest where RowDecoder: DatabaseValueConvertible {
    /// A cursor over the values of the leftmost column.
    ///
    /// - Throws: a ``DatabaseError`` if the request has no SQL. The cursor throws ``RowDecodingError`` for
    ///   what is no such value.
    @inlinable
    public func fetchCursor(_ db: Database) throws -> DatabaseValueCursor<RowDecoder> {
        try RowDecoder.fetchCursor(db, self)
    }

    /// All values of the leftmost column.
    ///
    /// - Throws: a ``DatabaseError`` if the statement fails. A value of another type, or NULL, throws
    ///   ``RowDecodingError``.
    @inlinable
    public func fetchAll(_ db: Database) throws -> [RowDecoder] { try RowDecoder.fetchAll(db, self) }

    /// The first value of the leftmost column, or nil if there is no row, or NULL.
    ///
    /// - Throws: a ``DatabaseError`` if the statement fails, and ``RowDecodingError`` for a value of another
    ///   type.
    @inlinable
    public func fetchOne(_ db: Database) throws -> RowDecoder? { try RowDecoder.fetchOne(db, self) }
}

extension FetchRequest where RowDecoder: DatabaseValueConvertible & Hashable {
    /// The distinct values of the leftmost column.
    ///
    /// - Throws: a ``DatabaseError`` if the statement fails. A value of another type, or NULL, throws
    ///   ``RowDecodingError``.
    @inlinable
    public func fetchSet(_ db: Database) throws -> Set<RowDecoder> { try RowDecoder.fetchSet(db, self) }
}

extension FetchRequest where RowDecoder: DatabaseValueConvertible & StatementColumnConvertible {
    /// A cursor over the values of the leftmost column.
    ///
    /// - Throws: a ``DatabaseError`` if the request has no SQL. The cursor throws ``RowDecodingError`` for
    ///   what is no such value.
    @inlinable
    public func fetchCursor(_ db: Database) throws -> FastDatabaseValueCursor<RowDecoder> {
        try RowDecoder.fetchCursor(db, self)
    }

    /// All values of the leftmost column.
    ///
    /// - Throws: a ``DatabaseError`` if the statement fails. A value of another type, or NULL, throws
    ///   ``RowDecodingError``.
    @inlinable
    public func fetchAll(_ db: Database) throws -> [RowDecoder] { try RowDecoder.fetchAll(db, self) }

    /// The first value of the leftmost column, or nil if there is no row, or NULL.
    ///
    /// - Throws: a ``DatabaseError`` if the statement fails, and ``RowDecodingError`` for a value of another
    ///   type.
    @inlinable
    public func fetchOne(_ db: Database) throws -> RowDecoder? { try RowDecoder.fetchOne(db, self) }
}

extension FetchRequest where RowDecoder: DatabaseValueConvertible & StatementColumnConvertible & Hashable {
    /// The distinct values of the leftmost column.
    ///
    /// - Throws: a ``DatabaseError`` if the statement fails. A value of another type, or NULL, throws
    ///   ``RowDecodingError``.
    @inlinable
    public func fetchSet(_ db: Database) throws -> Set<RowDecoder> { try RowDecoder.fetchSet(db, self) }
}
