extension Database {
    /// The columns of a key in the order of the table's key, each as the table spells it and as it was given.
    ///
    /// - Throws: a ``DatabaseError`` of code `SQLITE_MISUSE` if neither the primary key nor a unique index is
    ///   among the columns.
    func uniqueKeyColumns(_ names: [String], of table: String) throws -> [(name: String, givenName: String)] {
        guard try self.table(table, hasUniqueKey: names) else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message: "The table \(table.quotedDatabaseIdentifier) has no unique key on the columns: "
                    + names.sorted().joined(separator: ", "))
        }
        let givenNames = Dictionary(
            names.map { (CaseInsensitiveName($0), $0) }, uniquingKeysWith: { first, _ in first })
        // A hidden row ID is not among the columns.
        let knownNames = try primaryKey(table).columns + columns(in: table).map(\.name) + rowIDNames
        var seen: Set<CaseInsensitiveName> = []
        let known = knownNames.compactMap { name -> (name: String, givenName: String)? in
            guard let givenName = givenNames[CaseInsensitiveName(name)],
                seen.insert(CaseInsensitiveName(name)).inserted
            else { return nil }
            return (name, givenName)
        }
        // What is no column of the table becomes a condition too: SQLite says that there is no such column.
        return known
            + names.filter { !seen.contains(CaseInsensitiveName($0)) }.sorted().map {
                (name: $0, givenName: $0)
            }
    }

    /// Whether the column is the row ID of the table, by one of its names or as an `INTEGER PRIMARY KEY`.
    func isRowID(_ column: String, of table: String) throws -> Bool {
        let column = CaseInsensitiveName(column)
        let primaryKey = try primaryKey(table)
        if let alias = primaryKey.rowIDColumn, CaseInsensitiveName(alias) == column { return true }
        guard primaryKey.tableHasRowID, rowIDNames.contains(where: { CaseInsensitiveName($0) == column })
        else { return false }
        return try !columns(in: table).contains { CaseInsensitiveName($0.name) == column }
    }

    /// The columns that distinguish a row from all others: one for the row ID if there is one, or else the
    /// primary key. A view has the primary key that the ``schemaSource`` knows.
    func columnsOfRowKey(of table: String) throws -> [String] {
        if try tableExists(table), let rowID = try rowIDName(of: table, in: nil) { return [rowID] }
        return try primaryKey(table).columns
    }

    /// Columns that are not all NULL in a row that exists.
    func columnsOfExistingRow(of table: String) throws -> [String] {
        // Of views, only a schema source knows the primary key.
        guard try tableExists(table) else {
            return try (try? primaryKey(table).columns) ?? columns(in: table).map(\.name)
        }
        if let rowID = try rowIDName(of: table, in: nil) { return [rowID] }
        let primaryKey = try primaryKey(table)
        // The primary key of a table without row IDs is never NULL. In a table with row IDs whose names are
        // all taken, it may be.
        return try primaryKey.tableHasRowID ? columns(in: table).map(\.name) : primaryKey.columns
    }
}
