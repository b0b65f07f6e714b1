extension Database {
    /// Notifies transaction observers of a change in a region that SQLite does not report.
    ///
    /// Use it for changes that are not observed: changes by other connections, changes made with the raw C
    /// functions, changes of tables `WITHOUT ROWID`, and schema changes (for which the region is the table
    /// `sqlite_master`). Observers of such changes in the region are called with
    /// ``TransactionObserver/databaseDidChange()``. Outside a transaction, the change counts as a
    /// transaction.
    ///
    /// No observer is called during a read-only access, or about tables that do not exist. The full database
    /// includes all tables except `sqlite_master`.
    ///
    ///     try queue.write { db in try db.notifyChanges(in: Item.all()) }
    ///
    /// - Throws: the error of an observer that refuses the commit, outside a transaction; errors of reading
    ///   the schema.
    public func notifyChanges(in region: some DatabaseRegionConvertible) throws {
        checkIsUsedInItsAccess()
        guard !isReadingOnly else { return }
        let kinds = try eventKinds(impacting: region.databaseRegion(self))
        guard !kinds.isEmpty else { return }
        try observerNotifier.notifyChanges(ofKinds: kinds, in: self)
    }

    /// Returns the kinds of all changes that could modify a region.
    private func eventKinds(impacting region: DatabaseRegion) throws -> [DatabaseEventKind] {
        guard !region.isEmpty else { return [] }
        let schemas = try String.fetchAll(self, sql: "SELECT name FROM pragma_database_list")
        let known = try namesOfAllTables(schemas)
        let masters = schemas.contains("temp") ? ["sqlite_master", "sqlite_temp_master"] : ["sqlite_master"]
        let spellings = Dictionary(
            (known + masters).map { (CaseInsensitiveName($0), $0) }, uniquingKeysWith: { first, _ in first })
        let tables = region.tableNames.map { $0.compactMap { spellings[CaseInsensitiveName($0)] } } ?? known
        return try tables.sorted().flatMap { table -> [DatabaseEventKind] in
            let columns = try region.columnNames(ofTable: table) ?? namesOfAllColumns(in: table)
            return [
                .delete(tableName: table), .insert(tableName: table),
                .update(tableName: table, columnNames: columns),
            ]
        }
    }

    private func namesOfAllTables(_ schemas: [String]) throws -> [String] {
        let tables = try schemas.flatMap { schema in
            try String.fetchAll(
                self,
                sql: "SELECT name FROM \(schema.quotedDatabaseIdentifier).sqlite_master WHERE type = 'table'")
        }
        return Array(Set(tables))
    }

    private func namesOfAllColumns(in table: String) throws -> Set<String> {
        try String.fetchSet(self, sql: "SELECT name FROM pragma_table_xinfo(?)", arguments: [table])
    }
}
