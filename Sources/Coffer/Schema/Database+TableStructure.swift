internal import SQLCipherBridge

// MARK: - Columns

extension Database {
    /// Returns the columns of a table or view, in their order.
    ///
    /// Generated columns are among them; the hidden columns of virtual tables are not.
    ///
    /// - Parameters:
    ///   - tableName: the name of the table or view, without regard to the case of ASCII letters.
    ///   - schemaName: where to look. Nil looks in the temporary schema, in the main database, and in the
    ///     attached ones.
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
    /// - Throws: a ``DatabaseError`` if there is no such table. A view has the primary key that the
    ///   ``schemaSource`` knows, or none.
    /// - Parameters: as those of ``columns(in:in:)``.
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

    /// The primary key of a table, or that of a view which the schema source knows; nil for other views, and
    /// where there is neither.
    func primaryKeyIfKnown(_ name: String) throws -> PrimaryKeyInfo? {
        if try tableExists(name) { return try primaryKey(name) }
        guard try viewExists(name) else { return nil }
        return try primaryKeyIfKnown(ofView: readSchema { try tableOrView(name, in: nil) })
    }

    /// The primary key that the schema source knows. The source runs outside of `readSchema`: it may do what
    /// it wants.
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
                        "no such column: \(name) in the view \(view.id.name), which the schema source names")
            }
            return column
        }
        let primaryKey = PrimaryKeyInfo(kind: .regular(keyColumns, tableHasRowID: false))
        if isPermanent { view.primaryKey = primaryKey }
        return primaryKey
    }

    /// Returns whether some columns identify a row: the primary key is among them, or the row ID, or all
    /// columns of a unique index.
    ///
    ///     // CREATE TABLE owner (id INTEGER PRIMARY KEY, email TEXT UNIQUE, name TEXT)
    ///     try db.table("owner", hasUniqueKey: ["email", "name"])  // true
    ///     try db.table("owner", hasUniqueKey: ["name"])           // false
    ///
    /// An index with a `WHERE` clause does not count, as it does not see all rows. Of a view, only the
    /// primary key does.
    ///
    /// - Parameters:
    ///   - tableName: the name of a table or view.
    ///   - columns: names of columns, compared without regard to the case of ASCII letters.
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

    /// A name by which SQL can ask for the row ID, or nil if there is none: the table has no row ID, or
    /// columns with all of its names.
    func rowIDName(of tableName: String, in schemaName: String?) throws -> String? {
        try readSchema {
            let table = try table(tableName, in: schemaName)
            let primaryKey = try primaryKey(of: table)
            guard primaryKey.tableHasRowID else { return nil }
            if let alias = primaryKey.rowIDColumn { return alias }
            return try rowIDNames.first { try isRowIDName($0, in: table) }
        }
    }

    /// A name of the row ID that every table with row IDs has, unless its columns have taken all of them:
    /// then its alias, if there is one.
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
        // Only an alias of the row ID needs no index. The declared type is not enough: INTEGER PRIMARY KEY
        // DESC is no alias.
        if hasRowID, table.kind == .table, keyColumns.count == 1,
            try !allIndexes(of: table).contains(where: { $0.origin == .primaryKeyConstraint })
        {
            return .rowID(firstColumn)
        }
        return .regular(keyColumns, tableHasRowID: hasRowID)
    }

    /// `PRAGMA index_info` answers to the name of a table only if this table is its own index, which it is
    /// without row IDs.
    private func tableHasRowID(_ table: TableStructure) throws -> Bool {
        var isIndex = false
        try forEachSchemaRow(pragma("index_info", table.id.name, in: table.id.schemaID)) { _ in isIndex = true
        }
        return !isIndex
    }

    /// Whether the name means the row ID in this table, as long as no column takes the name away.
    private func isRowIDName(_ name: String, in table: TableStructure) throws -> Bool {
        let name = CaseInsensitiveName(name)
        guard rowIDNames.contains(where: { CaseInsensitiveName($0) == name }) else { return false }
        guard try !columns(of: table).contains(where: { CaseInsensitiveName($0.name) == name }) else {
            return false
        }
        return try primaryKey(of: table).tableHasRowID
    }
}

/// The names that SQLite gives to the row ID: <https://www.sqlite.org/lang_createtable.html#rowid>.
let rowIDNames = ["rowid", "_rowid_", "oid"]

// MARK: - Indexes

extension Database {
    /// Returns the indexes of a table, those of its constraints included.
    ///
    /// An index on an expression is left out, and an `INTEGER PRIMARY KEY` has no index: to know whether
    /// columns identify a row, ask ``table(_:hasUniqueKey:)``.
    ///
    /// - Throws: a ``DatabaseError`` if there is no such table.
    /// - Parameters: as those of ``columns(in:in:)``.
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

    /// The indexes, also those on expressions, without their columns.
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
    /// Where a foreign key does not name the columns that it refers to, they are those of the primary key of
    /// the other table.
    ///
    /// - Throws: a ``DatabaseError`` if there is no such table, or no such other table where its primary key
    ///   is needed.
    /// - Parameters: as those of ``columns(in:in:)``.
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
            // The rows of one foreign key follow each other.
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
