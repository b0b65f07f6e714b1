extension Database {
    /// Returns the columns of a key in the order of the table's key, each with the table's spelling and the
    /// given one.
    ///
    /// - Throws: a ``DatabaseError`` of code `SQLITE_MISUSE` if the columns contain neither the primary key
    ///   nor all columns of a unique index.
    func uniqueKeyColumns(_ names: [String], of table: String) throws -> [(name: String, givenName: String)] {
        guard try self.table(table, hasUniqueKey: names) else {
            throw DatabaseError.misuse(
                "The table \(table.quotedDatabaseIdentifier) has no unique key on the columns: "
                    + names.sorted().joined(separator: ", "))
        }
        let givenNames = Dictionary(
            names.map { (CaseInsensitiveName($0), $0) }, uniquingKeysWith: { first, _ in first })
        // `columns(in:)` does not return a hidden row ID.
        let knownNames = try primaryKey(table).columns + columns(in: table).map(\.name) + rowIDNames
        var seen: Set<CaseInsensitiveName> = []
        let known = knownNames.compactMap { name -> (name: String, givenName: String)? in
            guard let givenName = givenNames[CaseInsensitiveName(name)],
                seen.insert(CaseInsensitiveName(name)).inserted
            else { return nil }
            return (name, givenName)
        }
        // Unknown columns become conditions too, so that SQLite reports that there is no such column.
        return known
            + names.filter { !seen.contains(CaseInsensitiveName($0)) }.sorted().map {
                (name: $0, givenName: $0)
            }
    }

    /// Returns true if the column is the table's row ID, by one of its names or as an `INTEGER PRIMARY KEY`.
    func isRowID(_ column: String, of table: String) throws -> Bool {
        let column = CaseInsensitiveName(column)
        let primaryKey = try primaryKey(table)
        if let alias = primaryKey.rowIDColumn, CaseInsensitiveName(alias) == column { return true }
        guard primaryKey.tableHasRowID, rowIDNames.contains(where: { CaseInsensitiveName($0) == column })
        else { return false }
        return try !columns(in: table).contains { CaseInsensitiveName($0.name) == column }
    }

    /// Returns the columns that identify a row: the row ID if the table has one, otherwise the primary key.
    /// Views have the primary key that ``schemaSource`` provides.
    ///
    /// - Throws: a ``DatabaseError`` if there are none: the table has no primary key, and its columns have
    ///   all names of the row ID.
    func columnsOfRowKey(of table: String) throws -> [String] {
        guard try tableExists(table) else { return try primaryKey(table).columns }
        if let rowID = try rowIDName(of: table, in: nil) { return [rowID] }
        let primaryKey = try primaryKey(table)
        guard !primaryKey.isRowID else {
            throw DatabaseError(
                message:
                    "No statement can identify a row of \(table.quotedDatabaseIdentifier): the table has "
                    + "no primary key, and its columns hide the row ID.")
        }
        return primaryKey.columns
    }

    /// Returns columns of which at least one is not NULL in every existing row.
    func columnsOfExistingRow(of table: String) throws -> [String] {
        // The primary key of a view is known only from a schema source.
        guard try tableExists(table) else {
            return try (try? primaryKey(table).columns) ?? columns(in: table).map(\.name)
        }
        if let rowID = try rowIDName(of: table, in: nil) { return [rowID] }
        let primaryKey = try primaryKey(table)
        // The primary key of a `WITHOUT ROWID` table is never NULL. It may be NULL in a table with row IDs
        // whose columns hide all names of the row ID.
        return try primaryKey.tableHasRowID ? columns(in: table).map(\.name) : primaryKey.columns
    }
}
