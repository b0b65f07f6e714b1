extension Database {
    /// Creates a table, and the indexes that its definition asks for.
    ///
    ///     try db.create(table: "attachment", options: .withoutRowID) { t in
    ///         t.primaryKey("id", .blob)
    ///         t.belongsTo("item", onDelete: .cascade).notNull()
    ///         t.column("fileName", .text).notNull().collate(.nocase)
    ///         t.column("size", .integer).check { $0 >= 0 }
    ///     }
    ///
    /// - Parameters:
    ///   - name: the name of the table, which may contain anything.
    ///   - options: whether the table is temporary, strict, without row IDs, or may exist already.
    ///   - body: defines the columns and constraints.
    /// - Throws: a ``DatabaseError``, also if a table that is referred to does not exist and its primary key
    ///   has to be known; errors of `body`.
    public func create(table name: String, options: TableOptions = [], body: (TableDefinition) throws -> Void)
        throws
    {
        checkIsUsedInItsAccess()
        let definition = TableDefinition(name: name, options: options)
        try body(definition)
        // All of the SQL is known before any of it is executed.
        try executeDefinitions(TableSQL.creation(of: definition, in: self))
    }

    /// Creates a table: the older form of ``create(table:options:body:)``.
    ///
    /// - Parameters:
    ///   - name: the name of the table.
    ///   - temporary: whether only this connection sees the table, as long as it is open.
    ///   - ifNotExists: whether a table that is there already is no error.
    ///   - withoutRowID: whether rows are stored by the primary key, without a row ID.
    ///   - body: defines the columns and constraints.
    /// - Throws: a ``DatabaseError`` if SQLite refuses the definition, for example because the name is taken.
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
    /// - Parameters:
    ///   - name: the name of the table.
    ///   - body: says what changes.
    /// - Throws: a ``DatabaseError`` if there is no such table or column, or SQLite cannot make the change.
    ///   The steps before the failed one are done: use a transaction.
    public func alter(table name: String, body: (TableAlteration) -> Void) throws {
        checkIsUsedInItsAccess()
        let alteration = TableAlteration(name: name)
        body(alteration)
        for step in alteration.steps {
            try executeDefinitions(TableSQL.alteration(step, of: name, in: self))
        }
    }

    /// Renames a table, also where indexes, triggers, views and foreign keys name it.
    ///
    /// See <https://www.sqlite.org/lang_altertable.html#alter_table_rename> for what is renamed when foreign
    /// keys are not enforced.
    ///
    /// - Parameters:
    ///   - name: the present name.
    ///   - newName: the name that it gets.
    /// - Throws: a ``DatabaseError`` if SQLite refuses the definition, for example because the name is taken.
    public func rename(table name: String, to newName: String) throws {
        try execute(
            sql: "ALTER TABLE \(name.quotedDatabaseIdentifier) RENAME TO \(newName.quotedDatabaseIdentifier)")
    }

    /// Drops a table with its rows, indexes and triggers.
    ///
    /// - Throws: a ``DatabaseError`` if SQLite refuses the definition, for example because the name is taken.
    public func drop(table name: String) throws {
        try execute(sql: "DROP TABLE \(name.quotedDatabaseIdentifier)")
    }

    /// Executes statements, which are given one by one: the end of one must not be found by looking for
    /// semicolons.
    func executeDefinitions(_ statements: [String]) throws {
        for sql in statements {
            try makeStatement(sql: sql).execute()
        }
    }
}
