extension DatabaseValueConvertible {
    /// Returns a cursor over the values of the leftmost column of a request: see
    /// `fetchCursor(_:arguments:adapter:)`.
    ///
    /// - Throws: a ``DatabaseError`` if the request cannot be prepared. The cursor throws a
    ///   ``RowDecodingError`` if a value, including NULL, cannot be converted.
    @inlinable
    public static func fetchCursor(_ db: Database, _ request: some FetchRequest) throws
        -> DatabaseValueCursor<Self>
    {
        let request = try request.makePreparedRequest(db, forSingleResult: false)
        return try fetchCursor(request.statement, adapter: request.adapter)
    }

    /// Fetches all values of the leftmost column of a request: see `fetchCursor(_:arguments:adapter:)`.
    ///
    /// - Throws: a ``DatabaseError`` if the statement fails, and a ``RowDecodingError`` if a value, including
    ///   NULL, cannot be converted.
    @inlinable
    public static func fetchAll(_ db: Database, _ request: some FetchRequest) throws -> [Self] {
        let request = try request.makePreparedRequest(db, forSingleResult: false)
        return try fetchAll(request.statement, adapter: request.adapter)
    }

    /// Fetches the first value of the leftmost column of a request, or returns nil: see
    /// `fetchOne(_:arguments:adapter:)`.
    ///
    /// - Throws: a ``DatabaseError`` if the statement fails, and a ``RowDecodingError`` if the value cannot
    ///   be converted.
    @inlinable
    public static func fetchOne(_ db: Database, _ request: some FetchRequest) throws -> Self? {
        let request = try request.makePreparedRequest(db, forSingleResult: true)
        return try fetchOne(request.statement, adapter: request.adapter)
    }
}

extension DatabaseValueConvertible where Self: Hashable {
    /// Fetches the distinct values of the leftmost column of a request: see
    /// `fetchCursor(_:arguments:adapter:)`.
    ///
    /// - Throws: a ``DatabaseError`` if the statement fails, and a ``RowDecodingError`` if a value, including
    ///   NULL, cannot be converted.
    @inlinable
    public static func fetchSet(_ db: Database, _ request: some FetchRequest) throws -> Set<Self> {
        let request = try request.makePreparedRequest(db, forSingleResult: false)
        return try fetchSet(request.statement, adapter: request.adapter)
    }
}

extension DatabaseValueConvertible where Self: StatementColumnConvertible {
    /// Returns a cursor over the values of the leftmost column of a request: see
    /// `fetchCursor(_:arguments:adapter:)`.
    ///
    /// - Throws: a ``DatabaseError`` if the request cannot be prepared. The cursor throws a
    ///   ``RowDecodingError`` if a value, including NULL, cannot be converted.
    @inlinable
    public static func fetchCursor(_ db: Database, _ request: some FetchRequest) throws
        -> FastDatabaseValueCursor<Self>
    {
        let request = try request.makePreparedRequest(db, forSingleResult: false)
        return try fetchCursor(request.statement, adapter: request.adapter)
    }

    /// Fetches all values of the leftmost column of a request: see `fetchCursor(_:arguments:adapter:)`.
    ///
    /// - Throws: a ``DatabaseError`` if the statement fails, and a ``RowDecodingError`` if a value, including
    ///   NULL, cannot be converted.
    @inlinable
    public static func fetchAll(_ db: Database, _ request: some FetchRequest) throws -> [Self] {
        let request = try request.makePreparedRequest(db, forSingleResult: false)
        return try fetchAll(request.statement, adapter: request.adapter)
    }

    /// Fetches the first value of the leftmost column of a request, or returns nil: see
    /// `fetchOne(_:arguments:adapter:)`.
    ///
    /// - Throws: a ``DatabaseError`` if the statement fails, and a ``RowDecodingError`` if the value cannot
    ///   be converted.
    @inlinable
    public static func fetchOne(_ db: Database, _ request: some FetchRequest) throws -> Self? {
        let request = try request.makePreparedRequest(db, forSingleResult: true)
        return try fetchOne(request.statement, adapter: request.adapter)
    }
}

