/// The SQL of the definition of a table.
///
/// A foreign key that names no column refers to a primary key, which is looked up in the schema, or in the
/// definition itself if the table refers to its own rows. The SQL can therefore be generated only after the
/// definition is complete.
struct TableSQL {
    /// A column of a primary key that other columns refer to.
    struct KeyColumn {
        let name: String
        let type: String?

        /// The part of a referring column's name that follows the name of the relation.
        let suffix: String
    }

    /// A referenced table, and its primary key.
    struct Destination {
        let table: String
        let key: [KeyColumn]
    }

    let db: Database

    /// The table to create, or nil if an existing table is altered.
    let definition: TableDefinition?
    let tableName: String

    init(_ db: Database, creating definition: TableDefinition) {
        self.db = db
        self.definition = definition
        self.tableName = definition.name
    }

    init(_ db: Database, altering tableName: String) {
        self.db = db
        self.definition = nil
        self.tableName = tableName
    }
}

// MARK: - CREATE TABLE

extension TableSQL {
    /// Returns the statements that create the table and its indexes.
    static func creation(of definition: TableDefinition, in db: Database) throws -> [String] {
        let writer = TableSQL(db, creating: definition)
        var sql = "CREATE "
        if definition.options.contains(.temporary) { sql += "TEMPORARY " }
        sql += "TABLE "
        if definition.options.contains(.ifNotExists) { sql += "IF NOT EXISTS " }
        sql +=
            "\(definition.name.quotedDatabaseIdentifier) "
            + "(\(try writer.items(of: definition).joined(separator: ", ")))"
        var suffixes: [String] = []
        if definition.options.contains(.strict) { suffixes.append("STRICT") }
        if definition.options.contains(.withoutRowID) { suffixes.append("WITHOUT ROWID") }
        if !suffixes.isEmpty { sql += " " + suffixes.joined(separator: ", ") }
        return try [sql] + writer.indexes(of: definition)
    }

    private func items(of definition: TableDefinition) throws -> [String] {
        var columns: [String] = []
        var foreignKeys: [String] = []
        for element in definition.elements {
            switch element {
            case .column(let column):
                columns.append(try sql(of: column))
            case .literal(let literal):
                columns.append(try literal.inlined(db))
            case .foreignKey(let foreignKey):
                let (own, constraint) = try items(of: foreignKey)
                columns += own
                if let constraint { foreignKeys.append(constraint) }
            }
        }
        foreignKeys += try definition.foreignKeys.map {
            "FOREIGN KEY \($0.columns.quotedList) REFERENCES \(try sql(of: $0.reference))"
        }
        let primaryKeys = try definition.primaryKeys.map {
            try "PRIMARY KEY \(names($0).quotedList)" + sql(onConflict: $0.conflictResolution)
        }
        let uniqueKeys = definition.uniqueKeys.map {
            "UNIQUE \($0.columns.quotedList)" + sql(onConflict: $0.conflictResolution)
        }
        let constraints = try definition.constraints.map { constraint in
            switch constraint {
            case .check(let condition): "CHECK \(try inParentheses(condition))"
            case .literal(let literal): try literal.inlined(db)
            }
        }
        return columns + primaryKeys + uniqueKeys + foreignKeys + constraints
    }

    /// Returns the columns of a foreign key, and its constraint unless the constraint is part of its only
    /// column.
    private func items(of foreignKey: ForeignKeyDefinition) throws -> (columns: [String], constraint: String?)
    {
        let destination = try destination(of: foreignKey)
        let keyNames = destination.key.map(\.name).quotedList
        let references =
            "REFERENCES \(destination.table.quotedDatabaseIdentifier)\(keyNames)"
            + foreignKey.actions.sql
        var columns = destination.key.map { column in
            (foreignKey.name + column.suffix).quotedDatabaseIdentifier + (column.type.map { " \($0)" } ?? "")
                + (foreignKey.notNull.map { " NOT NULL" + sql(onConflict: $0.conflictResolution) } ?? "")
        }
        guard columns.count == 1 else {
            return (columns, "FOREIGN KEY \(names(of: foreignKey, to: destination).quotedList) \(references)")
        }
        if foreignKey.isUnique { columns[0] += " UNIQUE" }
        columns[0] += " \(references)"
        return (columns, nil)
    }

