internal import SQLCipherBridge

/// An R-Tree that is rebuilt from the remains of its shadow tables: the nodes of the tree, with the
/// coordinates; the parent of each node; and for each row its node and the values of its auxiliary columns:
/// <https://www.sqlite.org/rtree.html>.
///
/// A node does not state if its cells are rows or lead to other nodes. Its level, the distance from the rows,
/// is derived from the root, which knows its own depth, from the rows, which name their node, and from the
/// parents. Cells are treated as rows only if one of these sources supports it. Only one node at a time is in
/// memory.
struct SalvagedRTree {
    /// The result of a rebuild.
    struct Result {
        let rowCount: Int
        /// The table with the rows that could not be inserted, which the caller has to drop, and its columns,
        /// as SQL.
        let lost: String
        let values: [String]
        /// The number of cells that are cut off.
        let unreadableCount: Int
    }

    private let name: String
    private let sql: String
    /// True if coordinates are 32-bit integers, false if they are floating-point numbers.
    private let hasIntegers: Bool
    private let connection: ConnectionHandle
    private let encoding: TextEncoding
    /// Tables for copies of the shadow tables, for the levels of nodes, and for lost rows, as SQL.
    private let nodes, parents, rows, levels, lost: String
    /// The indexes of these tables.
    private let levelsIndex, lostIndex: String

    /// The maximum depth of a tree that the engine's module accepts.
    private static let greatestDepth = 40
    private static let mostCoordinates = 10

    /// - Parameter freeName: returns an unused name that starts with the given one.
    init(
        _ entry: SalvagedSchema.Entry, sql: String, in connection: ConnectionHandle, encoding: TextEncoding,
        freeName: (String) -> String
    ) {
        name = entry.name
        self.sql = sql
        hasIntegers = entry.isRTreeOfIntegers
        self.connection = connection
        self.encoding = encoding
        nodes = freeName("coffer nodes").quotedDatabaseIdentifier
        parents = freeName("coffer parents").quotedDatabaseIdentifier
        rows = freeName("coffer rows").quotedDatabaseIdentifier
        levels = freeName("coffer levels").quotedDatabaseIdentifier
        lost = freeName("coffer lost rows").quotedDatabaseIdentifier
        levelsIndex = freeName("coffer index of levels").quotedDatabaseIdentifier
        lostIndex = freeName("coffer index of lost rows").quotedDatabaseIdentifier
    }

    /// Replaces the shadow tables with a new virtual table. The caller has to begin a transaction, and to
    /// roll it back after an error.
    ///
    /// - Parameters:
    ///   - parts: the shadow tables that exist. No statement may be using them.
    ///   - count: called for each row.
    /// - Throws: also constraint errors that do not concern a single row.
    func make(of parts: [String], count: () throws -> Void) throws -> Result {
        let auxiliaries = try copy(parts)
        for part in parts {
            try connection.execute(trusted: "DROP TABLE main.\(part.quotedDatabaseIdentifier)")
        }
        try StoredDefinition(kind: .virtualTable, name: name, sql: sql).execute(on: connection)
        var columns: [String] = []
        try connection.forEachRow(trusted: "PRAGMA main.table_xinfo(\(name.quotedDatabaseIdentifier))") {
            columns.append($0.identifier(at: 1).quotedDatabaseIdentifier)
        }
        let auxiliaryCount = try self.auxiliaries(of: part("rowid")).count
        let coordinateCount = columns.count - 1 - auxiliaryCount
        guard auxiliaries.map({ $0.count == auxiliaryCount }) ?? true,
            (2...SalvagedRTree.mostCoordinates).contains(coordinateCount)
        else { throw failure("its tables do not have the columns of its definition") }
        try findLevels(coordinateCount)
        return try insert(
            columns, coordinateCount, auxiliaries: (0..<auxiliaryCount).map { "a\($0)" }, count)
    }

    private func part(_ suffix: String) -> String { "\(name)_\(suffix)" }

    private func failure(_ message: String) -> EngineError {
        EngineError(code: EngineCode.error, message: message)
    }

    /// Returns the auxiliary columns of a table of rows, as SQL.
    private func auxiliaries(of table: String) throws -> [String] {
        let table = try SalvagedTable(
            name: table, in: connection, encoding: encoding, buffer: RecordBuffer(capacity: 0))
        guard let fields = table.fields, !fields.others.isEmpty else {
            throw failure("the table \(table.name) has no columns for nodes")
        }
        return Array(fields.others.dropFirst())
    }

