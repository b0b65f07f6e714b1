internal import SQLCipherBridge

// MARK: - Columns

extension Database {
    /// Returns the columns of a table or view, in the order of their definition.
    ///
    /// Generated columns are included; the hidden columns of virtual tables are not.
    ///
    /// - Parameters:
    ///   - tableName: the name of the table or view, compared without regard to the case of ASCII letters.
    ///   - schemaName: `main`, `temp`, or an attached database. Nil searches the temporary schema, the main
    ///     database, and the attached databases, in this order.
    /// - Throws: a ``DatabaseError`` if there is no such table.
    public func columns(in tableName: String, in schemaName: String? = nil) throws -> [ColumnInfo] {
        try readSchema { try columns(of: tableOrView(tableName, in: schemaName)) }
    }

    private func columns(of table: TableStructure) throws -> [ColumnInfo] {
        if let columns = table.columns { return columns }
        var columns: [ColumnInfo] = []
        try forEachSchemaRow(pragma("table_xinfo", table.id.name, in: table.id.schemaID)) { row in
            let visibility = row.int64(at: 6)
            guard visibility != 1 else { return }
            columns.append(
                ColumnInfo(
                    name: row.string(at: 1), type: row.string(at: 2), isNotNull: row.int64(at: 3) != 0,
                    defaultValueSQL: row.isNull(at: 4) ? nil : row.string(at: 4),
                    primaryKeyIndex: Int(row.int64(at: 5)),
                    isGenerated: visibility != 0))
        }
        table.columns = columns
        return columns
    }

    private func pragma(_ name: StaticString, _ argument: String, in schemaID: DatabaseSchemaID) -> String {
        "PRAGMA \(schemaID.name.quotedDatabaseIdentifier).\(name)(\(argument.quotedDatabaseIdentifier))"
    }
}

// MARK: - Keys

extension Database {
    /// Returns the primary key of a table, which is the hidden row ID if the table declares none.
    ///
    /// - Throws: a ``DatabaseError`` if there is no such table, or if it is a view whose primary key the
    ///   ``schemaSource`` does not provide.
    /// - Parameters: see ``columns(in:in:)``.
    public func primaryKey(_ tableName: String, in schemaName: String? = nil) throws -> PrimaryKeyInfo {
        let (table, key) = try readSchema {
            let table = try tableOrView(tableName, in: schemaName)
            return (table, table.kind == .view ? nil : try primaryKey(of: table))
        }
        return try key ?? primaryKey(ofView: table)
    }

    private func primaryKey(ofView view: TableStructure) throws -> PrimaryKeyInfo {
        guard let primaryKey = try primaryKeyIfKnown(ofView: view) else {
            throw DatabaseError(message: "database view \(view.id.name) has no primary key")
        }
        return primaryKey
    }

    /// Returns the primary key of a table, or of a view if the schema source provides it; nil for other
    /// views, and if there is no such table or view.
    func primaryKeyIfKnown(_ name: String) throws -> PrimaryKeyInfo? {
        if try tableExists(name) { return try primaryKey(name) }
        guard try viewExists(name) else { return nil }
        return try primaryKeyIfKnown(ofView: readSchema { try tableOrView(name, in: nil) })
    }

    /// Returns the primary key that the schema source provides. Call it outside `readSchema`, as the source
    /// runs code of the application.
    private func primaryKeyIfKnown(ofView view: TableStructure) throws -> PrimaryKeyInfo? {
        let isPermanent = temporarySchemaSource == nil
        if isPermanent, let primaryKey = view.primaryKey { return primaryKey }
        guard let names = try schemaSource?.columnsForPrimaryKey(self, inView: view.id), !names.isEmpty else {
            return nil
        }
        let columns = try columns(in: view.id.name, in: view.id.schemaID.name)
        let keyColumns = try names.map { name in
            guard
                let column = columns.first(where: {
                    CaseInsensitiveName($0.name) == CaseInsensitiveName(name)
                })
            else {
                throw DatabaseError(
                    message:
                        "no such column: \(name) in the view \(view.id.name), although the schema source "
                        + "names it")
            }
            return column
        }
        let primaryKey = PrimaryKeyInfo(kind: .regular(keyColumns, tableHasRowID: false))
        if isPermanent { view.primaryKey = primaryKey }
        return primaryKey
    }

