/// The columns and constraints of a table that is being created.
///
///     try db.create(table: "share") { t in
///         t.primaryKey {
///             t.belongsTo("item")
///             t.belongsTo("guest", inTable: "owner")
///         }
///         t.column("expiry", .date)
///     }
///
/// See ``Database/create(table:options:body:)``.
public final class TableDefinition {
    /// An element of the list of columns.
    enum Element {
        case column(ColumnDefinition)
        case foreignKey(ForeignKeyDefinition)
        case literal(SQL)
    }

    /// A part of the primary key.
    enum KeyElement {
        case column(String)
        case foreignKey(ForeignKeyDefinition)
    }

    struct PrimaryKey {
        var elements: [KeyElement]
        let conflictResolution: Database.ConflictResolution?
    }

    struct UniqueKey {
        let columns: [String]
        let conflictResolution: Database.ConflictResolution?
    }

    struct ForeignKeyConstraint {
        let columns: [String]
        let reference: ForeignKeyReference
    }

    /// A table constraint, as an expression or as SQL.
    enum Constraint {
        case check(SQL)
        case literal(SQL)
    }

    let name: String
    let options: TableOptions

    private(set) var elements: [Element] = []
    private(set) var primaryKeys: [PrimaryKey] = []
    private(set) var uniqueKeys: [UniqueKey] = []
    private(set) var foreignKeys: [ForeignKeyConstraint] = []
    private(set) var constraints: [Constraint] = []

    /// The key that a running ``primaryKey(onConflict:body:)`` defines.
    private var openPrimaryKey: PrimaryKey?

    init(name: String, options: TableOptions) {
        self.name = name
        self.options = options
    }
}

@available(*, unavailable)
extension TableDefinition: Sendable {}

// MARK: - Columns

extension TableDefinition {
    /// Adds a column.
    ///
    /// - Parameters:
    ///   - name: the name of the column, which may contain any characters.
    ///   - type: nil declares no type, so that SQLite does not convert the values.
    @discardableResult
    public func column(_ name: String, _ type: Database.ColumnType? = nil) -> ColumnDefinition {
        let column = ColumnDefinition(name: name, type: type)
        elements.append(.column(column))
        if openPrimaryKey != nil {
            openPrimaryKey?.elements.append(.column(name))
            // Otherwise SQLite accepts NULL in primary keys: https://www.sqlite.org/quirks.html.
            column.notNull()
        }
        return column
    }

    /// Adds a column defined by SQL, such as `"name TEXT NOT NULL"`.
    public func column(sql: String) {
        elements.append(.literal(SQL(sql: sql)))
    }

    /// Adds a column defined by an SQL literal, such as `"name TEXT DEFAULT \(defaultName)"`.
    public func column(literal: SQL) {
        elements.append(.literal(literal))
    }
}

// MARK: - Keys

extension TableDefinition {
    /// Adds an integer primary key. SQLite fills it with numbers that no row of the table has ever had.
    ///
    /// See <https://www.sqlite.org/autoinc.html>.
    ///
    /// - Parameter conflictResolution: the reaction to a row whose key exists already; nil aborts the
    ///   statement.
    @discardableResult
    public func autoIncrementedPrimaryKey(
        _ name: String, onConflict conflictResolution: Database.ConflictResolution? = nil
    ) -> ColumnDefinition {
        column(name, .integer).primaryKey(onConflict: conflictResolution, autoincrement: true)
    }

    /// Adds a column that is the primary key and never NULL.
    ///
    /// - Parameters:
    ///   - type: an `.integer` column is the row ID, which SQLite assigns if an inserted row does not set it.
    ///   - conflictResolution: the reaction to a row whose key exists already; nil aborts the statement.
    @discardableResult
    public func primaryKey(
        _ name: String, _ type: Database.ColumnType,
        onConflict conflictResolution: Database.ConflictResolution? = nil
    ) -> ColumnDefinition {
        let column = column(name, type).primaryKey(onConflict: conflictResolution)
        // A row ID is never NULL: SQLite replaces an inserted NULL with the next number.
        return type.isInteger ? column : column.notNull()
    }

    /// Makes the columns that `body` adds the primary key, in the same order. They are never NULL.
    ///
    ///     t.primaryKey {
    ///         t.belongsTo("item")
    ///         t.column("page", .integer)
    ///     }
    ///
    /// - Parameters:
    ///   - conflictResolution: the reaction to a row whose key exists already; nil aborts the statement.
    ///   - body: adds the columns of the key.
    public func primaryKey(
        onConflict conflictResolution: Database.ConflictResolution? = nil, body: () throws -> Void
    ) rethrows {
        precondition(
            openPrimaryKey == nil, "A primary key cannot be defined inside the definition of another one.")
        openPrimaryKey = PrimaryKey(elements: [], conflictResolution: conflictResolution)
        defer { openPrimaryKey = nil }
        try body()
        if let openPrimaryKey { primaryKeys.append(openPrimaryKey) }
    }

