extension Database {
    /// Returns a cursor over the foreign key violations of the main database: rows that refer to missing
    /// rows.
    ///
    /// The cursor reads every row of every table with foreign keys: see
    /// <https://www.sqlite.org/pragma.html#pragma_foreign_key_check>.
    public func foreignKeyViolations() throws -> RecordCursor<ForeignKeyViolation> {
        try foreignKeyViolations(table: nil, in: .main)
    }

    /// Returns a cursor over the foreign key violations of a table: rows that refer to missing rows.
    ///
    /// - Throws: a ``DatabaseError`` if there is no such table.
    /// - Parameters: see ``columns(in:in:)``.
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
        // The table-valued form of the pragma can return the schema too:
        // https://www.sqlite.org/pragma.html#pragfunc
        try ForeignKeyViolation.fetchCursor(
            self, sql: "SELECT \"table\", \"rowid\", parent, fkid, ?2 FROM pragma_foreign_key_check(?1, ?2)",
            arguments: [table, schemaID.name])
    }

    /// Throws an error if the main database has a foreign key violation.
    ///
    /// - Throws: a ``DatabaseError`` of code `SQLITE_CONSTRAINT_FOREIGNKEY`. Its message, which is made by
    ///   ``ForeignKeyViolation/failureDescription(_:)``, contains the values of the first violating row.
    public func checkForeignKeys() throws {
        try throwFirst(of: foreignKeyViolations())
    }

    /// Throws an error if a table has a foreign key violation. See ``checkForeignKeys()``.
    ///
    /// - Throws: a ``DatabaseError``, also if there is no such table.
    /// - Parameters: see ``columns(in:in:)``.
    public func checkForeignKeys(in tableName: String, in schemaName: String? = nil) throws {
        try throwFirst(of: foreignKeyViolations(in: tableName, in: schemaName))
    }

    private func throwFirst(of violations: some Cursor<ForeignKeyViolation>) throws {
        guard let violation = try violations.next() else { return }
        throw DatabaseError(
            resultCode: .SQLITE_CONSTRAINT_FOREIGNKEY, message: try violation.failureDescription(self))
    }
}