    /// Returns whether columns identify a row: they include the primary key, the row ID, or all columns of a
    /// unique index.
    ///
    ///     // CREATE TABLE owner (id INTEGER PRIMARY KEY, email TEXT UNIQUE, name TEXT)
    ///     try db.table("owner", hasUniqueKey: ["email", "name"])  // true
    ///     try db.table("owner", hasUniqueKey: ["name"])           // false
    ///
    /// A partial index (one with a `WHERE` clause) does not count, as it does not cover all rows. For a view,
    /// only the primary key counts.
    ///
    /// - Parameters:
    ///   - tableName: the name of a table or view.
    ///   - columns: column names, compared without regard to the case of ASCII letters.
    /// - Throws: a ``DatabaseError`` if there is no such table.
    public func table(_ tableName: String, hasUniqueKey columns: some Collection<String>) throws -> Bool {
        let names = Set(columns.map(CaseInsensitiveName.init))
        let isCovered: ([String]) -> Bool = { key in
            !key.isEmpty && key.allSatisfy { names.contains(CaseInsensitiveName($0)) }
        }
        let structure = try readSchema { try tableOrView(tableName, in: nil) }
        if structure.kind == .view {
            return try primaryKeyIfKnown(ofView: structure).map { isCovered($0.columns) } ?? false
        }
        return try readSchema {
            let table = try table(tableName, in: nil)
            if try isCovered(primaryKey(of: table).columns) { return true }
            if try columns.contains(where: { try isRowIDName($0, in: table) }) { return true }
            return try indexes(of: table).contains { $0.isUnique && !$0.isPartial && isCovered($0.columns) }
        }
    }

    /// Returns a name of the row ID that can be used in SQL, or nil if there is none: the table has no row
    /// ID, or its columns hide all names of the row ID.
    func rowIDName(of tableName: String, in schemaName: String?) throws -> String? {
        try readSchema {
            let table = try table(tableName, in: schemaName)
            let primaryKey = try primaryKey(of: table)
            guard primaryKey.tableHasRowID else { return nil }
            if let alias = primaryKey.rowIDColumn { return alias }
            return try rowIDNames.first { try isRowIDName($0, in: table) }
        }
    }

    /// Returns a built-in name of the row ID that no column hides, or else its alias. Nil if there is
    /// neither.
    func hiddenRowIDName(of tableName: String) throws -> String? {
        try readSchema {
            let table = try table(tableName, in: nil)
            let primaryKey = try primaryKey(of: table)
            guard primaryKey.tableHasRowID else { return nil }
            return try rowIDNames.first { try isRowIDName($0, in: table) } ?? primaryKey.rowIDColumn
        }
    }

    private func primaryKey(of table: TableStructure) throws -> PrimaryKeyInfo {
        if let primaryKey = table.primaryKey { return primaryKey }
        let primaryKey = PrimaryKeyInfo(kind: try primaryKeyKind(of: table))
        table.primaryKey = primaryKey
        return primaryKey
    }

    private func primaryKeyKind(of table: TableStructure) throws -> PrimaryKeyInfo.Kind {
        let columns = try columns(of: table)
        let keyColumns = columns.filter { $0.primaryKeyIndex > 0 }.sorted {
            $0.primaryKeyIndex < $1.primaryKeyIndex
        }
        guard let firstColumn = keyColumns.first else {
            let columnNames = Set(columns.map { CaseInsensitiveName($0.name) })
            return .hiddenRowID(
                name: rowIDNames.first { !columnNames.contains(CaseInsensitiveName($0)) } ?? rowIDNames[0])
        }
        let hasRowID = try tableHasRowID(table)
        // A primary key without an index is an alias of the row ID. The declared type is not enough: `INTEGER
        // PRIMARY KEY DESC` is not an alias.
        if hasRowID, table.kind == .table, keyColumns.count == 1,
            try !allIndexes(of: table).contains(where: { $0.origin == .primaryKeyConstraint })
        {
            return .rowID(firstColumn)
        }
        return .regular(keyColumns, tableHasRowID: hasRowID)
    }

    /// Returns true if a table has row IDs. `PRAGMA index_info` accepts the name of a table only if the table
    /// is its own index, which is true of `WITHOUT ROWID` tables.
    private func tableHasRowID(_ table: TableStructure) throws -> Bool {
        var isIndex = false
        try forEachSchemaRow(pragma("index_info", table.id.name, in: table.id.schemaID)) { _ in isIndex = true
        }
        return !isIndex
    }

    /// Returns true if the name refers to the row ID of this table, and no column hides it.
    private func isRowIDName(_ name: String, in table: TableStructure) throws -> Bool {
        let name = CaseInsensitiveName(name)
        guard rowIDNames.contains(where: { CaseInsensitiveName($0) == name }) else { return false }
        guard try !columns(of: table).contains(where: { CaseInsensitiveName($0.name) == name }) else {
            return false
        }
        return try primaryKey(of: table).tableHasRowID
    }
}