    /// Copies the shadow tables that exist.
    ///
    /// - Returns: the auxiliary columns; nil if the table that has them is missing.
    private func copy(_ parts: [String]) throws -> [String]? {
        let names = Set(parts.map(CaseInsensitiveName.init))
        func has(_ suffix: String) -> Bool { names.contains(CaseInsensitiveName(part(suffix))) }
        func quoted(_ suffix: String) -> String { part(suffix).quotedDatabaseIdentifier }

        try connection.execute(
            trusted: "CREATE TABLE \(nodes) (number INTEGER PRIMARY KEY, data);"
                + "CREATE TABLE \(parents) (number INTEGER PRIMARY KEY, parent);"
                + "CREATE TABLE \(levels) (number INTEGER PRIMARY KEY, level INTEGER);"
                + "CREATE INDEX \(levelsIndex) ON \(levels) (level)")
        if has("node") {
            try connection.execute(
                trusted: "INSERT INTO \(nodes) SELECT nodeno, data FROM main.\(quoted("node")) "
                    + "WHERE typeof(data) = 'blob'")
        }
        if has("parent") {
            try connection.execute(
                trusted: "INSERT INTO \(parents) SELECT nodeno, parentnode FROM main.\(quoted("parent")) "
                    + "WHERE typeof(parentnode) = 'integer'")
        }
        let auxiliaries = has("rowid") ? try auxiliaries(of: part("rowid")) : nil
        let copies = (auxiliaries ?? []).indices.map { "a\($0)" }
        let definition = (["id INTEGER PRIMARY KEY", "node"] + copies).joined(separator: ", ")
        try connection.execute(trusted: "CREATE TABLE \(rows) (\(definition))")
        if let auxiliaries {
            let selected = (["rowid", "nodeno"] + auxiliaries).joined(separator: ", ")
            try connection.execute(
                trusted: "INSERT INTO \(rows) SELECT \(selected) FROM main.\(quoted("rowid"))")
        }
        return auxiliaries
    }

    // MARK: The tree

    /// Determines the level of each node. Nodes with rows have level 0.
    private func findLevels(_ coordinateCount: Int) throws {
        // The root comes first, because its children are certain.
        var depth: Int?
        try connection.forEachRow(trusted: "SELECT data FROM \(nodes) WHERE number = 1") { row in
            let data = row.bytes(at: 0)[...]
            if data.count >= 4 { depth = data.halfWord(at: 0) }
        }
        if let depth, depth <= SalvagedRTree.greatestDepth {
            try connection.execute(trusted: "INSERT INTO \(levels) VALUES (1, \(depth))")
            try descend(coordinateCount)
        }
        try connection.execute(
            trusted: "INSERT OR IGNORE INTO \(levels) SELECT node, 0 FROM \(rows) "
                + "WHERE typeof(node) = 'integer'")
        for _ in 0..<SalvagedRTree.greatestDepth {
            try connection.execute(
                trusted: "INSERT OR IGNORE INTO \(levels) SELECT parent, level + 1 FROM \(parents) "
                    + "JOIN \(levels) USING (number) WHERE level < \(SalvagedRTree.greatestDepth)")
            if connection.changesCount == 0 { break }
        }
        try descend(coordinateCount)
    }

    /// Assigns levels downwards from nodes with a known level: to the nodes in their cells, and to nodes that
    /// name them as parent, which also works if the parent node itself is lost. Each node is read once.
    private func descend(_ coordinateCount: Int) throws {
        let insertion = "INSERT OR IGNORE INTO \(levels) VALUES (?1, ?2)"
        guard let insert = try connection.prepare(trusted: insertion) else { return }
        let deepest = try connection.firstText(trusted: "SELECT max(level) FROM \(levels)").flatMap {
            Int($0)
        }
        for level in stride(from: deepest ?? 0, to: 0, by: -1) {
            let isOfLevel = "IN (SELECT number FROM \(levels) WHERE level = \(level))"
            // The rows that this loop adds have another level, so they do not affect the query.
            try connection.forEachRow(trusted: "SELECT data FROM \(nodes) WHERE number \(isOfLevel)") { row in
                _ = try forEachCell(of: row.bytes(at: 0), coordinateCount) { id, _ in
                    try connection.check(insert.handle.bind(id, at: 1))
                    try connection.check(insert.handle.bind(Int64(level - 1), at: 2))
                    try connection.run(insert.handle)
                }
            }
            try connection.execute(
                trusted: "INSERT OR IGNORE INTO \(levels) SELECT number, \(level - 1) FROM \(parents) "
                    + "WHERE parent \(isOfLevel)")
        }
    }

    /// - Returns: the number of cells that are cut off.
    private func forEachCell(
        of data: [UInt8], _ coordinateCount: Int, _ body: (Int64, ArraySlice<UInt8>) throws -> Void
    ) throws -> Int {
        guard data.count >= 4 else { return 1 }
        let size = 8 + 4 * coordinateCount
        let count = data[...].halfWord(at: 2)
        let whole = min(count, (data.count - 4) / size)
        for index in 0..<whole {
            let cell = data[(4 + index * size)..<(4 + (index + 1) * size)]
            let id = UInt64(cell.word(at: 0)) << 32 | UInt64(cell.word(at: 4))
            try body(Int64(bitPattern: id), cell.dropFirst(8))
        }
        return count - whole
    }

