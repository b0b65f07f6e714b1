// MARK: - Creating

extension Database {
    /// Creates an index on columns, and names it after them: `index_share_on_guestId_expiry`.
    ///
    ///     try db.create(indexOn: "share", columns: ["guestId", "expiry"])
    ///
    /// - Parameters:
    ///   - columns: the columns, in the order of the index.
    ///   - options: makes the index unique, or allows it to exist already.
    ///   - condition: selects the rows of the index. Nil is all rows.
    /// - Throws: a ``DatabaseError`` if SQLite rejects the definition, for example because the name is taken.
    public func create(
        indexOn table: String, columns: [String], options: IndexOptions = [],
        condition: (any SQLExpressible)? = nil
    ) throws {
        try create(
            index: IndexSQL.defaultName(on: table, columns: columns), on: table, columns: columns,
            options: options, condition: condition)
    }

    /// Creates an index on columns.
    ///
    /// - Parameters: see ``create(indexOn:columns:options:condition:)``.
    /// - Throws: a ``DatabaseError`` if SQLite rejects the definition, for example because the name is taken.
    public func create(
        index name: String, on table: String, columns: [String], options: IndexOptions = [],
        condition: (any SQLExpressible)? = nil
    ) throws {
        try create(
            index: name, on: table, terms: columns.map(\.quotedDatabaseIdentifier), options: options,
            condition: condition)
    }

    /// Creates an index on columns: the older form of ``create(index:on:columns:options:condition:)``.
    ///
    /// - Parameters:
    ///   - columns: the columns, in the order of the index.
    ///   - unique: if true, rejects rows with the same values in all columns.
    ///   - ifNotExists: if true, an existing index is not an error.
    ///   - condition: selects the rows of the index. Nil is all rows.
    /// - Throws: a ``DatabaseError`` if SQLite rejects the definition, for example because the name is taken.
    @_disfavoredOverload
    public func create(
        index name: String, on table: String, columns: [String], unique: Bool = false,
        ifNotExists: Bool = false,
        condition: (any SQLExpressible)? = nil
    ) throws {
        var options: IndexOptions = []
        if unique { options.insert(.unique) }
        if ifNotExists { options.insert(.ifNotExists) }
        try create(index: name, on: table, columns: columns, options: options, condition: condition)
    }

    /// Creates an index on expressions.
    ///
    ///     // No two owners have addresses that differ only in case.
    ///     let address = Column("email").collating(.nocase)
    ///     try db.create(index: "ownerAddress", on: "owner", expressions: [address], options: .unique)
    ///
    /// - Parameters: see ``create(indexOn:columns:options:condition:)``.
    /// - Throws: a ``DatabaseError`` if SQLite rejects the definition, for example because the name is taken.
    public func create(
        index name: String, on table: String, expressions: [any SQLExpressible], options: IndexOptions = [],
        condition: (any SQLExpressible)? = nil
    ) throws {
        let terms = try expressions.map { try SQL($0.sqlExpression).inlined(self) }
        try create(index: name, on: table, terms: terms, options: options, condition: condition)
    }

    private func create(
        index name: String, on table: String, terms: [String], options: IndexOptions,
        condition: (any SQLExpressible)?
    ) throws {
        checkIsUsedInItsAccess()
        let condition = try condition.map { try SQL($0.sqlExpression).inlined(self) }
        try executeDefinitions([
            IndexSQL.creation(name: name, on: table, terms: terms, options: options, condition: condition)
        ])
    }
}

// MARK: - Dropping and rebuilding

extension Database {
    /// Drops an index.
    ///
    /// - Throws: a ``DatabaseError`` if there is no such index, or it belongs to a constraint.
    public func drop(index name: String) throws {
        try execute(sql: "DROP INDEX \(name.quotedDatabaseIdentifier)")
    }

    /// Drops an index on exactly these columns, in this order, regardless of its name. Does nothing if no
    /// such index exists.
    ///
    /// If there are several, it drops the one with the name that
    /// ``create(indexOn:columns:options:condition:)`` gives, or else the one that was created last.
    ///
    /// - Parameter columns: the columns of the index, in its order.
    /// - Throws: a ``DatabaseError`` if there is no such table, or if the only such index belongs to a
    ///   constraint, which cannot be dropped without its table.
    public func drop(indexOn table: String, columns: [String]) throws {
        let names = columns.map(CaseInsensitiveName.init)
        let indexes = try indexes(on: table).filter { $0.columns.map(CaseInsensitiveName.init) == names }
        let defaultName = CaseInsensitiveName(IndexSQL.defaultName(on: table, columns: columns))
        let index =
            indexes.first { CaseInsensitiveName($0.name) == defaultName } ?? indexes.first {
                $0.origin == .createIndex
            } ?? indexes.first
        if let index { try drop(index: index.name) }
    }

    /// Rebuilds all indexes that use a collation. This is required after its definition has changed.
    ///
    /// - Throws: a ``DatabaseError`` if the collation does not exist, or an index cannot be rebuilt.
    public func reindex(collation: CollationName) throws {
        try execute(sql: "REINDEX \(collation.rawValue.quotedUnlessWord)")
    }

    /// Rebuilds all indexes that use a collation. This is required after its definition has changed.
    ///
    /// - Throws: a ``DatabaseError`` if the collation does not exist, or an index cannot be rebuilt.
    public func reindex(collation: DatabaseCollation) throws {
        try reindex(collation: CollationName(rawValue: collation.name))
    }
}

/// The SQL of the definition of an index.
enum IndexSQL {
    /// - Parameters:
    ///   - terms: columns or expressions, as SQL.
    ///   - condition: selects the rows of the index, as SQL.
    static func creation(
        name: String, on table: String, terms: [String], options: IndexOptions, condition: String? = nil
    ) -> String {
        var sql = "CREATE "
        if options.contains(.unique) { sql += "UNIQUE " }
        sql += "INDEX "
        if options.contains(.ifNotExists) { sql += "IF NOT EXISTS " }
        sql +=
            "\(name.quotedDatabaseIdentifier) ON "
            + "\(table.quotedDatabaseIdentifier)(\(terms.joined(separator: ", ")))"
        if let condition { sql += " WHERE \(condition)" }
        return sql
    }

    static func defaultName(on table: String, columns: [String]) -> String {
        "index_\(table)_on_\(columns.joined(separator: "_"))"
    }
}