extension DatabaseValueConvertible where Self: Hashable & StatementColumnConvertible {
    /// Fetches the distinct values of the leftmost column of a request: see
    /// `fetchCursor(_:arguments:adapter:)`.
    ///
    /// - Throws: a ``DatabaseError`` if the statement fails, and a ``RowDecodingError`` if a value, including
    ///   NULL, cannot be converted.
    @inlinable
    public static func fetchSet(_ db: Database, _ request: some FetchRequest) throws -> Set<Self> {
        let request = try request.makePreparedRequest(db, forSingleResult: false)
        return try fetchSet(request.statement, adapter: request.adapter)
    }
}

extension FetchRequest where RowDecoder: DatabaseValueConvertible {
    /// Returns a cursor over the values of the leftmost column.
    ///
    /// - Throws: a ``DatabaseError`` if the request cannot be prepared. The cursor throws a
    ///   ``RowDecodingError`` if a value, including NULL, cannot be converted.
    @inlinable
    public func fetchCursor(_ db: Database) throws -> DatabaseValueCursor<RowDecoder> {
        try RowDecoder.fetchCursor(db, self)
    }

    /// Fetches all values of the leftmost column.
    ///
    /// - Throws: a ``DatabaseError`` if the statement fails, and a ``RowDecodingError`` if a value, including
    ///   NULL, cannot be converted.
    @inlinable
    public func fetchAll(_ db: Database) throws -> [RowDecoder] { try RowDecoder.fetchAll(db, self) }

    /// Fetches the first value of the leftmost column, or returns nil if there is no row or the value is
    /// NULL.
    ///
    /// - Throws: a ``DatabaseError`` if the statement fails, and a ``RowDecodingError`` if the value cannot
    ///   be converted.
    @inlinable
    public func fetchOne(_ db: Database) throws -> RowDecoder? { try RowDecoder.fetchOne(db, self) }
}

extension FetchRequest where RowDecoder: DatabaseValueConvertible & Hashable {
    /// Fetches the distinct values of the leftmost column.
    ///
    /// - Throws: a ``DatabaseError`` if the statement fails, and a ``RowDecodingError`` if a value, including
    ///   NULL, cannot be converted.
    @inlinable
    public func fetchSet(_ db: Database) throws -> Set<RowDecoder> { try RowDecoder.fetchSet(db, self) }
}

extension FetchRequest where RowDecoder: DatabaseValueConvertible & StatementColumnConvertible {
    /// Returns a cursor over the values of the leftmost column.
    ///
    /// - Throws: a ``DatabaseError`` if the request cannot be prepared. The cursor throws a
    ///   ``RowDecodingError`` if a value, including NULL, cannot be converted.
    @inlinable
    public func fetchCursor(_ db: Database) throws -> FastDatabaseValueCursor<RowDecoder> {
        try RowDecoder.fetchCursor(db, self)
    }

    /// Fetches all values of the leftmost column.
    ///
    /// - Throws: a ``DatabaseError`` if the statement fails, and a ``RowDecodingError`` if a value, including
    ///   NULL, cannot be converted.
    @inlinable
    public func fetchAll(_ db: Database) throws -> [RowDecoder] { try RowDecoder.fetchAll(db, self) }

    /// Fetches the first value of the leftmost column, or returns nil if there is no row or the value is
    /// NULL.
    ///
    /// - Throws: a ``DatabaseError`` if the statement fails, and a ``RowDecodingError`` if the value cannot
    ///   be converted.
    @inlinable
    public func fetchOne(_ db: Database) throws -> RowDecoder? { try RowDecoder.fetchOne(db, self) }
}

extension FetchRequest where RowDecoder: DatabaseValueConvertible & StatementColumnConvertible & Hashable {
    /// Fetches the distinct values of the leftmost column.
    ///
    /// - Throws: a ``DatabaseError`` if the statement fails, and a ``RowDecodingError`` if a value, including
    ///   NULL, cannot be converted.
    @inlinable
    public func fetchSet(_ db: Database) throws -> Set<RowDecoder> { try RowDecoder.fetchSet(db, self) }
}