    /// Makes columns that are added elsewhere in the definition the primary key.
    ///
    /// SQLite accepts NULL in these columns unless they are `notNull()`. ``primaryKey(onConflict:body:)``
    /// adds this constraint.
    ///
    /// - Parameters:
    ///   - columns: the columns of the key, in its order.
    ///   - conflictResolution: the reaction to a row whose key exists already; nil aborts the statement.
    public func primaryKey(
        _ columns: [String], onConflict conflictResolution: Database.ConflictResolution? = nil
    ) {
        primaryKeys.append(
            PrimaryKey(elements: columns.map { .column($0) }, conflictResolution: conflictResolution))
    }

    /// Rejects rows with the same values in all of these columns. NULL differs from NULL.
    ///
    /// - Parameters:
    ///   - columns: the columns of the key, in its order.
    ///   - conflictResolution: the reaction to a row whose values exist already; nil aborts the statement.
    public func uniqueKey(
        _ columns: [String], onConflict conflictResolution: Database.ConflictResolution? = nil
    ) {
        uniqueKeys.append(UniqueKey(columns: columns, conflictResolution: conflictResolution))
    }

    /// Adds columns that refer to the primary key of another table, with their foreign key and an index.
    ///
    ///     t.belongsTo("owner")                       // ownerId REFERENCES owner(id)
    ///     t.belongsTo("currency").notNull()          // currencyCode REFERENCES currency(code)
    ///     t.belongsTo("guest", inTable: "owner")     // guestId REFERENCES owner(id)
    ///
    /// A column is named after the relation and the column that it refers to, and has the type of the latter.
    /// A table without a primary key is referred to by its row ID: `ownerId`.
    ///
    /// - Parameters:
    ///   - name: the name of the relation.
    ///   - table: the referenced table, which may be the table that is being created. Nil is the table with
    ///     the
    ///     name of the relation, or if there is none, with its plural: `owners` for `owner`. See
    ///     ``Inflections``.
    ///   - deleteAction: the effect of deleting the referenced row. Nil rejects the deletion.
    ///   - updateAction: the effect of changing the referenced key. Nil rejects the change.
    ///   - isDeferred: if true, the foreign key is checked at the end of a transaction instead of the end of
    ///     a
    ///     statement.
    ///   - indexed: if true, the columns are indexed. Columns of the primary key, and a single unique column,
    ///     have an index in any case.
    @discardableResult
    public func belongsTo(
        _ name: String, inTable table: String? = nil, onDelete deleteAction: Database.ForeignKeyAction? = nil,
        onUpdate updateAction: Database.ForeignKeyAction? = nil, deferred isDeferred: Bool = false,
        indexed: Bool = true
    ) -> ForeignKeyDefinition {
        let foreignKey = ForeignKeyDefinition(
            name: name, table: table,
            actions: ForeignKeyActions(delete: deleteAction, update: updateAction, isDeferred: isDeferred),
            isIndexed: indexed && openPrimaryKey == nil)
        elements.append(.foreignKey(foreignKey))
        if openPrimaryKey != nil {
            openPrimaryKey?.elements.append(.foreignKey(foreignKey))
            foreignKey.notNull()
        }
        return foreignKey
    }

    /// Makes columns that are added elsewhere in the definition refer to another table.
    ///
    /// - Parameters:
    ///   - destinationColumns: the referenced columns. Nil is the primary key of the other table.
    ///   - deleteAction: the effect of deleting the referenced row. Nil rejects the deletion.
    ///   - updateAction: the effect of changing the referenced key. Nil rejects the change.
    ///   - isDeferred: if true, the foreign key is checked at the end of a transaction instead of the end of
    ///     a
    ///     statement.
    public func foreignKey(
        _ columns: [String], references table: String, columns destinationColumns: [String]? = nil,
        onDelete deleteAction: Database.ForeignKeyAction? = nil,
        onUpdate updateAction: Database.ForeignKeyAction? = nil,
        deferred isDeferred: Bool = false
    ) {
        let actions = ForeignKeyActions(delete: deleteAction, update: updateAction, isDeferred: isDeferred)
        let reference = ForeignKeyReference(table: table, columns: destinationColumns, actions: actions)
        foreignKeys.append(ForeignKeyConstraint(columns: columns, reference: reference))
    }
}

// MARK: - Constraints

extension TableDefinition {
    /// Rejects rows for which the condition is false. NULL is not false.
    public func check(_ condition: some SQLSpecificExpressible) {
        constraints.append(.check(SQL(condition.sqlExpression)))
    }

    /// Rejects rows for which the condition is false. A string is a constant here: pass a condition in SQL to
    /// ``check(sql:)``.
    @_disfavoredOverload
    public func check(_ condition: some SQLExpressible) {
        constraints.append(.check(SQL(condition.sqlExpression)))
    }

    /// Rejects rows for which the condition, written in SQL, is false.
    public func check(sql: String) {
        constraints.append(.check(SQL(sql: sql)))
    }

    /// Adds a constraint written in SQL, such as `"CHECK (a < b)"`.
    public func constraint(sql: String) {
        constraints.append(.literal(SQL(sql: sql)))
    }

    /// Adds a constraint written as an SQL literal, such as `"CHECK (a < \(maximum))"`.
    public func constraint(literal: SQL) {
        constraints.append(.literal(literal))
    }
}

extension Database.ColumnType {
    /// True if a primary key of this type is an alias of the row ID.
    var isInteger: Bool { rawValue.uppercased() == "INTEGER" }
}
