/// The columns and constraints of a table that is about to be created.
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
    /// What stands in the list of columns.
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

    /// A constraint of the table, as an expression or as SQL.
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

    /// The key that ``primaryKey(onConflict:body:)`` is defining.
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
    ///   - name: the name of the column, which may contain anything.
    ///   - type: its type. Nil is a column of any type, whose values SQLite does not convert.
    @discardableResult
    public func column(_ name: String, _ type: Database.ColumnType? = nil) -> ColumnDefinition {
        let column = ColumnDefinition(name: name, type: type)
        elements.append(.column(column))
        if openPrimaryKey != nil {
            openPrimaryKey?.elements.append(.column(name))
            // Without it, SQLite lets NULL into primary keys: https://www.sqlite.org/quirks.html.
            column.notNull()
        }
        return column
    }

    /// Adds a column that is defined by SQL, such as `"name TEXT NOT NULL"`.
    public func column(sql: String) {
        elements.append(.literal(SQL(sql: sql)))
    }

    /// Adds a column that is defined by an SQL literal, such as `"name TEXT DEFAULT \(defaultName)"`.
    public func column(literal: SQL) {
        elements.append(.literal(literal))
    }
}

// MARK: - Keys

extension TableDefinition {
    /// Adds an integer column that is the primary key, and that SQLite fills with numbers that no row of the
    /// table ever had.
    ///
    /// See <https://www.sqlite.org/autoinc.html>.
    /// - Parameters:
    ///   - name: the name of the column.
    ///   - conflictResolution: what happens to a row whose key exists already.
    @discardableResult
    public func autoIncrementedPrimaryKey(
        _ name: String, onConflict conflictResolution: Database.ConflictResolution? = nil
    ) -> ColumnDefinition {
        column(name, .integer).primaryKey(onConflict: conflictResolution, autoincrement: true)
    }

    /// Adds a column that is the primary key, and is never NULL.
    ///
    /// - Parameters:
    ///   - name: the name of the column.
    ///   - type: with `.integer`, the column is the row ID, which SQLite fills where a row brings none.
    ///   - conflictResolution: what happens to a row whose key exists already.
    @discardableResult
    public func primaryKey(
        _ name: String, _ type: Database.ColumnType,
        onConflict conflictResolution: Database.ConflictResolution? = nil
    ) -> ColumnDefinition {
        let column = column(name, type).primaryKey(onConflict: conflictResolution)
        // A row ID is never NULL: a NULL that is inserted becomes the next number.
        return type.isInteger ? column : column.notNull()
    }

    /// Makes the columns that `body` adds the primary key, in their order. They are never NULL.
    ///
    ///     t.primaryKey {
    ///         t.belongsTo("item")
    ///         t.column("page", .integer)
    ///     }
    ///
    /// - Parameters:
    ///   - conflictResolution: what SQLite does if the key is taken; nil aborts the statement.
    ///   - body: defines the columns of the key.
    public func primaryKey(
        onConflict conflictResolution: Database.ConflictResolution? = nil, body: () throws -> Void
    ) rethrows {
        precondition(
            openPrimaryKey == nil, "A primary key cannot be defined inside of the definition of another one.")
        openPrimaryKey = PrimaryKey(elements: [], conflictResolution: conflictResolution)
        defer { openPrimaryKey = nil }
        try body()
        if let openPrimaryKey { primaryKeys.append(openPrimaryKey) }
    }

    /// Makes columns of the table, which are added elsewhere, its primary key.
    ///
    /// SQLite lets NULL into these columns unless they are `notNull()`. See ``primaryKey(onConflict:body:)``,
    /// which takes care of that.
    ///
    /// - Parameters:
    ///   - columns: the columns of the key, in their order.
    ///   - conflictResolution: what SQLite does if the key is taken; nil aborts the statement.
    public func primaryKey(
        _ columns: [String], onConflict conflictResolution: Database.ConflictResolution? = nil
    ) {
        primaryKeys.append(
            PrimaryKey(elements: columns.map { .column($0) }, conflictResolution: conflictResolution))
    }

    /// Refuses rows with the same values in all of these columns. NULL differs from NULL.
    ///
    /// - Parameters:
    ///   - columns: the columns of the key, in their order.
    ///   - conflictResolution: what SQLite does if the key is taken; nil aborts the statement.
    public func uniqueKey(
        _ columns: [String], onConflict conflictResolution: Database.ConflictResolution? = nil
    ) {
        uniqueKeys.append(UniqueKey(columns: columns, conflictResolution: conflictResolution))
    }

    /// Adds columns that refer to the primary key of another table, together with their foreign key and an
    /// index.
    ///
    ///     t.belongsTo("owner")                       // ownerId REFERENCES owner(id)
    ///     t.belongsTo("currency").notNull()          // currencyCode REFERENCES currency(code)
    ///     t.belongsTo("guest", inTable: "owner")     // guestId REFERENCES owner(id)
    ///
    /// The name of a column is `name` with the name of the column that it refers to, and so is its type. A
    /// table without a primary key is referred to by its row ID: `ownerId`.
    ///
    /// - Parameters:
    ///   - name: the name of the relation.
    ///   - table: the table that is referred to, which may be the one that is being created. Nil is the table
    ///     with the name of the relation, or if there is none, with its plural: `owners` for `owner`. See
    ///     ``Inflections``.
    ///   - deleteAction: what happens to rows when the row that they refer to is deleted. Nil refuses the
    ///     deletion.
    ///   - updateAction: what happens to rows when the key that they refer to changes. Nil refuses the
    ///     change.
    ///   - isDeferred: whether the foreign key is checked at the end of transactions rather than at the end
    ///     of statements.
    ///   - indexed: whether there is an index on the columns. Columns of the primary key, and a single unique
    ///     column, have one anyway.
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

    /// Makes columns of the table, which are added elsewhere, refer to another table.
    ///
    /// - Parameters:
    ///   - columns: the columns, in their order.
    ///   - table: the table that is referred to.
    ///   - destinationColumns: its columns. Nil is its primary key.
    ///   - deleteAction: what happens to rows when the row that they refer to is deleted. Nil refuses the
    ///     deletion.
    ///   - updateAction: what happens to rows when the key that they refer to changes. Nil refuses the
    ///     change.
    ///   - isDeferred: whether the foreign key is checked at the end of transactions rather than at the end
    ///     of statements.
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
    /// Refuses rows for which the condition is false. NULL is not false.
    public func check(_ condition: some SQLSpecificExpressible) {
        constraints.append(.check(SQL(bare: condition.sqlExpression)))
    }

    /// Refuses rows for which the condition is false. A condition in SQL belongs into ``check(sql:)``: a
    /// string is a constant here.
    @_disfavoredOverload
    public func check(_ condition: some SQLExpressible) {
        constraints.append(.check(SQL(bare: condition.sqlExpression)))
    }

    /// Refuses rows for which the condition, written in SQL, is false.
    public func check(sql: String) {
        constraints.append(.check(SQL(sql: sql)))
    }

    /// Adds a constraint that is written in SQL, such as `"CHECK (a < b)"`.
    public func constraint(sql: String) {
        constraints.append(.literal(SQL(sql: sql)))
    }

    /// Adds a constraint that is written as an SQL literal, such as `"CHECK (a < \(maximum))"`.
    public func constraint(literal: SQL) {
        constraints.append(.literal(literal))
    }
}

extension Database.ColumnType {
    /// Whether the type makes a primary key an alias of the row ID.
    var isInteger: Bool { rawValue.uppercased() == "INTEGER" }
}
