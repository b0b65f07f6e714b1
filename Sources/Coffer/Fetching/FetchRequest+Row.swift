extension Row {
    /// Returns a cursor over the rows of a request.
    ///
    /// - Throws: a ``DatabaseError`` if the statement does not compile, its arguments do not match its
    ///   parameters, or a step fails.
    @inlinable
    public static func fetchCursor(_ db: Database, _ request: some FetchRequest) throws -> RowCursor {
        let request = try request.makePreparedRequest(db, forSingleResult: false)
        try request.checkCursor()
        return try fetchCursor(request.statement, adapter: request.adapter)
    }

    /// Fetches all rows of a request.
    ///
    /// - Throws: a ``DatabaseError`` if the statement does not compile, its arguments do not match its
    ///   parameters, or a step fails.
    @inlinable
    public static func fetchAll(_ db: Database, _ request: some FetchRequest) throws -> [Row] {
        let request = try request.makePreparedRequest(db, forSingleResult: false)
        if let supplement = request.supplement { return try request.supplementedRows(db, supplement) }
        return try fetchAll(request.statement, adapter: request.adapter)
    }

    /// Fetches all distinct rows of a request.
    ///
    /// - Throws: a ``DatabaseError`` if the statement does not compile, its arguments do not match its
    ///   parameters, or a step fails.
    @inlinable
    public static func fetchSet(_ db: Database, _ request: some FetchRequest) throws -> Set<Row> {
        let request = try request.makePreparedRequest(db, forSingleResult: false)
        if let supplement = request.supplement { return try Set(request.supplementedRows(db, supplement)) }
        return try fetchSet(request.statement, adapter: request.adapter)
    }

    /// Fetches the first row of a request, or returns nil if there is none.
    ///
    /// - Throws: a ``DatabaseError`` if the statement does not compile, its arguments do not match its
    ///   parameters, or a step fails.
    @inlinable
    public static func fetchOne(_ db: Database, _ request: some FetchRequest) throws -> Row? {
        let request = try request.makePreparedRequest(db, forSingleResult: true)
        if let supplement = request.supplement { return try request.supplementedRow(db, supplement) }
        return try fetchOne(request.statement, adapter: request.adapter)
    }
}

extension FetchRequest where RowDecoder == Row {
    /// Returns a cursor over the rows.
    ///
    /// - Throws: a ``DatabaseError`` if the statement does not compile, its arguments do not match its
    ///   parameters, or a step fails.
    @inlinable
    public func fetchCursor(_ db: Database) throws -> RowCursor { try Row.fetchCursor(db, self) }

    /// Fetches all rows.
    ///
    /// - Throws: a ``DatabaseError`` if the statement does not compile, its arguments do not match its
    ///   parameters, or a step fails.
    @inlinable
    public func fetchAll(_ db: Database) throws -> [Row] { try Row.fetchAll(db, self) }

    /// Fetches all distinct rows.
    ///
    /// - Throws: a ``DatabaseError`` if the statement does not compile, its arguments do not match its
    ///   parameters, or a step fails.
    @inlinable
    public func fetchSet(_ db: Database) throws -> Set<Row> { try Row.fetchSet(db, self) }

    /// Fetches the first row, or returns nil if there is none.
    ///
    /// - Throws: a ``DatabaseError`` if the statement does not compile, its arguments do not match its
    ///   parameters, or a step fails.
    @inlinable
    public func fetchOne(_ db: Database) throws -> Row? { try Row.fetchOne(db, self) }
}
