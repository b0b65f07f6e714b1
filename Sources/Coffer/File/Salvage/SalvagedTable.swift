internal import SQLCipherBridge

/// A table of the new database, which takes the rows of one of the damaged database as they were stored.
final class SalvagedTable {
    let name: String
    /// Whether it is a tree of rows with row IDs; the others are ordered by their primary key.
    let hasRowIDs: Bool

    private struct Column {
        let name: String
        /// Whether the value is stored and computed: it is in the records, and cannot be inserted.
        let isGenerated: Bool
        let isNotNull: Bool
        let isRowID: Bool
        /// Whether SQLite would have stored a number as text.
        let isText: Bool
    }

    /// In the order of the records.
    private let columns: [Column]
    /// Whether values of its rows are computed.
    private let hasGeneratedColumns: Bool
    /// The name that no column has taken, for tables that have no column for it.
    private let rowIDName: String?
    private let connection: ConnectionHandle
    private let encoding: TextEncoding
    /// By the number of values that records have: those from before a column was added have fewer.
    private var insertions: [Int: Insertion] = [:]

    private final class Insertion {
        let statement: EngineStatement
        /// Which values of the record there are parameters for, in their order.
        let values: [Int]
        let rowIDParameter: CInt?

        init(_ statement: consuming EngineStatement, values: [Int], rowIDParameter: CInt?) {
            self.statement = statement
            self.values = values
            self.rowIDParameter = rowIDParameter
        }
    }

    init(name: String, in connection: ConnectionHandle, encoding: TextEncoding) throws {
        self.name = name
        self.connection = connection
        self.encoding = encoding
        let table = name.quotedDatabaseIdentifier
        struct Info {
            let name: String, type: String, isNotNull: Bool, isPrimaryKey: Bool, hidden: Int64
        }
        var infos: [Info] = []
        try connection.forEachRow(trusted: "PRAGMA main.table_xinfo(\(table))") { row in
            infos.append(
                Info(
                    name: row.string(at: 1), type: row.string(at: 2).uppercased(),
                    isNotNull: row.int64(at: 3) != 0,
                    isPrimaryKey: row.int64(at: 5) > 0, hidden: row.int64(at: 6)))
        }
        var primaryKeyIndex: String?
        try connection.forEachRow(trusted: "PRAGMA main.index_list(\(table))") { row in
            if row.string(at: 3) == "pk" { primaryKeyIndex = row.string(at: 1) }
        }
        var order: [Int] = []
        var hasRowIDs = true
        if let primaryKeyIndex {
            hasRowIDs = false
            try connection.forEachRow(
                trusted: "PRAGMA main.index_xinfo(\(primaryKeyIndex.quotedDatabaseIdentifier))"
            ) { row in
                let column = Int(row.int64(at: 1))
                if column < 0 {
                    hasRowIDs = true
                } else if infos.indices.contains(column) {
                    order.append(column)
                }
            }
        }
        if hasRowIDs { order = infos.indices.filter { infos[$0].hidden != 2 } }
        let hasRowIDColumn = hasRowIDs && primaryKeyIndex == nil
        columns = order.map { index in
            let info = infos[index]
            return Column(
                name: info.name, isGenerated: info.hidden == 3, isNotNull: info.isNotNull,
                isRowID: hasRowIDColumn && info.isPrimaryKey,
                isText: ["CHAR", "CLOB", "TEXT"].contains { info.type.contains($0) }
                    && !info.type.contains("INT"))
        }
        self.hasRowIDs = hasRowIDs
        hasGeneratedColumns = infos.contains { $0.hidden > 1 }
        let names = Set(infos.map { CaseInsensitiveName($0.name) })
        rowIDName =
            hasRowIDs ? ["rowid", "_rowid_", "oid"].first { !names.contains(CaseInsensitiveName($0)) } : nil
    }

    /// Whether a record of this shape may have been stored in this table.
    func fits(_ row: TreeReader.Row) -> Bool {
        let values = row.record.values
        guard !row.record.isCut, !values.isEmpty, values.count <= columns.count else { return false }
        return zip(values, columns).allSatisfy { value, column in
            switch value {
            case .null: column.isRowID || !column.isNotNull
            case .integer, .real: !column.isRowID && !column.isText
            case .text, .blob: !column.isRowID
            }
        }
    }

