/// A column of a table that is about to be created or altered.
///
///     t.column("email", .text).notNull().unique().check { length($0) > 0 }
public final class ColumnDefinition {
    /// Where the values of a generated column are.
    public enum GeneratedColumnQualification: Sendable {
        /// They are computed when they are read.
        case virtual

        /// They are computed when a row is written, and stored in it.
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
    /// SQLite lets NULL into such a column unless it is an integer: see
    /// ``TableDefinition/primaryKey(_:_:onConflict:)``.
    /// - Parameters:
    ///   - conflictResolution: what happens to a row whose key exists already.
    ///   - autoincrement: whether SQLite never uses a number again. Only for integers.
    @discardableResult
    public func primaryKey(
        onConflict conflictResolution: Database.ConflictResolution? = nil, autoincrement: Bool = false
    ) -> Self {
        primaryKey = PrimaryKey(conflictResolution: conflictResolution, isAutoIncremented: autoincrement)
        return self
    }

    /// Refuses NULL.
    ///
    /// - Parameter conflictResolution: what happens to a row with NULL.
    @discardableResult
    public func notNull(onConflict conflictResolution: Database.ConflictResolution? = nil) -> Self {
        // A key adds the constraint on its own: it must not take back what was said about conflicts.
        if notNull == nil || conflictResolution != nil {
            notNull = NotNull(conflictResolution: conflictResolution)
        }
        return self
    }

    /// Refuses a value that another row has. NULL differs from NULL.
    ///
    /// - Parameter conflictResolution: what happens to a row whose value exists already.
    @discardableResult
    public func unique(onConflict conflictResolution: Database.ConflictResolution? = nil) -> Self {
        uniqueKey = Unique(conflictResolution: conflictResolution)
        return self
    }

    /// Creates an index on the column, whose name is that of the table and that of the column:
    /// `player_on_score`.
    ///
    /// For other indexes, see ``Database/create(indexOn:columns:options:condition:)``. A unique column has an
    /// index anyway.
    @discardableResult
    public func indexed() -> Self {
        isIndexed = true
        return self
    }

    /// Makes the column refer to another table. Can be called several times.
    ///
    /// - Parameters:
    ///   - table: the table that is referred to, which may be the one that is being created.
    ///   - column: its column. Nil is its primary key.
    ///   - deleteAction: what happens to rows when the row that they refer to is deleted. Nil refuses the
    ///     deletion.
    ///   - updateAction: what happens to rows when the key that they refer to changes. Nil refuses the
    ///     change.
    ///   - isDeferred: whether the foreign key is checked at the end of transactions rather than at the end
    ///     of statements.
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
    /// Refuses rows for which the condition is false. NULL is not false. Can be called several times.
    ///
    ///     t.column("name", .text).check { length($0) > 0 }
    ///
    /// - Parameter condition: a function from the column to the condition.
    @discardableResult
    public func check(_ condition: (Column) -> any SQLExpressible) -> Self {
        checks.append(SQL(bare: condition(Column(name)).sqlExpression))
        return self
    }

    /// Refuses rows for which the condition, written in SQL, is false. Can be called several times.
    @discardableResult
    public func check(sql: String) -> Self {
        checks.append(SQL(sql: sql))
        return self
    }

    /// Sets the value of rows that bring none.
    @discardableResult
    public func defaults(to value: some DatabaseValueConvertible) -> Self {
        defaultExpression = SQL(sql: value.databaseValue.sqlDefault)
        return self
    }

    /// Sets the value of rows that bring none, written in SQL: a literal, `CURRENT_TIMESTAMP`, or an
    /// expression in parentheses.
    @discardableResult
    public func defaults(sql: String) -> Self {
        defaultExpression = SQL(sql: sql)
        return self
    }

    /// Sets the collation by which the values of the column are compared and sorted, unless an expression has
    /// another one.
    @discardableResult
    public func collate(_ collation: Database.CollationName) -> Self {
        self.collation = collation.rawValue
        return self
    }

    /// Sets the collation by which the values of the column are compared and sorted.
    ///
    /// Every connection that uses the table needs the collation: see ``Database/add(collation:)``.
    @discardableResult
    public func collate(_ collation: DatabaseCollation) -> Self {
        self.collation = collation.name
        return self
    }

    /// Computes the column from others. It cannot be written to: see <https://www.sqlite.org/gencol.html>.
    ///
    /// A column that is added to a table that exists can only be virtual.
    ///
    /// - Parameters:
    ///   - expression: computes the value from other columns of the row.
    ///   - qualification: whether the value is stored, or computed with each read.
    @discardableResult
    public func generatedAs(
        _ expression: some SQLExpressible, _ qualification: GeneratedColumnQualification = .virtual
    ) -> Self {
        generation = Generation(expression: SQL(bare: expression.sqlExpression), qualification: qualification)
        return self
    }

    /// Computes the column from others, by an expression that is written in SQL: see ``generatedAs(_:_:)``.
    ///
    /// - Parameters:
    ///   - sql: the text of an expression of other columns of the row.
    ///   - qualification: whether the value is stored, or computed with each read.
    @discardableResult
    public func generatedAs(sql: String, _ qualification: GeneratedColumnQualification = .virtual) -> Self {
        generation = Generation(expression: SQL(sql: sql), qualification: qualification)
        return self
    }
}

extension DatabaseValue {
    /// The value as it can stand after `DEFAULT`, where only literals need no parentheses.
    fileprivate var sqlDefault: String {
        let literal = sqlLiteral
        return literal.hasPrefix("CAST") ? "(\(literal))" : literal
    }
}
