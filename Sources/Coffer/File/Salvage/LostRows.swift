internal import SQLCipherBridge

/// The tables of a salvaged database for rows that have no place in another one.
final class LostRows {
    private(set) var count = 0
    /// How many of them are from free pages.
    private(set) var freeRowCount = 0
    private let connection: ConnectionHandle
    private let encoding: TextEncoding
    private let taken: Set<CaseInsensitiveName>
    /// By the number of values.
    private var tables: [Int: Table] = [:]
    private var preparedCount = 0

    private final class Table {
        let name: String
        /// Inserts a row.
        let sql: String
        var insertion: Insertion?
        var rowCount = 0

        init(_ name: String, sql: String) { (self.name, self.sql) = (name, sql) }
    }

    private final class Insertion {
        let statement: EngineStatement

        init(_ statement: consuming EngineStatement) { self.statement = statement }
    }

    /// How many statements are kept: a forged file may have rows of every number of values.
    private static let mostPrepared = 8

    /// How many rows each of the tables has.
    var rowCounts: [String: Int] {
        Dictionary(uniqueKeysWithValues: tables.values.map { ($0.name, $0.rowCount) })
    }

    /// The column of a copy of a table that has its row IDs, as SQL.
    static let rowID = "\"coffer row id\""

    /// The column of such a table that says why a row is lost, as SQL.
    static let reason = "\"coffer reason\""

    /// Why rows of a log that no reader finds are here.
    static let behindDamage = "it was committed behind a damaged frame of the log"

    /// Why rows of free pages are here.
    static let free = "the page is free: its rows were deleted, or moved"

    /// The most values that a table has columns for, beside those that say where a row is from.
    private static let mostValues = 1990

    init(_ connection: ConnectionHandle, encoding: TextEncoding, taken: [String]) {
        self.connection = connection
        self.encoding = encoding
        self.taken = Set(taken.map(CaseInsensitiveName.init))
    }

    /// - Parameter table: the one that the row belongs to, if that is known.
    func add(_ row: TreeReader.Row, table: String?, reason: String) throws {
        let values = row.record.values.prefix(LostRows.mostValues)
        let lostTable = try self.table(values.count)
        let statement = try insertion(into: lostTable)
        try connection.check(table.map { statement.bind($0, at: 1) } ?? statement.bindNull(at: 1))
        try connection.check(statement.bind(Int64(row.page), at: 2))
        try connection.check(statement.bind(row.record.isCut ? "its end is lost" : reason, at: 3))
        try connection.check(statement.bind(row.rowID, at: 4))
        for (index, value) in values.enumerated() {
            try connection.check(statement.bind(copyOf: value, encoding, at: CInt(index + 5)))
        }
        let code = statement.step()
        guard code == EngineCode.done else {
            throw EngineError(code: code, message: connection.lastErrorMessage)
        }
        statement.reset()
        count += 1
        lostTable.rowCount += 1
        if reason == LostRows.free { freeRowCount += 1 }
    }

    /// Adds rows of a table that was made for this, and has a column ``rowID``.
    ///
    /// - Parameters:
    ///   - source: the table, and which rows of it are meant, as SQL, as are `values`, its columns.
    ///   - reason: nil where each row has its own, in the column ``reason``.
    /// - Returns: how many there are.
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
        try connection.check(statement.handle.bind(table, at: 1))
        if let reason { try connection.check(statement.handle.bind(reason, at: 2)) }
        let code = statement.handle.step()
        guard code == EngineCode.done else {
            throw EngineError(code: code, message: connection.lastErrorMessage)
        }
        lostTable.rowCount += added
        count += added
        return added
    }

    /// Makes the table for rows of some number of values, which is otherwise made with the first of them: for
    /// those that are added in a savepoint.
    func makeTable(forValues count: Int) throws { _ = try table(count) }

    private func table(_ valueCount: Int) throws -> Table {
        if let table = tables[valueCount] { return table }
        var name = "lost_and_found_\(valueCount)"
        while taken.contains(CaseInsensitiveName(name)) { name += "_" }
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
