internal import SQLCipherBridge

extension Database {
    /// Executes a statement, and writes its rows with a copy of the format.
    func writeRows(of statement: Statement, _ format: some DumpFormat, to stream: inout DumpStream) throws {
        var format = format
        let rows = try Row.fetchCursor(statement)
        while try rows.next() != nil {
            try format.writeRow(self, statement: statement, to: &stream)
        }
        format.finalize(self, statement: statement, to: &stream)
    }

    /// Executes a request, and writes its rows, followed by the rows of its prefetched associations.
    func writeRows(of request: PreparedRequest, _ format: some DumpFormat, to stream: inout DumpStream) throws
    {
        try writeRows(of: request.statement, format, to: &stream)
        guard let supplement = request.supplement else { return }
        let rows = try Row.fetchAll(request.statement, adapter: request.adapter)
        guard !rows.isEmpty else { return }
        for (names, requests) in try supplement.requests(self, rows) {
            stream.margin()
            stream.write(names.joined(separator: ".") + "\n")
            for request in requests { try writeRows(of: request, format, to: &stream) }
        }
    }

    /// Writes the rows of tables and views.
    func writeTables(
        _ names: [String], _ format: some DumpFormat, hasHeaders: Bool, stableOrder: Bool,
        to stream: inout DumpStream
    ) throws {
        for (index, name) in names.enumerated() {
            if index > 0 { stream.margin() }
            if hasHeaders { stream.write("\(name)\n") }
            let rows = try dumpedRows(of: name, stableOrder: stableOrder)
            try writeRows(
                of: rows.makePreparedRequest(self, forSingleResult: false).statement, format, to: &stream)
        }
    }

    private func dumpedRows(of name: String, stableOrder: Bool) throws -> QueryInterfaceRequest<Row> {
        let rows = Table(name).all()
        if try tableExists(name) { return rows.orderByPrimaryKey() }
        guard stableOrder, try viewExists(name) else { return rows }
        // A view has a primary key only if the schema source provides one.
        let key = (try? primaryKey(name).columns) ?? []
        return key.isEmpty ? rows.withStableOrder() : rows.order(key.map { Column($0) })
    }
}

// MARK: - The schema

/// A schema object that a dump shows.
struct DumpedObject {
    let type: String
    let name: String
    let sql: String
}

extension Database {
    /// Returns the objects that applications have created, in the order of a dump.
    func dumpedObjects() throws -> [DumpedObject] {
        checkIsUsedInItsAccess()
        var shadowTables: Set<CaseInsensitiveName> = []
        try forEachSchemaRow("PRAGMA main.table_list") { row in
            if row.string(at: 0) == "main", row.string(at: 2) == "shadow" {
                shadowTables.insert(CaseInsensitiveName(row.string(at: 1)))
            }
        }
        var objects: [DumpedObject] = []
        try forEachSchemaRow(
            """
            SELECT type, name, tbl_name, sql FROM main.sqlite_master WHERE sql IS NOT NULL
            ORDER BY tbl_name COLLATE NOCASE, CASE type WHEN 'table' THEN 0 WHEN 'index' THEN 1 ELSE 2 END, \
            type,
                name COLLATE NOCASE, sql
            """
        ) { row in
            let (name, tableName) = (row.string(at: 1), row.string(at: 2))
            guard
                ![name, tableName].contains(where: {
                    $0.isReservedTableName || shadowTables.contains(CaseInsensitiveName($0))
                })
            else { return }
            objects.append(DumpedObject(type: row.string(at: 0), name: name, sql: row.string(at: 3)))
        }
        return objects
    }

    func writeSchema(_ objects: [DumpedObject], to stream: inout DumpStream) {
        stream.write("sqlite_master\n")
        for object in objects { stream.write("\(object.sql);\n") }
    }
}

extension String {
    fileprivate var isReservedTableName: Bool {
        isSQLiteInternalTableName || CaseInsensitiveName(String(prefix(7))) == CaseInsensitiveName("pragma_")
            || Database.isGRDBInternalTable(self)
    }
}
