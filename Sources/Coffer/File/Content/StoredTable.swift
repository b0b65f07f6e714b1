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

    /// The order of the b-tree, as SQL.
    private let order: String

    /// - Throws: the error of a connection that does not know what the table needs, such as a collation.
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

        if let primaryKeyIndex,
            let order = try StoredTable.clusteredOrder(index: primaryKeyIndex, in: connection)
        {
            // WITHOUT ROWID: the index of the primary key is the table.
            hasIndexes = indexCount > 1
            self.fields = stored
            self.order = "ORDER BY \(order)"
            names = storedNames
            identity = .primaryKey(try StoredTable.keyColumns(index: primaryKeyIndex, in: connection))
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
            } else {
                // Columns have taken all names of the row ID: no statement can see it.
                self.fields = stored
                self.order = "NOT INDEXED"
                self.names = storedNames
                identity = .none
            }
        }
    }

    /// The columns of the key of a table that has no row ID, quoted.
    private static func keyColumns(index: String, in connection: ConnectionHandle) throws -> [String] {
        var columns: [String] = []
        try connection.forEachRow(trusted: "PRAGMA main.index_xinfo(\(index.quotedDatabaseIdentifier))") {
            row in
            if row.int64(at: 5) == 1 { columns.append(row.string(at: 2).quotedDatabaseIdentifier) }
        }
        return columns
    }

    /// The order of a table that has no row ID, or nil for an index beside a table: that one ends with the
    /// row ID.
    private static func clusteredOrder(index: String, in connection: ConnectionHandle) throws -> String? {
        var terms: [String] = []
        var endsWithRowID = false
        try connection.forEachRow(trusted: "PRAGMA main.index_xinfo(\(index.quotedDatabaseIdentifier))") {
            row in
            if row.int64(at: 1) < 0 { endsWithRowID = true }
            guard row.int64(at: 5) == 1 else { return }
            let column = row.string(at: 2).quotedDatabaseIdentifier
            let collation = row.string(at: 4).quotedDatabaseIdentifier
            terms.append("\(column) COLLATE \(collation)\(row.int64(at: 3) == 1 ? " DESC" : "")")
        }
        return endsWithRowID ? nil : terms.joined(separator: ", ")
    }

    /// A query for all fields of all rows, in the order in which the b-tree has them.
    var selection: String {
        "SELECT \(fields.joined(separator: ", ")) FROM main.\(name.quotedDatabaseIdentifier) \(order)"
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
