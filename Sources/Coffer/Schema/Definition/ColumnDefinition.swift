/// A column of a table that is being created or altered.
///
///     t.column("email", .text).notNull().unique().check { length($0) > 0 }
public final class ColumnDefinition {
    /// The storage of a generated column.
    public enum GeneratedColumnQualification: Sendable {
        /// The values are computed when they are read.
        case virtual

        /// The values are computed when a row is written, and stored in it.
        case stored
    }

    struct PrimaryKey {
        let conflictResolution: Database.ConflictResolution?
        let isAutoIncremented: Bool
    }

    struct Generation {
        let expression: SQL
        let qualification: GeneratedColumnQualification
    }

    let name: String
    let type: Database.ColumnType?

    private(set) var primaryKey: PrimaryKey?
    private(set) var notNull: NotNull?
    private(set) var uniqueKey: Unique?
    private(set) var isIndexed = false
    private(set) var checks: [SQL] = []
    private(set) var defaultExpression: SQL?
    private(set) var collation: String?
    private(set) var references: [ForeignKeyReference] = []
    private(set) var generation: Generation?

    /// A `NOT NULL` constraint.
    struct NotNull {
        let conflictResolution: Database.ConflictResolution?
    }

    /// A `UNIQUE` constraint.
    struct Unique {
        let conflictResolution: Database.ConflictResolution?
    }

    init(name: String, type: Database.ColumnType?) {
        self.name = name
        self.type = type
    }
}

@available(*, unavailable)
extension ColumnDefinition: Sendable {}

// MARK: - Keys and indexes

extension ColumnDefinition {
    /// Makes the column the primary key of its table.
    ///
    /// SQLite accepts NULL in such a column unless it is an integer: see
    /// ``TableDefinition/primaryKey(_:_:onConflict:)``.
    ///
    /// - Parameters:
    ///   - conflictResolution: the reaction to a row whose key exists already; nil aborts the statement.
    ///   - autoincrement: if true, SQLite never reuses a number. Only for integer columns.
    @discardableResult
    public func primaryKey(
        onConflict conflictResolution: Database.ConflictResolution? = nil, autoincrement: Bool = false
    ) -> Self {
        primaryKey = PrimaryKey(conflictResolution: conflictResolution, isAutoIncremented: autoincrement)
        return self
    }

    /// Rejects NULL.
    ///
    /// - Parameter conflictResolution: the reaction to a row with NULL; nil aborts the statement.
    @discardableResult
    public func notNull(onConflict conflictResolution: Database.ConflictResolution? = nil) -> Self {
        // A primary key adds this constraint too, and must not discard an explicit conflict resolution.
        if notNull == nil || conflictResolution != nil {
            notNull = NotNull(conflictResolution: conflictResolution)
        }
        return self
    }

    /// Rejects a value that another row has. NULL differs from NULL.
    ///
    /// - Parameter conflictResolution: the reaction to a row whose value exists already; nil aborts the
    ///   statement.
    @discardableResult
    public func unique(onConflict conflictResolution: Database.ConflictResolution? = nil) -> Self {
        uniqueKey = Unique(conflictResolution: conflictResolution)
        return self
    }

    /// Creates an index on the column, named after the table and the column: `player_on_score`.
    ///
    /// For other indexes, see ``Database/create(indexOn:columns:options:condition:)``. A unique column has an
    /// index in any case.
    @discardableResult
    public func indexed() -> Self {
        isIndexed = true
        return self
    }

    /// Makes the column refer to another table. Can be called several times.
    ///
    /// - Parameters:
    ///   - table: the referenced table, which may be the table that is being created.
    ///   - column: the referenced column. Nil is the primary key of the other table.
    ///   - deleteAction: the effect of deleting the referenced row. Nil rejects the deletion.
    ///   - updateAction: the effect of changing the referenced key. Nil rejects the change.
    ///   - isDeferred: if true, the foreign key is checked at the end of a transaction instead of the end of
    ///     a
    ///     statement.
    @discardableResult
    public func references(
        _ table: String, column: String? = nil, onDelete deleteAction: Database.ForeignKeyAction? = nil,
        onUpdate updateAction: Database.ForeignKeyAction? = nil, deferred isDeferred: Bool = false
    ) -> Self {
        let actions = ForeignKeyActions(delete: deleteAction, update: updateAction, isDeferred: isDeferred)
        references.append(ForeignKeyReference(table: table, columns: column.map { [$0] }, actions: actions))
        return self
    }
}

// MARK: - Values

extension ColumnDefinition {
    /// Rejects rows for which the condition is false. NULL is not false. Can be called several times.
    ///
    ///     t.column("name", .text).check { length($0) > 0 }
    ///
    /// - Parameter condition: returns the condition for the column.
    @discardableResult
    public func check(_ condition: (Column) -> any SQLExpressible) -> Self {
        checks.append(SQL(condition(Column(name)).sqlExpression))
        return self
    }

    /// Rejects rows for which the condition, written in SQL, is false. Can be called several times.
    @discardableResult
    public func check(sql: String) -> Self {
        checks.append(SQL(sql: sql))
        return self
    }

    /// Sets the default value, used by an `INSERT` that does not set the column.
    @discardableResult
    public func defaults(to value: some DatabaseValueConvertible) -> Self {
        defaultExpression = SQL(sql: value.databaseValue.sqlDefault)
        return self
    }

    /// Sets the default value, written in SQL: a literal, `CURRENT_TIMESTAMP`, or an expression in
    /// parentheses.
    @discardableResult
    public func defaults(sql: String) -> Self {
        defaultExpression = SQL(sql: sql)
        return self
    }

    /// Sets the collation of the column's comparisons and sort order. An expression may override it.
    @discardableResult
    public func collate(_ collation: Database.CollationName) -> Self {
        self.collation = collation.rawValue
        return self
    }

    /// Sets the collation of the column's comparisons and sort order.
    ///
    /// Every connection that uses the table needs the collation: see ``Database/add(collation:)``.
    @discardableResult
    public func collate(_ collation: DatabaseCollation) -> Self {
        self.collation = collation.name
        return self
    }

    /// Computes the column from others. It cannot be written: see <https://www.sqlite.org/gencol.html>.
    ///
    /// A column that is added to an existing table can only be virtual.
    ///
    /// - Parameters:
    ///   - expression: computes the value from other columns of the row.
    ///   - qualification: stores the value, or computes it with each read.
    @discardableResult
    public func generatedAs(
        _ expression: some SQLExpressible, _ qualification: GeneratedColumnQualification = .virtual
    ) -> Self {
        generation = Generation(expression: SQL(expression.sqlExpression), qualification: qualification)
        return self
    }

    /// Computes the column from others, with an expression written in SQL: see ``generatedAs(_:_:)``.
    @discardableResult
    public func generatedAs(sql: String, _ qualification: GeneratedColumnQualification = .virtual) -> Self {
        generation = Generation(expression: SQL(sql: sql), qualification: qualification)
        return self
    }
}

extension DatabaseValue {
    /// The value in a form that is valid after `DEFAULT`, where only literals may omit parentheses.
    fileprivate var sqlDefault: String {
        let literal = sqlLiteral
        return literal.hasPrefix("replace(") ? "(\(literal))" : literal
    }
}
