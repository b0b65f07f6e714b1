extension Database {
    /// Creates a table and the indexes of its definition.
    ///
    ///     try db.create(table: "attachment", options: .withoutRowID) { t in
    ///         t.primaryKey("id", .blob)
    ///         t.belongsTo("item", onDelete: .cascade).notNull()
    ///         t.column("fileName", .text).notNull().collate(.nocase)
    ///         t.column("size", .integer).check { $0 >= 0 }
    ///     }
    ///
    /// - Parameters:
    ///   - name: the name of the table, which may contain any characters.
    ///   - options: makes the table temporary, strict, or without row IDs, or allows it to exist already.
    ///   - body: defines the columns and constraints.
    /// - Throws: a ``DatabaseError`` if SQLite rejects the definition, or if a referenced table does not
    ///   exist and its primary key is needed; errors of `body`.
    public func create(table name: String, options: TableOptions = [], body: (TableDefinition) throws -> Void)
        throws
    {
        checkIsUsedInItsAccess()
        let definition = TableDefinition(name: name, options: options)
        try body(definition)
        // All SQL is generated before any of it is executed.
        try executeDefinitions(TableSQL.creation(of: definition, in: self))
    }

    /// Creates a table: the older form of ``create(table:options:body:)``.
    ///
    /// - Parameters:
    ///   - temporary: if true, the table is visible to this connection only, and is dropped when it is
    ///     closed.
    ///   - ifNotExists: if true, an existing table is not an error.
    ///   - withoutRowID: if true, the rows are stored by their primary key and have no row ID.
    ///   - body: defines the columns and constraints.
    /// - Throws: a ``DatabaseError`` if SQLite rejects the definition, for example because the name is taken.
    @_disfavoredOverload
    public func create(
        table name: String, temporary: Bool = false, ifNotExists: Bool = false, withoutRowID: Bool = false,
        body: (TableDefinition) throws -> Void
    ) throws {
        let choices: [(isMade: Bool, option: TableOptions)] = [
            (temporary, .temporary), (ifNotExists, .ifNotExists), (withoutRowID, .withoutRowID),
        ]
        try create(table: name, options: TableOptions(choices.filter(\.isMade).map(\.option)), body: body)
    }

    /// Alters a table, step by step: see ``TableAlteration``.
    ///
    /// - Parameter body: adds the steps.
    /// - Throws: a ``DatabaseError`` if there is no such table or column, or SQLite cannot make the change.
    ///   The steps before the failed one remain in effect unless a transaction is rolled back.
    public func alter(table name: String, body: (TableAlteration) -> Void) throws {
        checkIsUsedInItsAccess()
        let alteration = TableAlteration(name: name)
        body(alteration)
        for step in alteration.steps {
            try executeDefinitions(TableSQL.alteration(step, of: name, in: self))
        }
    }

    /// Renames a table, and updates the indexes, triggers, views, and foreign keys that refer to it.
    ///
    /// See <https://www.sqlite.org/lang_altertable.html#alter_table_rename> for the references that are
    /// updated while foreign keys are not enforced.
    ///
    /// - Throws: a ``DatabaseError`` if there is no such table, or the new name is taken.
    public func rename(table name: String, to newName: String) throws {
        try execute(
            sql: "ALTER TABLE \(name.quotedDatabaseIdentifier) RENAME TO \(newName.quotedDatabaseIdentifier)")
    }

    /// Drops a table with its rows, indexes, and triggers.
    ///
    /// - Throws: a ``DatabaseError`` if there is no such table, or rows of another table refer to its rows.
    public func drop(table name: String) throws {
        try execute(sql: "DROP TABLE \(name.quotedDatabaseIdentifier)")
    }

    /// Executes statements, given one by one so that they do not have to be split at semicolons.
    func executeDefinitions(_ statements: [String]) throws {
        for sql in statements {
            try makeStatement(sql: sql).execute()
        }
    }
}
