internal import SQLCipherBridge

/// The prepared statement of a connection that fetches a record of some type by its primary key.
///
/// It is looked up by the type. If the schema has changed since it was prepared, SQLite reprepares the
/// statement during the fetch. The key may then be a different one, so the fetch starts over.
@usableFromInline
final class KeyFetch {
    let tableName: String
    let keyColumn: String

    /// The selection for which the statement was prepared. If its elements cannot be compared, the generated
    /// query is compared instead.
    private let selection: [any SQLSelectable]
    private let query: SQLWriter

    /// The current row, the same object for each fetch.
    @usableFromInline let row: Row
    private let statement: Statement
    private let isKeyRowID: Bool

    /// True from the start of a fetch to its end, also in the functions that the statement calls.
    private var isRunning = false

    init(
        tableName: String, selection: [any SQLSelectable], query: SQLWriter, keyColumn: String,
        isKeyRowID: Bool,
        statement: Statement
    ) {
        self.tableName = tableName
        self.selection = selection
        self.query = query
        self.keyColumn = keyColumn
        self.isKeyRowID = isKeyRowID
        self.statement = statement
        self.row = Row(liveRowOf: statement)
    }

    fileprivate enum Outcome {
        case row, noRow, changedSchema
    }

    /// Executes the statement up to its row.
    fileprivate func start(_ key: some DatabaseValueConvertible) throws -> Outcome {
        try statement.beginExecution(
            bindingKey: key, after: query.arguments.values, rowIDTable: isKeyRowID ? tableName : nil)
        isRunning = true
        let code = statement.step()
        let hasRow = code == EngineCode.row
        isRunning = hasRow
        if !hasRow {
            if code != EngineCode.done {
                statement.recordArguments(query.arguments.values + [key.databaseValue])
            }
            try statement.endExecution(withResult: code)
        }
        if statement.handle.repreparationCount != 0 {
            isRunning = false
            if hasRow { try statement.endExecution(withResult: EngineCode.done) }
            return .changedSchema
        }
        return hasRow ? .row : .noRow
    }

    /// Ends the fetch.
    @usableFromInline
    func end() {
        isRunning = false
        statement.handle.reset()
    }
}

extension Database {
    /// Starts to fetch a record by its primary key. The returned fetch has its row, and must be ended.
    /// Returns nil if there is no such row.
    @usableFromInline
    func fetch(_ record: any TableRecord.Type, key: some DatabaseValueConvertible) throws -> KeyFetch? {
        // Nil is the key of no row.
        if case .null = key.persistenceValue { return nil }
        let tableName = record.databaseTableName
        let selection = record.databaseSelection
        var known = knownSchema.recordPlans.fetches.find(record)
        if let fetch = known, fetch.isUsable(tableName, selection) {
            switch try fetch.start(record.encodedKey(key, column: fetch.keyColumn)) {
            case .row: return fetch
            case .noRow: return nil
            case .changedSchema:
                known = nil
                knownSchema.doubt()
            }
        }
        let fetch = try readSchema {
            let fetch = try makeKeyFetch(tableName, selection, reusing: known)
            // Inserted while the schema is still being read, and so cannot change.
            knownSchema.recordPlans.fetches.insert(fetch, for: record)
            switch try fetch.start(record.encodedKey(key, column: fetch.keyColumn)) {
            case .row: return KeyFetch?.some(fetch)
            case .noRow: return nil
            case .changedSchema:
                throw DatabaseError(
                    resultCode: .SQLITE_SCHEMA,
                    message:
                        "The schema changed while a record was being fetched.")
            }
        }
        return fetch
    }

    private func makeKeyFetch(
        _ tableName: String, _ selection: [any SQLSelectable], reusing known: KeyFetch?
    ) throws -> KeyFetch {
        let primaryKey = try primaryKey(tableName)
        guard primaryKey.columns.count == 1 else {
            throw DatabaseError.misuse(
                "The primary key of \(tableName.quotedDatabaseIdentifier) has several columns. Give a "
                    + "dictionary of them: "
                    + primaryKey.columns.joined(separator: ", "))
        }
        let keyColumn = primaryKey.columns[0]
        var query = SQLWriter(self)
        try query.inScope({ try $0.enter(SourceTable(tableName: tableName)) }) { query in
            query.append("SELECT ")
            try query.append(selection, separator: ", ") { try $0.sqlSelection.write(to: &$1) }
            query.append(" FROM ")
            query.append(identifier: tableName)
            query.append(" WHERE ")
            query.append(identifier: keyColumn)
            query.append(" = ?")
        }
        if let known, known.isFree(for: query) { return known }
        return KeyFetch(
            tableName: tableName, selection: selection, query: query, keyColumn: keyColumn,
            isKeyRowID: primaryKey.isRowID,
            statement: try makeStatement(sql: query.sql))
    }
}

extension KeyFetch {
    /// Returns true if the statement is the one for a query, and is not in use.
    fileprivate func isFree(for query: SQLWriter) -> Bool {
        !isRunning && self.query.sql == query.sql && self.query.arguments == query.arguments
    }
}

extension KeyFetch {
    /// Returns true if the statement is the one for a table and a selection, and is not in use.
    fileprivate func isUsable(_ tableName: String, _ selection: [any SQLSelectable]) -> Bool {
        !isRunning && self.tableName == tableName && selection.isSame(as: self.selection)
    }
}

extension [any SQLSelectable] {
    /// Returns true if two selections are certainly the same: all columns, or columns with the same names.
    fileprivate func isSame(as other: [any SQLSelectable]) -> Bool {
        guard count == other.count else { return false }
        for index in indices {
            let type = type(of: self[index])
            guard type == Swift.type(of: other[index]) else { return false }
            if type == AllColumns.self { continue }
            guard let column = self[index] as? Column, let otherColumn = other[index] as? Column,
                column.name == otherColumn.name
            else {
                return false
            }
        }
        return true
    }
}