/// SQLite's names of the row ID: <https://www.sqlite.org/lang_createtable.html#rowid>.
let rowIDNames = ["rowid", "_rowid_", "oid"]

// MARK: - Indexes

extension Database {
    /// Returns the indexes of a table, including the indexes of its constraints.
    ///
    /// Indexes on expressions are left out, and an `INTEGER PRIMARY KEY` has no index: to find out whether
    /// columns identify a row, use ``table(_:hasUniqueKey:)``.
    ///
    /// - Throws: a ``DatabaseError`` if there is no such table.
    /// - Parameters: see ``columns(in:in:)``.
    public func indexes(on tableName: String, in schemaName: String? = nil) throws -> [IndexInfo] {
        try readSchema { try indexes(of: table(tableName, in: schemaName)) }
    }

    private func indexes(of table: TableStructure) throws -> [IndexInfo] {
        if let indexes = table.indexes { return indexes }
        let indexes = try allIndexes(of: table).compactMap { index in
            var columns: [String?] = []
            try forEachSchemaRow(pragma("index_info", index.name, in: table.id.schemaID)) { row in
                columns.append(row.isNull(at: 2) ? nil : row.string(at: 2))
            }
            let names = columns.compactMap(\.self)
            guard names.count == columns.count else { return nil as IndexInfo? }
            return IndexInfo(
                name: index.name, columns: names, isUnique: index.isUnique, origin: index.origin,
                isPartial: index.isPartial)
        }
        table.indexes = indexes
        return indexes
    }

    /// Returns all indexes, including those on expressions, without their columns.
    private func allIndexes(of table: TableStructure) throws -> [IndexInfo] {
        var indexes: [IndexInfo] = []
        try forEachSchemaRow(pragma("index_list", table.id.name, in: table.id.schemaID)) { row in
            indexes.append(
                IndexInfo(
                    name: row.string(at: 1), columns: [], isUnique: row.int64(at: 2) != 0,
                    origin: IndexInfo.Origin(rawValue: row.string(at: 3)), isPartial: row.int64(at: 4) != 0))
        }
        return indexes
    }
}

// MARK: - Foreign keys

extension Database {
    /// Returns the foreign keys of a table.
    ///
    /// If a foreign key does not name the columns that it refers to, they are the primary key of the other
    /// table.
    ///
    /// - Throws: a ``DatabaseError`` if there is no such table, or if the primary key of another table is
    ///   needed and that table does not exist.
    /// - Parameters: see ``columns(in:in:)``.
    public func foreignKeys(on tableName: String, in schemaName: String? = nil) throws -> [ForeignKeyInfo] {
        try readSchema { try foreignKeys(of: table(tableName, in: schemaName)) }
    }

    private func foreignKeys(of table: TableStructure) throws -> [ForeignKeyInfo] {
        if let foreignKeys = table.foreignKeys { return foreignKeys }
        struct Declaration {
            let id: Int
            let destinationTable: String
            var columns: [(origin: String, destination: String?)]
        }
        var declarations: [Declaration] = []
        try forEachSchemaRow(pragma("foreign_key_list", table.id.name, in: table.id.schemaID)) { row in
            // The rows of one foreign key are adjacent.
            let id = Int(row.int64(at: 0))
            if declarations.last?.id != id {
                declarations.append(Declaration(id: id, destinationTable: row.string(at: 2), columns: []))
            }
            let column = (origin: row.string(at: 3), destination: row.isNull(at: 4) ? nil : row.string(at: 4))
            declarations[declarations.count - 1].columns.append(column)
        }
        let foreignKeys = try declarations.map { declaration in
            let named = declaration.columns.compactMap(\.destination)
            // Both tables of a foreign key are in the same schema.
            let destinations =
                try named.isEmpty
                ? primaryKey(declaration.destinationTable, in: table.id.schemaID.name).columns : named
            guard destinations.count == declaration.columns.count else {
                throw DatabaseError(
                    message: "foreign key mismatch - \(table.id.name.quotedDatabaseIdentifier) referencing "
                        + declaration.destinationTable.quotedDatabaseIdentifier)
            }
            return ForeignKeyInfo(
                id: declaration.id, destinationTable: declaration.destinationTable,
                mapping: zip(declaration.columns, destinations).map { (origin: $0.origin, destination: $1) })
        }
        table.foreignKeys = foreignKeys
        return foreignKeys
    }
}
