extension SQLRelation {
    /// The condition that the primary key of a row is one of some values. NULL is no key of any row.
    static func primaryKeyCondition(
        _ keys: [RequestedKey], _ storage: KeyStorage, table: String
    ) -> @Sendable (Database) throws -> SQLExpression {
        let keys = keys.filter { !$0.isNull }
        guard !keys.isEmpty else { return { _ in SQLExpression(impl: .boolean(false)) } }
        return { db in
            let columns = try db.primaryKey(table).columns
            guard columns.count == 1 else {
                throw DatabaseError(
                    resultCode: .SQLITE_MISUSE,
                    message: "The primary key of \(table.quotedDatabaseIdentifier) has several columns. Give a dictionary of them: "
                        + columns.joined(separator: ", "))
            }
            let values = keys.map { storage.stored($0, in: columns[0]) }.filter { !$0.isNull }.map { SQLExpression.databaseValue($0) }
            guard let value = values.first else { return SQLExpression(impl: .boolean(false)) }
            let column = SQLExpression(impl: .column(columns[0]))
            return values.count == 1 ? .binary(.equal, column, value) : SQLExpression(impl: .isIn(column, .list(values), isNegated: false))
        }
    }

    /// The condition that a row has one of some keys, each of which has all columns of the primary key or of a unique index.
    static func uniqueKeyCondition(
        _ keys: [[String: DatabaseValue]], table: String
    ) -> @Sendable (Database) throws -> SQLExpression {
        { db in
            try .associative(
                .or,
                keys.map { key in
                    let columns = try db.uniqueKeyColumns(Array(key.keys), of: table)
                    return SQLExpression.associative(
                        .and,
                        columns.map { name, givenName in
                            .equal(SQLExpression(impl: .column(name)), .databaseValue(key[givenName] ?? .null))
                        })
                })
        }
    }
}

extension Database {
    /// The columns of a key in the order of the table's key, each as the table spells it and as it was given.
    ///
    /// - Throws: a ``DatabaseError`` of code `SQLITE_MISUSE` if the columns are neither the primary key nor those of a unique index.
    fileprivate func uniqueKeyColumns(_ names: [String], of table: String) throws -> [(name: String, givenName: String)] {
        guard try self.table(table, hasUniqueKey: names) else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message: "The table \(table.quotedDatabaseIdentifier) has no unique key on the columns: "
                    + names.sorted().joined(separator: ", "))
        }
        let givenNames = Dictionary(names.map { (CaseInsensitiveName($0), $0) }, uniquingKeysWith: { first, _ in first })
        // A hidden row ID is not among the columns.
        let knownNames = try primaryKey(table).columns + columns(in: table).map(\.name) + rowIDNames
        var seen: Set<CaseInsensitiveName> = []
        return knownNames.compactMap { name in
            guard let givenName = givenNames[CaseInsensitiveName(name)], seen.insert(CaseInsensitiveName(name)).inserted else { return nil }
            return (name, givenName)
        }
    }

    /// Whether the table has a unique key whose columns are all among those given.
    func table(_ table: String, hasUniqueKeyAmong names: [String]) throws -> Bool {
        let names = Set(names.map(CaseInsensitiveName.init))
        let isCovered: ([String]) -> Bool = { columns in
            !columns.isEmpty && columns.allSatisfy { names.contains(CaseInsensitiveName($0)) }
        }
        if try isCovered(primaryKey(table).columns) { return true }
        if try names.contains(where: { try isRowID($0.spelling, of: table) }) { return true }
        return try indexes(on: table).contains { $0.isUnique && !$0.isPartial && isCovered($0.columns) }
    }

    /// Whether the column is the row ID of the table, by one of its names or as an `INTEGER PRIMARY KEY`.
    func isRowID(_ column: String, of table: String) throws -> Bool {
        let column = CaseInsensitiveName(column)
        let primaryKey = try primaryKey(table)
        if let alias = primaryKey.rowIDColumn, CaseInsensitiveName(alias) == column { return true }
        guard primaryKey.tableHasRowID, rowIDNames.contains(where: { CaseInsensitiveName($0) == column }) else { return false }
        return try !columns(in: table).contains { CaseInsensitiveName($0.name) == column }
    }

    /// The columns that tell a row from all others: one for the row ID if there is one, or else the primary key. A view has the primary key
    /// that the ``schemaSource`` knows.
    func columnsOfRowKey(of table: String) throws -> [String] {
        if try tableExists(table), let rowID = try rowIDName(of: table, in: nil) { return [rowID] }
        return try primaryKey(table).columns
    }

    /// Columns that are not all NULL in a row that exists.
    func columnsOfExistingRow(of table: String) throws -> [String] {
        // Of views, only a schema source knows the primary key.
        guard try tableExists(table) else { return try (try? primaryKey(table).columns) ?? columns(in: table).map(\.name) }
        if let rowID = try rowIDName(of: table, in: nil) { return [rowID] }
        let primaryKey = try primaryKey(table)
        // The primary key of a table without row IDs is never NULL. In a table with row IDs whose names are all taken, it may be.
        return try primaryKey.tableHasRowID ? columns(in: table).map(\.name) : primaryKey.columns
    }
}
