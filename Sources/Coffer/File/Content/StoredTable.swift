internal import SQLCipherBridge

/// A table as its b-tree stores it: which columns have values of their own, and what orders and identifies
/// its rows.
///
/// Generated columns are left out: they are computed. Virtual tables have no rows of their own, their shadow
/// tables have.
struct StoredTable {
    let name: String

    /// Everything that a row consists of, as SQL: the row ID where no column has it, then the columns.
    let fields: [String]

    /// The names of what the fields are, as the schema has them.
    let names: [String]

    /// What distinguishes one row from the others.
    let identity: Identity

    /// Whether it has indexes, its own b-tree not counted.
    let hasIndexes: Bool

    /// Whether records have values of generated columns.
    let storesGeneratedColumns: Bool

    enum Identity: Equatable {
        /// The row ID, which is the field of this index.
        case rowID(Int)
        /// In tables without row IDs: these fields.
        case primaryKey([String])
        /// No statement can see it.
        case none
    }

    /// The collations that order the rows of a table without row IDs.
    let keyCollations: [String]

    /// True if the row ID is a field in addition to as many columns as a result can have. Two statements then
    /// read the rows.
    let readsRowIDApart: Bool

    /// The clauses that have a statement read the b-tree from its start to its end, as SQL.
    private let order: String

    init(name: String, in connection: ConnectionHandle) throws {
        self.name = name
        let table = name.quotedDatabaseIdentifier
        var columns: [(name: String, isPrimaryKey: Bool, isStored: Bool)] = []
        var storesGeneratedColumns = false
        try connection.forEachRow(trusted: "PRAGMA main.table_xinfo(\(table))") { row in
            columns.append((row.string(at: 1), row.int64(at: 5) > 0, row.int64(at: 6) < 2))
            if row.int64(at: 6) == 3 { storesGeneratedColumns = true }
        }
        self.storesGeneratedColumns = storesGeneratedColumns
        var primaryKeyIndex: String?
        var indexCount = 0
        try connection.forEachRow(trusted: "PRAGMA main.index_list(\(table))") { row in
            indexCount += 1
            if row.string(at: 3) == "pk" { primaryKeyIndex = row.string(at: 1) }
        }
        let storedNames = columns.filter(\.isStored).map(\.name)
        let stored = storedNames.map(\.quotedDatabaseIdentifier)

        var (keyCollations, readsRowIDApart) = ([] as [String], false)
        if let primaryKeyIndex,
            let key = try StoredTable.clusteredKey(index: primaryKeyIndex, in: connection)
        {
            // WITHOUT ROWID: the index of the primary key is the table. Its order is that of the tree, which
            // needs no comparison of keys.
            hasIndexes = indexCount > 1
            self.fields = stored
            self.order = "INDEXED BY \(primaryKeyIndex.quotedDatabaseIdentifier)"
            names = storedNames
            identity = .primaryKey(key.columns)
            keyCollations = key.collations
        } else if primaryKeyIndex == nil, let rowID = columns.first(where: \.isPrimaryKey) {
            // A primary key without an index of its own is the row ID.
            hasIndexes = indexCount > 0
            self.fields = stored
            self.order = "NOT INDEXED ORDER BY \(rowID.name.quotedDatabaseIdentifier)"
            names = storedNames
            identity = storedNames.firstIndex(of: rowID.name).map { .rowID($0) } ?? .none
        } else {
            hasIndexes = indexCount > 0
            let names = Set(columns.map { CaseInsensitiveName($0.name) })
            if let alias = ["rowid", "_rowid_", "oid"].first(where: {
                !names.contains(CaseInsensitiveName($0))
            }) {
                self.fields = [alias] + stored
                self.order = "NOT INDEXED ORDER BY \(alias)"
                self.names = [alias] + storedNames
                identity = .rowID(0)
                readsRowIDApart = fields.count > connection.limit(.columns)
            } else {
                // Columns have taken all names of the row ID: no statement can see it.
                self.fields = stored
                self.order = "NOT INDEXED"
                self.names = storedNames
                identity = .none
            }
        }
        (self.keyCollations, self.readsRowIDApart) = (keyCollations, readsRowIDApart)
    }

    /// The key of a table that has no row ID: its columns, quoted, and their collations. Nil for an index
    /// in addition to a table: that one ends with the row ID.
    private static func clusteredKey(
        index: String, in connection: ConnectionHandle
    ) throws -> (columns: [String], collations: [String])? {
        var (columns, collations, endsWithRowID) = ([] as [String], [] as [String], false)
        try connection.forEachRow(trusted: "PRAGMA main.index_xinfo(\(index.quotedDatabaseIdentifier))") {
            row in
            if row.int64(at: 1) < 0 { endsWithRowID = true }
            guard row.int64(at: 5) == 1 else { return }
            columns.append(row.string(at: 2).quotedDatabaseIdentifier)
            collations.append(row.string(at: 4))
        }
        return endsWithRowID ? nil : (columns, collations)
    }

    /// The queries for the fields of all rows, in the order in which the b-tree has them: one, or, if
    /// ``readsRowIDApart``, one for the columns and one for the row IDs.
    ///
    /// - Parameter condition: an SQL expression, for some rows in any order.
    func selections(
        from schema: String, where condition: String? = nil
    ) -> (fields: String, rowIDs: String?) {
        let source = "FROM \(schema).\(name.quotedDatabaseIdentifier)"
        let rest = condition.map { "\(source) WHERE \($0)" } ?? "\(source) \(order)"
        let columns = readsRowIDApart ? fields.dropFirst() : fields[...]
        return (
            "SELECT \(columns.joined(separator: ", ")) \(rest)",
            readsRowIDApart ? fields.first.map { "SELECT \($0) \(rest)" } : nil
        )
    }

    /// A statement that copies all rows of the table of the same name in another schema.
    func copy(from schema: String) -> String {
        let (table, fields) = (name.quotedDatabaseIdentifier, fields.joined(separator: ", "))
        return "INSERT INTO main.\(table) (\(fields)) SELECT \(fields) FROM \(schema).\(table) \(order)"
    }

    /// A statement that copies them as records, where the engine can.
    func copyOfRecords(from schema: String) -> String {
        let table = name.quotedDatabaseIdentifier
        return "INSERT INTO main.\(table) SELECT * FROM \(schema).\(table)"
    }

    /// A statement that inserts one row, with a parameter for each field.
    var insertion: String {
        let table = name.quotedDatabaseIdentifier
        return
            "INSERT INTO main.\(table) (\(fields.joined(separator: ", "))) VALUES "
            + "(\(databaseQuestionMarks(count: fields.count)))"
    }
}