    private func indexes(of definition: TableDefinition) throws -> [String] {
        // Indexes on several columns come first. Programs depend on this order of the schema.
        var indexes: [String] = []
        var compositeIndexes: [String] = []
        for element in definition.elements {
            switch element {
            case .column(let column):
                if let index = sqlOfIndex(on: column, options: definition.options) { indexes.append(index) }
            case .foreignKey(let foreignKey):
                let names = try names(of: foreignKey, to: destination(of: foreignKey))
                guard foreignKey.isIndexed || foreignKey.isUnique, !(foreignKey.isUnique && names.count == 1)
                else { continue }
                let index = IndexSQL.creation(
                    name: names.count == 1
                        ? columnIndexName(names[0]) : IndexSQL.defaultName(on: tableName, columns: names),
                    on: tableName, terms: names.map(\.quotedDatabaseIdentifier),
                    options: indexOptions(of: definition.options, isUnique: foreignKey.isUnique))
                if names.count == 1 { indexes.append(index) } else { compositeIndexes.append(index) }
            case .literal:
                continue
            }
        }
        return compositeIndexes + indexes
    }

    private func indexOptions(of options: TableOptions, isUnique: Bool) -> IndexOptions {
        var result: IndexOptions = isUnique ? .unique : []
        if options.contains(.ifNotExists) { result.insert(.ifNotExists) }
        return result
    }

    private func columnIndexName(_ column: String) -> String { "\(tableName)_on_\(column)" }

    private func sqlOfIndex(on column: ColumnDefinition, options: TableOptions) -> String? {
        // A UNIQUE constraint creates its own index.
        guard column.isIndexed, column.uniqueKey == nil else { return nil }
        return IndexSQL.creation(
            name: columnIndexName(column.name), on: tableName, terms: [column.name.quotedDatabaseIdentifier],
            options: indexOptions(of: options, isUnique: false))
    }
}

// MARK: - ALTER TABLE

extension TableSQL {
    /// Returns the statements of one step. Call it after the previous step was executed, because a step may
    /// depend on the schema that the previous one left.
    static func alteration(_ step: TableAlteration.Step, of tableName: String, in db: Database) throws
        -> [String]
    {
        let writer = TableSQL(db, altering: tableName)
        let prefix = "ALTER TABLE \(tableName.quotedDatabaseIdentifier) "
        switch step {
        case .add(let column):
            let index = writer.sqlOfIndex(on: column, options: [])
            return try [prefix + "ADD COLUMN " + writer.sql(of: column)] + (index.map { [$0] } ?? [])
        case .addLiteral(let literal):
            return try [prefix + "ADD COLUMN " + literal.inlined(db)]
        case .rename(let name, let newName):
            return [
                prefix
                    + "RENAME COLUMN \(name.quotedDatabaseIdentifier) TO \(newName.quotedDatabaseIdentifier)"
            ]
        case .drop(let name):
            return [prefix + "DROP COLUMN \(name.quotedDatabaseIdentifier)"]
        }
    }
}

// MARK: - Columns

extension TableSQL {
    private func sql(of column: ColumnDefinition) throws -> String {
        var sql = column.name.quotedDatabaseIdentifier
        if let type = column.type { sql += " \(type.sql)" }
        if let primaryKey = column.primaryKey {
            sql += " PRIMARY KEY" + self.sql(onConflict: primaryKey.conflictResolution)
            if primaryKey.isAutoIncremented { sql += " AUTOINCREMENT" }
        }
        if let notNull = column.notNull {
            sql += " NOT NULL" + self.sql(onConflict: notNull.conflictResolution)
        }
        if let unique = column.uniqueKey {
            sql += " UNIQUE" + self.sql(onConflict: unique.conflictResolution)
        }
        for check in column.checks { sql += " CHECK \(try inParentheses(check))" }
        if let value = column.defaultExpression { sql += " DEFAULT \(try value.inlined(db))" }
        if let collation = column.collation { sql += " COLLATE \(collation.quotedUnlessWord)" }
        for reference in column.references { sql += " REFERENCES \(try self.sql(of: reference))" }
        if let generation = column.generation {
            sql += " GENERATED ALWAYS AS \(try inParentheses(generation.expression)) "
            sql += generation.qualification == .stored ? "STORED" : "VIRTUAL"
        }
        return sql
    }

