extension Database {
    /// Creates a view of a request.
    ///
    ///     try db.create(view: "endlessShare", as: Share.filter(Column("expiry") == nil))
    ///
    /// The values of the request become part of the view.
    ///
    /// - Parameters:
    ///   - name: the name of the view, which may contain any characters.
    ///   - options: makes the view temporary, or allows it to exist already.
    ///   - columns: the column names of the view. Nil uses the column names of the request.
    ///   - request: the rows of the view.
    /// - Throws: a ``DatabaseError`` if SQLite rejects the definition, for example because the name is taken.
    public func create(
        view name: String, options: ViewOptions = [], columns: [String]? = nil,
        as request: any SQLSubqueryable
    ) throws {
        try create(
            view: name, options: options, columns: columns,
            asLiteral: SQL(elements: [.subquery(request.sqlSubquery)]))
    }

    /// Creates a view of a query written as an SQL literal.
    ///
    ///     try db.create(view: "treasure", asLiteral: "SELECT id, name FROM item WHERE worth >= \(limit)")
    ///
    /// - Parameters: see ``create(view:options:columns:as:)``.
    /// - Throws: a ``DatabaseError`` if SQLite rejects the definition, for example because the name is taken.
    public func create(
        view name: String, options: ViewOptions = [], columns: [String]? = nil, asLiteral sqlLiteral: SQL
    ) throws {
        checkIsUsedInItsAccess()
        var sql = "CREATE "
        if options.contains(.temporary) { sql += "TEMPORARY " }
        sql += "VIEW "
        if options.contains(.ifNotExists) { sql += "IF NOT EXISTS " }
        sql += name.quotedDatabaseIdentifier
        if let columns { sql += " \(columns.quotedList)" }
        sql += " AS \(try sqlLiteral.inlined(self))"
        try executeDefinitions([sql])
    }

    /// Drops a view.
    ///
    /// - Throws: a ``DatabaseError`` if there is no such view.
    public func drop(view name: String) throws {
        try execute(sql: "DROP VIEW \(name.quotedDatabaseIdentifier)")
    }
}
