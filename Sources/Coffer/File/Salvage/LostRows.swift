internal import SQLCipherBridge

/// The tables of a salvaged database for rows that could not be put into their own table.
final class LostRows {
    private(set) var count = 0
    /// The number of these rows that come from free pages.
    private(set) var freeRowCount = 0
    private let connection: ConnectionHandle
    private let encoding: TextEncoding
    private let taken: Set<CaseInsensitiveName>
    /// The tables, by the number of values in their rows.
    private var tables: [Int: Table] = [:]
    private var preparedCount = 0

    private final class Table {
        let name: String
        /// The statement that inserts a row.
        let sql: String
        var insertion: Insertion?
        var rowCount = 0

        init(_ name: String, sql: String) { (self.name, self.sql) = (name, sql) }
    }

    private final class Insertion {
        let statement: EngineStatement

        init(_ statement: consuming EngineStatement) { self.statement = statement }
    }

    /// The maximum number of prepared statements: a forged file may have rows with every possible number of
    /// values.
    private static let mostPrepared = 8

    /// The number of rows in each of the tables.
    var rowCounts: [ExactText: Int] {
        Dictionary(uniqueKeysWithValues: tables.values.map { (ExactText($0.name), $0.rowCount) })
    }

    /// The column with the row IDs, in a copy of a table, as SQL.
    static let rowID = "\"coffer row id\""

    /// The column with the reason why a row is lost, in such a copy, as SQL.
    static let reason = "\"coffer reason\""

    /// The reason given for rows from the unreadable part of a damaged log.
    static let behindDamage = "it was committed after a damaged frame of the log"

    /// The reason given for rows of free pages.
    static let free = "the page is free: its rows were deleted, or moved"

    /// The maximum number of value columns in a table, in addition to the columns that describe the origin of
    /// a row.
    private static let mostValues = 1990

    init(_ connection: ConnectionHandle, encoding: TextEncoding, taken: [String]) {
        self.connection = connection
        self.encoding = encoding
        self.taken = Set(taken.map(CaseInsensitiveName.init))
    }

    /// - Parameter table: the table that the row belongs to; nil if it is not known.
    func add(_ row: TreeReader.Row, table: String?, reason: String) throws {
        let values = row.record.values.prefix(LostRows.mostValues)
        let lostTable = try self.table(values.count)
        let statement = try insertion(into: lostTable)
        try connection.check(
            table.map { statement.bind($0.readableIdentifier, at: 1) } ?? statement.bindNull(at: 1))
        try connection.check(statement.bind(Int64(row.page), at: 2))
        try connection.check(statement.bind(row.record.isCut ? "its end is lost" : reason, at: 3))
        try connection.check(statement.bind(row.rowID, at: 4))
        for (index, value) in values.enumerated() {
            try connection.check(statement.bind(copyOf: value, encoding, at: CInt(index + 5)))
        }
        try connection.run(statement)
        count += 1
        lostTable.rowCount += 1
        if reason == LostRows.free { freeRowCount += 1 }
    }

    /// Adds rows of a temporary copy of a table, which has a column ``rowID``.
    ///
    /// - Parameters:
    ///   - source: the `FROM` clause with the rows to add, as SQL. The column names in `values` are SQL, too.
    ///   - reason: nil if each row has its own reason, in the column ``reason``.
    /// - Returns: the number of added rows.
    func add(from source: String, values: [String], table: String, reason: String?) throws -> Int {
        let lostTable = try self.table(values.count)
        var added = 0
        try connection.forEachRow(trusted: "SELECT count(*) FROM \(source)") { added = Int($0.int64(at: 0)) }
        let selected = (["?1", reason == nil ? LostRows.reason : "?2", LostRows.rowID] + values)
            .joined(separator: ", ")
        let columns = (["table_name", "reason", "row_id"] + values.indices.map { "c\($0)" }).joined(
            separator: ", ")
        let sql = "INSERT INTO main.\(lostTable.name) (\(columns)) SELECT \(selected) FROM \(source)"
        guard let statement = try connection.prepare(trusted: sql) else { return 0 }
        try connection.check(statement.handle.bind(table.readableIdentifier, at: 1))
        if let reason { try connection.check(statement.handle.bind(reason, at: 2)) }
        try connection.run(statement.handle)
        lostTable.rowCount += added
        count += added
        return added
    }

    /// Creates the table for rows with `count` values ahead of time. Otherwise it is created with the first
    /// such row, which must not happen in a savepoint that may be rolled back.
    func makeTable(forValues count: Int) throws { _ = try table(count) }

    private func table(_ valueCount: Int) throws -> Table {
        if let table = tables[valueCount] { return table }
        let name = "lost_and_found_\(valueCount)".unique(among: taken)
        let columns = (0..<valueCount).map { "c\($0)" }
        let list = (["table_name", "page", "reason", "row_id"] + columns).joined(separator: ", ")
        try connection.execute(trusted: "CREATE TABLE \(name) (\(list))")
        let sql =
            "INSERT INTO main.\(name) (\(list)) VALUES (\(databaseQuestionMarks(count: valueCount + 4)))"
        let table = Table(name, sql: sql)
        tables[valueCount] = table
        return table
    }

    private func insertion(into table: Table) throws -> StatementHandle {
        if let insertion = table.insertion { return insertion.statement.handle }
        if preparedCount == LostRows.mostPrepared {
            for other in tables.values { other.insertion = nil }
            preparedCount = 0
        }
        guard let statement = try connection.prepare(trusted: table.sql) else {
            throw EngineError(code: EngineCode.error, message: "The statement is empty")
        }
        let insertion = Insertion(statement)
        table.insertion = insertion
        preparedCount += 1
        return insertion.statement.handle
    }
}