    private func sql(of reference: ForeignKeyReference) throws -> String {
        let columns = try reference.columns ?? primaryKey(of: reference.table).map(\.name)
        return reference.table.quotedDatabaseIdentifier + columns.quotedList + reference.actions.sql
    }

    private func sql(onConflict conflictResolution: Database.ConflictResolution?) -> String {
        // ABORT is the default of SQLite.
        guard let conflictResolution, conflictResolution != .abort else { return "" }
        return " ON CONFLICT \(conflictResolution.rawValue)"
    }

    private func inParentheses(_ expression: SQL) throws -> String { "(\(try expression.inlined(db)))" }
}

// MARK: - Keys that are referred to

extension TableSQL {
    private func names(_ primaryKey: TableDefinition.PrimaryKey) throws -> [String] {
        try primaryKey.elements.flatMap { element in
            switch element {
            case .column(let name): [name]
            case .foreignKey(let foreignKey): try names(of: foreignKey, to: destination(of: foreignKey))
            }
        }
    }

    private func names(of foreignKey: ForeignKeyDefinition, to destination: Destination) -> [String] {
        destination.key.map { foreignKey.name + $0.suffix }
    }

    private func destination(of foreignKey: ForeignKeyDefinition) throws -> Destination {
        let table = try self.table(of: foreignKey)
        return Destination(table: isOwnName(table) ? tableName : table, key: try primaryKey(of: table))
    }

    /// Returns the table that a foreign key refers to: the given one, or else the table with the name of the
    /// relation or its plural.
    private func table(of foreignKey: ForeignKeyDefinition) throws -> String {
        if let table = foreignKey.table { return table }
        let name = foreignKey.name
        if try isOwnName(name) || db.tableExists(name) { return name }
        let plural = Inflections.default.pluralize(name)
        return try isOwnName(plural) || db.tableExists(plural) ? plural : name
    }

    private func isOwnName(_ table: String) -> Bool {
        definition != nil && CaseInsensitiveName(table) == CaseInsensitiveName(tableName)
    }

    private func primaryKey(of table: String) throws -> [KeyColumn] {
        if let definition, isOwnName(table) { return try ownPrimaryKey(definition) }
        // A view may have a primary key from a schema source, but SQLite's foreign keys need a table.
        guard try db.tableExists(table) else { throw DatabaseError.noSuchTable(table) }
        let primaryKey = try db.primaryKey(table)
        guard let columns = primaryKey.columnInfos else { return [.rowID] }
        return columns.map { KeyColumn(name: $0.name, type: $0.type.isEmpty ? nil : $0.type) }
    }

    private func ownPrimaryKey(_ definition: TableDefinition) throws -> [KeyColumn] {
        let columns = definition.elements.compactMap { element in
            if case .column(let column) = element { column } else { nil }
        }
        if let primaryKey = definition.primaryKeys.first {
            return try primaryKey.elements.flatMap { element -> [KeyColumn] in
                switch element {
                case .column(let name):
                    let column = columns.first { CaseInsensitiveName($0.name) == CaseInsensitiveName(name) }
                    return [KeyColumn(name: name, type: column?.type?.sql)]
                case .foreignKey(let foreignKey):
                    guard try !isOwnName(table(of: foreignKey)) else { throw selfReference() }
                    let destination = try destination(of: foreignKey)
                    return zip(names(of: foreignKey, to: destination), destination.key).map {
                        KeyColumn(name: $0, type: $1.type)
                    }
                }
            }
        }
        if let column = columns.first(where: { $0.primaryKey != nil }) {
            return [KeyColumn(name: column.name, type: column.type?.sql)]
        }
        return [.rowID]
    }

    private func selfReference() -> DatabaseError {
        DatabaseError(
            message: "the primary key of table \(tableName.quotedDatabaseIdentifier) refers to itself")
    }
}

extension TableSQL.KeyColumn {
    /// The row ID of a table without a primary key.
    fileprivate static let rowID = Self(name: "rowid", type: "INTEGER", suffix: "Id")

    fileprivate init(name: String, type: String?) {
        self.init(name: name, type: type, suffix: name.prefix(1).uppercased() + name.dropFirst())
    }
}

extension [String] {
    /// The identifiers, quoted, in parentheses, and separated by commas.
    var quotedList: String { "(" + map(\.quotedDatabaseIdentifier).joined(separator: ", ") + ")" }
}
