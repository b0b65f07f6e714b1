extension QueryInterfaceRequest {
    /// Deletes the rows of the request.
    ///
    ///     // DELETE FROM "attachment" WHERE "size" = 0
    ///     let emptyFiles = try Attachment.filter { $0.size == 0 }.deleteAll(db)  // their number
    ///
    /// - Returns: the number of deleted rows, without rows deleted by triggers or foreign key actions. For a
    ///   view, whose rows only triggers can delete, it is the number of rows that the triggers changed.
    /// - Throws: a ``DatabaseError``, for example if a foreign key constraint prevents the deletion.
    @discardableResult
    public func deleteAll(_ db: Database) throws -> Int {
        let changesBefore = db.totalChangesCount
        try relation.makeDeleteStatement(db).execute()
        return try db.changesCount(in: databaseTableName, since: changesBefore)
    }

    /// Deletes the rows of the request and returns true if there were any. It works for views too.
    func deleteAny(_ db: Database) throws -> Bool {
        let changesBefore = db.totalChangesCount
        try deleteAll(db)
        return try db.hasChanged(databaseTableName, since: changesBefore)
    }

    /// Returns a statement that deletes the rows of the request and returns the selected columns of each row.
    ///
    /// The deletion is complete when the statement has run to its end: with a cursor, after the last row.
    ///
    /// - Parameter selection: the columns that the statement returns. Precondition: not empty.
    /// - Throws: a ``DatabaseError`` if the statement does not compile, or with `SQLITE_MISUSE` if the rows
    ///   are grouped by columns that are not a unique key.
    public func deleteAndFetchStatement(_ db: Database, selection: [any SQLSelectable]) throws -> Statement {
        precondition(!selection.isEmpty, "A statement that returns rows needs columns to return.")
        return try relation.makeDeleteStatement(db, returning: selection.map(\.sqlSelection))
    }
}

extension QueryInterfaceRequest where RowDecoder: TableRecord {
    /// Returns a statement that deletes the rows of the request and returns the selected columns of each row.
    ///
    /// - Parameter select: a closure that returns the columns that the statement returns. Precondition: not
    ///   empty.
    /// - Throws: a ``DatabaseError`` if the statement does not compile, or with `SQLITE_MISUSE` if the rows
    ///   are grouped by columns that are not a unique key.
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
    /// Deletes the rows of the request and returns their primary keys.
    ///
    ///     // DELETE FROM "item" WHERE "amount" = 0 RETURNING "id"
    ///     let gone = try Item.filter { $0.amount == 0 }.deleteAndFetchIds(db)
    ///
    /// - Throws: a ``DatabaseError``, for example with `SQLITE_CONSTRAINT` if a constraint is violated, or
    ///   with `SQLITE_MISUSE` if the primary key has several columns; and any error from decoding a key.
    public func deleteAndFetchIds(_ db: Database) throws -> Set<RowDecoder.ID> {
        let columns = try db.primaryKey(databaseTableName).columns
        guard columns.count == 1 else {
            throw DatabaseError.misuse(
                "The primary key of \(databaseTableName.quotedDatabaseIdentifier) has several columns, "
                    + "so its rows have no ID.")
        }
        return try RowDecoder.ID.fetchSet(deleteAndFetchStatement(db, selection: [Column(columns[0])]))
    }
}
