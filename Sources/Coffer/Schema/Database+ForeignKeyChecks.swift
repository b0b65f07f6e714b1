extension Database {
    /// Returns a cursor over the rows of the main database that refer to rows that do not exist.
    ///
    /// It reads all rows of all tables with foreign keys: see <https://www.sqlite.org/pragma.html#pragma_foreign_key_check>.
    public func foreignKeyViolations() throws -> MapCursor<RowCursor, ForeignKeyViolation> {
        try foreignKeyViolations(sql: "PRAGMA main.foreign_key_check", in: .main)
    }

    /// Returns a cursor over the rows of a table that refer to rows that do not exist.
    ///
    /// - Throws: a ``DatabaseError`` if there is no such table.
    /// - Parameters: as those of ``columns(in:in:)``.
    public func foreignKeyViolations(
        in tableName: String, in schemaName: String? = nil
    ) throws -> MapCursor<RowCursor, ForeignKeyViolation> {
        let id = try readSchema { try table(tableName, in: schemaName).id }
        let schema = id.schemaID.name.quotedDatabaseIdentifier
        return try foreignKeyViolations(
            sql: "PRAGMA \(schema).foreign_key_check(\(id.name.quotedDatabaseIdentifier))", in: id.schemaID)
    }

    private func foreignKeyViolations(sql: String, in schemaID: DatabaseSchemaID) throws -> MapCursor<RowCursor, ForeignKeyViolation> {
        try Row.fetchCursor(self, sql: sql).map { row in
            try ForeignKeyViolation(
                originTable: row.decode(atIndex: 0), originRowID: row.decodeIfPresent(atIndex: 1),
                destinationTable: row.decode(atIndex: 2), foreignKeyId: row.decode(atIndex: 3), schemaID: schemaID)
        }
    }

    /// Throws an error if a row of the main database refers to a row that does not exist.
    ///
    /// - Throws: a ``DatabaseError`` of code `SQLITE_CONSTRAINT_FOREIGNKEY` with a message as from
    ///   ``ForeignKeyViolation/failureDescription(_:)``: it contains the values of the first such row.
    public func checkForeignKeys() throws {
        try throwFirst(of: foreignKeyViolations())
    }

    /// Throws an error if a row of a table refers to a row that does not exist. See ``checkForeignKeys()``.
    ///
    /// - Throws: a ``DatabaseError``, also if there is no such table.
    /// - Parameters: as those of ``columns(in:in:)``.
    public func checkForeignKeys(in tableName: String, in schemaName: String? = nil) throws {
        try throwFirst(of: foreignKeyViolations(in: tableName, in: schemaName))
    }

    private func throwFirst(of violations: some Cursor<ForeignKeyViolation>) throws {
        guard let violation = try violations.next() else { return }
        throw DatabaseError(resultCode: .SQLITE_CONSTRAINT_FOREIGNKEY, message: try violation.failureDescription(self))
    }
}
