extension QueryInterfaceRequest {
    /// Deletes the rows of the request.
    ///
    ///     // DELETE FROM "attachment" WHERE "size" = 0
    ///     let emptyFiles = try Attachment.filter { $0.size == 0 }.deleteAll(db)  // how many
    ///
    /// - Returns: how many rows were deleted, those of triggers and foreign keys not counted. Of a view,
    ///   whose rows only triggers can delete, it is the number of rows that the triggers have changed.
    /// - Throws: a ``DatabaseError``, as when a row that others refer to must stay.
    @discardableResult
    public func deleteAll(_ db: Database) throws -> Int {
        let changesBefore = db.totalChangesCount
        try relation.makeDeleteStatement(db).execute()
        return try db.changesCount(in: databaseTableName, since: changesBefore)
    }

    /// Deletes the rows of the request, and returns whether there was one, in a view too.
    func deleteAny(_ db: Database) throws -> Bool {
        let changesBefore = db.totalChangesCount
        try deleteAll(db)
        return try db.hasChanged(databaseTableName, since: changesBefore)
    }

    /// A statement that deletes the rows of the request, and returns what is selected of each.
    ///
    /// The rows are deleted when the statement has been executed to its end. With a cursor, that is when it
    /// has given its last row.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - selection: what is returned. Precondition: it is not empty.
    /// - Throws: a ``DatabaseError``, such as `SQLITE_CONSTRAINT` where a constraint is violated, and what
    ///   decoding a row throws.
    public func deleteAndFetchStatement(_ db: Database, selection: [any SQLSelectable]) throws -> Statement {
        precondition(!selection.isEmpty, "A statement that returns rows needs columns to return.")
        return try relation.makeDeleteStatement(db, returning: selection.map(\.sqlSelection))
    }
}

extension QueryInterfaceRequest where RowDecoder: TableRecord {
    /// A statement that deletes the rows of the request, and returns what is selected of each.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - select: returns what is returned. Precondition: it is not empty.
    /// - Throws: a ``DatabaseError``, such as `SQLITE_CONSTRAINT` where a constraint is violated, and what
    ///   decoding a row throws.
    public func deleteAndFetchStatement(
        _ db: Database, select: (DatabaseComponents) throws -> [any SQLSelectable]
    ) throws -> Statement {
        try deleteAndFetchStatement(db, selection: select(RowDecoder.databaseComponents))
    }
}

extension QueryInterfaceRequest
where
    RowDecoder: TableRecord & Identifiable,
    RowDecoder.ID: DatabaseValueConvertible & StatementColumnConvertible
{
    /// Deletes the rows of the request, and returns their primary keys.
    ///
    ///     // DELETE FROM "item" WHERE "amount" = 0 RETURNING "id"
    ///     let gone = try Item.filter { $0.amount == 0 }.deleteAndFetchIds(db)
    ///
    /// - Throws: a ``DatabaseError``, such as `SQLITE_CONSTRAINT` where a constraint is violated, and what
    ///   decoding a row throws.
    public func deleteAndFetchIds(_ db: Database) throws -> Set<RowDecoder.ID> {
        let columns = try db.primaryKey(databaseTableName).columns
        guard columns.count == 1 else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message:
                    "The primary key of \(databaseTableName.quotedDatabaseIdentifier) has several columns, "
                    + "and no ID."
            )
        }
        return try RowDecoder.ID.fetchSet(deleteAndFetchStatement(db, selection: [Column(columns[0])]))
    }
}