    // MARK: Rows

    private func insert(
        _ columns: [String], _ coordinateCount: Int, auxiliaries: [String], _ count: () throws -> Void
    ) throws -> Result {
        let values = (0..<coordinateCount + auxiliaries.count).map { "c\($0)" }
        let lostColumns = ([LostRows.rowID + " INTEGER", LostRows.reason] + values).joined(separator: ", ")
        try connection.execute(trusted: "CREATE TABLE \(lost) (\(lostColumns))")
        // Without auxiliary columns, the whole row is in its node.
        let parameters = (0..<coordinateCount + 1).map { "?\($0 + 1)" }
        let target = "INSERT OR ABORT INTO main.\(name.quotedDatabaseIdentifier) "
        let insertion =
            target + "(\(columns.joined(separator: ", "))) SELECT "
            + (parameters + auxiliaries).joined(separator: ", ")
            + (auxiliaries.isEmpty ? "" : " FROM \(rows) WHERE id = ?1")
        // For a lost row, the table keeps the known values.
        let losing =
            "INSERT INTO \(lost) SELECT ?1, ?\(coordinateCount + 2), "
            + (parameters.dropFirst() + auxiliaries).joined(separator: ", ")
            + " FROM (SELECT 1) LEFT JOIN \(rows) ON id = ?1"
        guard let insert = try connection.prepare(trusted: insertion),
            let lose = try connection.prepare(trusted: losing)
        else { throw failure("The statement is empty") }

        var (rowCount, unreadableCount) = (0, 0)
        let sql =
            "SELECT data, level FROM \(nodes) LEFT JOIN \(levels) USING (number) "
            + "WHERE coalesce(level, 0) = 0 ORDER BY number"
        try connection.forEachRow(trusted: sql) { row in
            let isKnown = !row.isNull(at: 1)
            unreadableCount += try forEachCell(of: row.bytes(at: 0), coordinateCount) { id, coordinates in
                try count()
                var reason: String? = isKnown ? nil : "it may be a row or a part of the tree"
                if reason == nil, !hasIntegers, hasNaN(coordinates) {
                    reason =
                        "a coordinate is not a number"
                }
                if reason == nil {
                    try bind(id, coordinates, to: insert.handle)
                    reason = try self.reason(insert.handle)
                }
                guard let reason else { return rowCount += 1 }
                try bind(id, coordinates, to: lose.handle)
                try connection.check(lose.handle.bind(reason, at: CInt(coordinateCount + 2)))
                try connection.run(lose.handle)
            }
        }
        // These rows have lost their node. Rows that were found but refused are already in the table.
        let selected = (0..<coordinateCount).map { _ in "NULL" } + auxiliaries
        try connection.execute(
            trusted: "CREATE INDEX \(lostIndex) ON \(lost) (\(LostRows.rowID));"
                + "INSERT INTO \(lost) SELECT id, 'its coordinates are lost', "
                + selected.joined(separator: ", ") + " FROM \(rows) WHERE id NOT IN "
                + "(SELECT rowid FROM main.\(part("rowid").quotedDatabaseIdentifier)) AND NOT EXISTS "
                + "(SELECT 1 FROM \(lost) WHERE \(LostRows.rowID) = id)")
        for table in [nodes, parents, rows, levels] { try connection.execute(trusted: "DROP TABLE \(table)") }
        return Result(rowCount: rowCount, lost: lost, values: values, unreadableCount: unreadableCount)
    }

    private func hasNaN(_ coordinates: ArraySlice<UInt8>) -> Bool {
        stride(from: 0, to: coordinates.count, by: 4).contains {
            Float(bitPattern: UInt32(coordinates.word(at: $0))).isNaN
        }
    }

    private func bind(_ id: Int64, _ coordinates: ArraySlice<UInt8>, to statement: StatementHandle) throws {
        try connection.check(statement.bind(id, at: 1))
        for index in 0..<coordinates.count / 4 {
            let word = UInt32(coordinates.word(at: 4 * index))
            let parameter = CInt(index + 2)
            try connection.check(
                hasIntegers
                    ? statement.bind(Int64(Int32(bitPattern: word)), at: parameter)
                    : statement.bind(Double(Float(bitPattern: word)), at: parameter))
        }
    }

    /// - Returns: the reason why the row was not inserted; nil if it was.
    private func reason(_ statement: StatementHandle) throws -> String? {
        let before = connection.totalChangesCount
        do {
            try connection.run(statement)
        } catch  where error.primaryCode == EngineCode.constraint {
            return error.words
        }
        return connection.totalChangesCount > before ? nil : "the values of its auxiliary columns are lost"
    }
}

extension StatementHandle {
    /// Returns a copy of a blob.
    fileprivate func bytes(at index: CInt) -> [UInt8] {
        unsafe blobNoCopy(at: index).map { unsafe Array($0) } ?? []
    }
}
