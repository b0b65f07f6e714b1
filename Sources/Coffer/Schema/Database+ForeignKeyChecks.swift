extension Database {
    /// Returns a cursor over the rows of the main database that refer to rows that do not exist.
    ///
    /// It reads all rows of all tables with foreign keys: see
    /// <https://www.sqlite.org/pragma.html#pragma_foreign_key_check>.
    public func foreignKeyViolations() throws -> RecordCursor<ForeignKeyViolation> {
        try foreignKeyViolations(table: nil, in: .main)
    }

    /// Returns a cursor over the rows of a table that refer to rows that do not exist.
    ///
    /// - Throws: a ``DatabaseError`` if there is no such table.
    /// - Parameters: as those of ``columns(in:in:)``.
    public func foreignKeyViolations(
        in tableName: String, in schemaName: String? = nil
    ) throws -> RecordCursor<ForeignKeyViolation> {
        let id = try readSchema { try table(tableName, in: schemaName).id }
        return try foreignKeyViolations(table: id.name, in: id.schemaID)
    }

    /// - Parameter table: nil for all tables of the schema.
    private func foreignKeyViolations(table: String?, in schemaID: DatabaseSchemaID) throws -> RecordCursor<
        ForeignKeyViolation
    > {
        // The pragma in the form of a table, which can return the schema too:
        // https://www.sqlite.org/pragma.html#pragfunc
        try ForeignKeyViolation.fetchCursor(
            self, sql: "SELECT \"table\", \"rowid\", parent, fkid, ?2 FROM pragma_foreign_key_check(?1, ?2)",
            arguments: [table, schemaID.name])
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
        throw DatabaseError(
            resultCode: .SQLITE_CONSTRAINT_FOREIGNKEY, message: try violation.failureDescription(self))
    }
}