    /// How many columns records have that were written since the last one was added.
    var columnCount: Int { columns.count }

    /// Inserts a row.
    ///
    /// - Returns: why the engine refuses it, or nil.
    func insert(_ row: TreeReader.Row) throws -> String? {
        let count = row.record.values.count
        guard !row.record.isCut else { return "its end is lost" }
        guard count <= columns.count else {
            return "it has \(count) values, and the table \(columns.count) columns"
        }
        let insertion: Insertion
        do {
            insertion = try insertions[count] ?? prepare(count: count)
        } catch let error as EngineError where error.isOfStatement {
            return error.message ?? ConnectionHandle.describe(error.code)
        }
        insertions[count] = insertion
        let statement = insertion.statement.handle
        // A generated column may compute more than any row ever had.
        let length = hasGeneratedColumns ? connection.limitLength(ofRecord: row.record.size) : nil
        defer { if let length { connection.limit(.length, newValue: length) } }
        // Each parameter gets a value, in place of the one of the row before.
        for (index, value) in insertion.values.enumerated() {
            try connection.check(statement.bind(row.record.values[value], encoding, at: CInt(index + 1)))
        }
        if let parameter = insertion.rowIDParameter {
            try connection.check(statement.bind(row.rowID, at: parameter))
        }
        let code = statement.step()
        guard code != EngineCode.done else {
            statement.reset()
            return nil
        }
        let error = EngineError(code: code, message: connection.lastErrorMessage)
        statement.reset()
        guard error.isOfStatement else { throw error }
        return error.message ?? ConnectionHandle.describe(code)
    }

    /// What identifies a row and what else of it can be inserted, as SQL; nil for tables whose rows have no
    /// row ID that a statement can see.
    var fields: (rowID: String, others: [String])? {
        guard hasRowIDs,
            let name = columns.first(where: \.isRowID)?.name.quotedDatabaseIdentifier ?? rowIDName
        else { return nil }
        return (name, columns.filter { !$0.isGenerated && !$0.isRowID }.map(\.name.quotedDatabaseIdentifier))
    }

    /// Lets go of the statements, so that the table can be dropped.
    func finish() { insertions = [:] }

    private func prepare(count: Int) throws -> Insertion {
        let values = columns.indices.prefix(count).filter { !columns[$0].isGenerated && !columns[$0].isRowID }
        var names = values.map { columns[$0].name.quotedDatabaseIdentifier }
        var parameter: CInt?
        if let name = columns.first(where: \.isRowID)?.name.quotedDatabaseIdentifier ?? rowIDName {
            names.append(name)
            parameter = CInt(names.count)
        }
        let table = name.quotedDatabaseIdentifier
        let sql =
            names.isEmpty
            ? "INSERT OR ABORT INTO main.\(table) DEFAULT VALUES"
            : "INSERT OR ABORT INTO main.\(table) (\(names.joined(separator: ", "))) VALUES "
                + "(\(databaseQuestionMarks(count: names.count)))"
        guard let statement = try connection.prepare(trusted: sql) else {
            throw EngineError(code: EngineCode.error, message: "The statement is empty")
        }
        return Insertion(statement, values: values, rowIDParameter: parameter)
    }
}

extension ConnectionHandle {
    /// Keeps what is computed of a record, or of a file, of some size within a multiple of it: what a damaged
    /// database defines may compute a gigabyte of a few bytes.
    ///
    /// - Returns: the limit that there was.
    @discardableResult
    func limitLength(ofRecord size: Int) -> CInt {
        CInt(clamping: limit(.length, newValue: CInt(clamping: 65536 + 16 * size)))
    }
}

extension StatementHandle {
    func bind(_ value: StoredRecord.Value, _ encoding: TextEncoding, at index: CInt) -> CInt {
        switch value {
        case .null: bindNull(at: index)
        case .integer(let number): bind(number, at: index)
        case .real(let number): bind(number, at: index)
        case .text(let bytes):
            unsafe bytes.withUnsafeBytes { unsafe bind(text: $0, encoding: encoding, at: index) }
        case .blob(let bytes): unsafe bytes.withUnsafeBytes { unsafe bind(blob: $0, at: index) }
        }
    }
}
