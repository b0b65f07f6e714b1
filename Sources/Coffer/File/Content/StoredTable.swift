internal import SQLCipherBridge

/// A table as its b-tree stores it: the columns that are stored, and the key that orders and identifies its
/// rows.
///
/// Generated columns are left out, because they are computed. Virtual tables are left out, because their rows
/// are in their shadow tables.
struct StoredTable {
    let name: String

    /// All fields of a row, as SQL: the row ID if no column contains it, then the columns.
    let fields: [String]

    /// The names of the fields, in the spelling of the schema.
    let names: [String]

    /// The key that distinguishes one row from the others.
    let identity: Identity

    /// True if the table has indexes, not counting its own b-tree.
    let hasIndexes: Bool

    /// True if records contain values of generated columns.
    let storesGeneratedColumns: Bool

    enum Identity: Equatable {
        /// The row ID, at this index of the fields.
        case rowID(Int)
        /// The columns of the primary key, in a table without row IDs.
        case primaryKey([ExactText])
        /// The row ID, which no statement can read.
        case none
    }

    /// The collations that order the rows of a table without row IDs.
    let keyCollations: [String]

    /// True if the row ID is a field in addition to as many columns as a result can have. Two statements then
    /// read the rows.
    let readsRowIDApart: Bool

    /// The clauses that make a statement read the b-tree from start to end, as SQL.
    private let order: String

    init(name: String, in connection: ConnectionHandle) throws {
        self.name = name
        let table = name.quotedDatabaseIdentifier
        var columns: [(name: String, isPrimaryKey: Bool, isStored: Bool)] = []
        var storesGeneratedColumns = false
        try connection.forEachRow(trusted: "PRAGMA main.table_xinfo(\(table))") { row in
            columns.append((row.identifier(at: 1), row.int64(at: 5) > 0, row.int64(at: 6) < 2))
            if row.int64(at: 6) == 3 { storesGeneratedColumns = true }
        }
        self.storesGeneratedColumns = storesGeneratedColumns
        var primaryKeyIndex: String?
        var indexCount = 0
        try connection.forEachRow(trusted: "PRAGMA main.index_list(\(table))") { row in
            indexCount += 1
            if row.string(at: 3) == "pk" { primaryKeyIndex = row.identifier(at: 1) }
        }
        let storedNames = columns.filter(\.isStored).map(\.name)
        let stored = storedNames.map(\.quotedDatabaseIdentifier)

        var (keyCollations, readsRowIDApart) = ([] as [String], false)
        if let primaryKeyIndex,
            let key = try StoredTable.clusteredKey(index: primaryKeyIndex, in: connection)
        {
            // WITHOUT ROWID: the index of the primary key is the table. Reading it in b-tree order needs no
            // comparison of keys.
            hasIndexes = indexCount > 1
            self.fields = stored
            self.order = "INDEXED BY \(primaryKeyIndex.quotedDatabaseIdentifier)"
            names = storedNames
            identity = .primaryKey(key.columns.map(ExactText.init))
            keyCollations = key.collations
        } else if primaryKeyIndex == nil, let rowID = columns.first(where: \.isPrimaryKey) {
            // A primary key without an index of its own is the row ID.
            hasIndexes = indexCount > 0
            self.fields = stored
            self.order = "NOT INDEXED ORDER BY \(rowID.name.quotedDatabaseIdentifier)"
            names = storedNames
            identity = storedNames.firstIndex { $0.hasSameBytes(as: rowID.name) }.map { .rowID($0) } ?? .none
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
                // Columns have taken all names of the row ID, so no statement can read it.
                self.fields = stored
                self.order = "NOT INDEXED"
                self.names = storedNames
                identity = .none
            }
        }
        (self.keyCollations, self.readsRowIDApart) = (keyCollations, readsRowIDApart)
    }

    /// Returns the key of a table without row IDs: its columns, quoted, and their collations. Nil for a
    /// separate index of a table, which ends with the row ID.
    private static func clusteredKey(
        index: String, in connection: ConnectionHandle
    ) throws -> (columns: [String], collations: [String])? {
        var (columns, collations, endsWithRowID) = ([] as [String], [] as [String], false)
        try connection.forEachRow(trusted: "PRAGMA main.index_xinfo(\(index.quotedDatabaseIdentifier))") {
            row in
            if row.int64(at: 1) < 0 { endsWithRowID = true }
            guard row.int64(at: 5) == 1 else { return }
            columns.append(row.identifier(at: 2).quotedDatabaseIdentifier)
            collations.append(row.string(at: 4))
        }
        return endsWithRowID ? nil : (columns, collations)
    }

    /// Returns the queries for the fields of all rows, in b-tree order: one, or, if ``readsRowIDApart``, one
    /// for the columns and one for the row IDs.
    ///
    /// - Parameter condition: an SQL expression that selects some rows, which are then in no particular
    ///   order.
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

    /// Returns a statement that copies all rows of the table with the same name in another schema.
    func copy(from schema: String) -> String {
        let (table, fields) = (name.quotedDatabaseIdentifier, fields.joined(separator: ", "))
        return "INSERT INTO main.\(table) (\(fields)) SELECT \(fields) FROM \(schema).\(table) \(order)"
    }

    /// Returns a statement that copies these rows as records, if the engine can.
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
