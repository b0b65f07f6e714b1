internal import SQLCipherBridge

/// A table of the new database, which receives the rows of a table of the damaged one, unchanged.
final class SalvagedTable {
    let name: String
    /// True if the table is a b-tree of rows with row IDs; false if it is ordered by its primary key.
    let hasRowIDs: Bool

    private struct Column {
        let name: String
        /// True for a stored generated column: its value is in the records, but cannot be inserted.
        let isGenerated: Bool
        let isNotNull: Bool
        let isRowID: Bool
        let affinity: ColumnAffinity
    }

    /// The columns, in record order.
    private let columns: [Column]
    /// True if the table has generated columns.
    private let hasGeneratedColumns: Bool
    /// True if a column has a default that is computed or long. Rows from before the column was added get it.
    private let hasCostlyDefaults: Bool
    /// The name for the row ID that no column has taken, for tables without a column for the row ID.
    private let rowIDName: String?
    private let connection: ConnectionHandle
    private let encoding: TextEncoding
    private let buffer: RecordBuffer
    /// True if the table has no other b-tree than this one, whose order is the order of insertion.
    private let isOneTree: Bool
    /// The statements, by the number of values in a record: records from before a column was added have
    /// fewer.
    private var insertions: [Int: Insertion] = [:]
    /// The statement for the previous row. The next row usually has the same number of values.
    private var lastInsertion: Insertion?
    /// The statements for several rows of a b-tree.
    private var insertionsOfMany: [Int: Insertion] = [:]

    /// The maximum number of prepared statements of each kind: a forged file may have records with every
    /// possible number of values.
    private static let mostInsertions = 8

    private final class Insertion {
        let statement: EngineStatement
        let valueCount: Int
        /// The number of rows that it inserts.
        let rowCount: Int
        /// The indexes of the record values that are bound to parameters, in order.
        let values: [Int]
        let hasRowID: Bool

        init(
            _ statement: consuming EngineStatement, valueCount: Int, rowCount: Int, values: [Int],
            hasRowID: Bool
        ) {
            self.statement = statement
            self.valueCount = valueCount
            self.rowCount = rowCount
            self.values = values
            self.hasRowID = hasRowID
        }
    }

    /// - Parameter buffer: a buffer shared by all tables, which are filled one after the other.
    init(
        name: String, in connection: ConnectionHandle, encoding: TextEncoding, buffer: RecordBuffer
    ) throws {
        self.name = name
        self.connection = connection
        self.encoding = encoding
        self.buffer = buffer
        let table = name.quotedDatabaseIdentifier
        struct Info {
            let name: String, type: String, isNotNull: Bool, isPrimaryKey: Bool, hidden: Int64
            let hasCostlyDefault: Bool
        }
        var infos: [Info] = []
        try connection.forEachRow(trusted: "PRAGMA main.table_xinfo(\(table))") { row in
            infos.append(
                Info(
                    name: row.identifier(at: 1), type: row.string(at: 2),
                    isNotNull: row.int64(at: 3) != 0,
                    isPrimaryKey: row.int64(at: 5) > 0, hidden: row.int64(at: 6),
                    hasCostlyDefault: row.string(at: 4).contains("(") || row.string(at: 4).utf8.count > 100))
        }
        var primaryKeyIndex: String?
        var indexCount = 0
        try connection.forEachRow(trusted: "PRAGMA main.index_list(\(table))") { row in
            indexCount += 1
            if row.string(at: 3) == "pk" { primaryKeyIndex = row.identifier(at: 1) }
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
        var isStrict = false
        try connection.forEachRow(trusted: "PRAGMA main.table_list(\(table))") { row in
            if row.string(at: 0) == "main" { isStrict = row.int64(at: 5) != 0 }
        }
        columns = order.map { index in
            let info = infos[index]
            return Column(
                name: info.name, isGenerated: info.hidden == 3, isNotNull: info.isNotNull,
                isRowID: hasRowIDColumn && info.isPrimaryKey,
                affinity: ColumnAffinity(type: info.type, isStrict: isStrict))
        }
        self.hasRowIDs = hasRowIDs
        hasGeneratedColumns = infos.contains { $0.hidden > 1 }
        hasCostlyDefaults = infos.contains(where: \.hasCostlyDefault)
        let names = Set(infos.map { CaseInsensitiveName($0.name) })
        rowIDName =
            hasRowIDs ? ["rowid", "_rowid_", "oid"].first { !names.contains(CaseInsensitiveName($0)) } : nil
        isOneTree = indexCount == (hasRowIDs ? 0 : 1)
    }

    /// Returns true if records of this shape may have been stored in this table.
    func fits(_ shape: SharedShape) -> Bool {
        guard !shape.isAnyCut, shape.leastCount > 0, shape.mostCount <= columns.count else { return false }
        return zip(shape.kinds, columns).allSatisfy { kinds, column in
            !(kinds.contains(.null) && column.isNotNull && !column.isRowID)
                && !(kinds.contains(.number) && (column.isRowID || column.affinity == .text))
                && !(kinds.contains(.bytes) && column.isRowID)
        }
    }

    /// The number of values in a record that was written after the last column was added.
    var columnCount: Int { columns.count }

    /// Inserts the rows of a part of a b-tree, in order. Rows with the same number of values are inserted in
    /// groups.
    ///
    /// - Parameter refused: called with a row that the engine refuses, and the reason.
    /// - Returns: the number of inserted rows.
    func insert(
        _ rows: [TreeReader.Row], refused: (TreeReader.Row, String) throws -> Void
    ) throws -> Int {
        var inserted = 0
        var next = 0
        while next < rows.count {
            switch try insertMany(rows, from: next) {
            case .inserted(let count):
                inserted += count
                next += count
            case .alone(let count):
                for row in rows[next..<next + count] {
                    if let reason = try insert(row) {
                        try refused(row, reason)
                    } else {
                        inserted += 1
                    }
                }
                next += count
            }
        }
        return inserted
    }

    private enum Many {
        case inserted(Int)
        /// The number of next rows that have to be inserted one by one.
        case alone(Int)
    }

    /// The number of rows that one statement inserts, and the maximum number of its parameters.
    private static let manyRows = 32
    private static let manyParameters = 2048

    /// Inserts several rows with one statement, which inserts either all of them or, if one is refused, none.
    private func insertMany(_ rows: [TreeReader.Row], from first: Int) throws -> Many {
        let left = rows.count - first
        // The length limit for generated columns is set row by row. Without a row ID, SQLite may prepare the
        // statement as one that cannot fail halfway, and then cannot undo a part of it.
        guard left >= SalvagedTable.manyRows, isOneTree, !hasGeneratedColumns, !hasRowIDs || rowIDName != nil
        else { return .alone(left) }
        let count = rows[first].record.valueCount
        guard count == columns.count || count < columns.count && !hasCostlyDefaults,
            (count + 1) * SalvagedTable.manyRows <= SalvagedTable.manyParameters
        else { return .alone(SalvagedTable.manyRows) }
        // Checked before a statement is prepared for these rows.
        let many = rows[first..<first + SalvagedTable.manyRows]
        if let other = many.firstIndex(where: { $0.record.valueCount != count || $0.record.isCut }) {
            return .alone(other - first + 1)
        }
        guard let insertion = try insertionOfMany(count) else { return .alone(SalvagedTable.manyRows) }
        let statement = insertion.statement.handle
        buffer.begin()
        var parameter: CInt = 1
        for index in 0..<insertion.rowCount {
            let row = rows[first + index]
            guard let place = buffer.keep(row.record.bytes.span),
                try bind(row, to: statement, insertion, &parameter, place: place)
            else { return .alone(index + 1) }
        }
        do throws(EngineError) {
            try connection.run(statement)
        } catch {
            guard error.isOfStatement else { throw error }
            return .alone(insertion.rowCount)
        }
        return .inserted(insertion.rowCount)
    }

    /// Inserts a row.
    ///
    /// - Returns: the reason if the engine refuses it; nil if it was inserted.
    func insert(_ row: TreeReader.Row) throws -> String? {
        let count = row.record.valueCount
        guard !row.record.isCut else { return "its end is lost" }
        guard count <= columns.count else {
            return "it has \(count) values, but the table has \(columns.count) columns"
        }
        let insertion: Insertion
        do {
            insertion = try self.insertion(count)
        } catch let error as EngineError where error.isOfStatement {
            return error.words
        }
        let statement = insertion.statement.handle
        // A generated column or a default may compute a value that is larger than any row ever was.
        let isComputed = hasGeneratedColumns || hasCostlyDefaults && count < columns.count
        let length = isComputed ? connection.limitLength(ofRecord: row.record.size) : nil
        defer { if let length { connection.limit(.length, newValue: length) } }
        var parameter: CInt = 1
        guard try bind(row, to: statement, insertion, &parameter, place: nil) else {
            return "a value has another type than its column"
        }
        do throws(EngineError) {
            try connection.run(statement)
        } catch {
            guard error.isOfStatement else { throw error }
            return error.words
        }
        return nil
    }

    /// Binds the parameters for one row.
    ///
    /// - Parameters:
    ///   - parameter: the first parameter of the row; on return, the one after its last.
    ///   - place: the offset of the record in the buffer; nil to copy the values.
    /// - Returns: false if SQLite would store another value than one of the record's.
    private func bind(
        _ row: TreeReader.Row, to statement: StatementHandle, _ insertion: Insertion,
        _ parameter: inout CInt, place: Int?
    ) throws -> Bool {
        let record = row.record.bytes.span
        var fields = StoredRecord.Fields(record)
        var index = 0
        for value in insertion.values {
            var field = fields?.next(in: record)
            while index < value {
                field = fields?.next(in: record)
                index += 1
            }
            index += 1
            guard let field else {
                throw EngineError.corrupt("A record has lost values")
            }
            guard !columns[value].affinity.changes(field, of: record, encoding) else { return false }
            try connection.check(bind(field, of: record, to: statement, at: parameter, place: place))
            parameter += 1
        }
        guard insertion.hasRowID else { return true }
        try connection.check(statement.bind(row.rowID, at: parameter))
        parameter += 1
        return true
    }

    private func bind(
        _ field: StoredRecord.Field, of record: Span<UInt8>, to statement: StatementHandle,
        at parameter: CInt, place: Int?
    ) -> CInt {
        switch field.kind {
        case .null: return statement.bindNull(at: parameter)
        case .integer: return statement.bind(field.integer(in: record), at: parameter)
        case .real: return statement.bind(field.real(in: record), at: parameter)
        case .text:
            if let place {
                return buffer.bind(
                    text: field.place(behind: place), encoding: encoding, to: statement, at: parameter)
            }
            return unsafe record.extracting(field.place).withUnsafeBytes {
                unsafe statement.bind(text: $0, encoding: encoding, at: parameter)
            }
        case .blob:
            if let place {
                return buffer.bind(blob: field.place(behind: place), to: statement, at: parameter)
            }
            return unsafe record.extracting(field.place).withUnsafeBytes {
                unsafe statement.bind(blob: $0, at: parameter)
            }
        }
    }

    /// The row ID and the other columns that can be inserted, as SQL; nil for tables whose rows have no row
    /// ID that a statement can see.
    var fields: (rowID: String, others: [String])? {
        guard hasRowIDs,
            let name = columns.first(where: \.isRowID)?.name.quotedDatabaseIdentifier ?? rowIDName
        else { return nil }
        return (name, columns.filter { !$0.isGenerated && !$0.isRowID }.map(\.name.quotedDatabaseIdentifier))
    }

    /// Releases the statements, which only the rows of a b-tree need, and which keep the table from being
    /// dropped.
    func finish() { (insertions, lastInsertion, insertionsOfMany) = ([:], nil, [:]) }

    private func insertion(_ count: Int) throws -> Insertion {
        if let lastInsertion, lastInsertion.valueCount == count { return lastInsertion }
        let insertion = try insertions[count] ?? prepare(count: count, rowCount: 1)
        if insertions.count == SalvagedTable.mostInsertions { insertions = [:] }
        insertions[count] = insertion
        lastInsertion = insertion
        return insertion
    }

    /// - Returns: nil if SQLite rejects the statement.
    private func insertionOfMany(_ count: Int) throws -> Insertion? {
        if let insertion = insertionsOfMany[count] { return insertion }
        do {
            let insertion = try prepare(count: count, rowCount: SalvagedTable.manyRows)
            if insertionsOfMany.count == SalvagedTable.mostInsertions { insertionsOfMany = [:] }
            insertionsOfMany[count] = insertion
            return insertion
        } catch let error as EngineError where error.isOfStatement {
            return nil
        }
    }

    private func prepare(count: Int, rowCount: Int) throws -> Insertion {
        let values = columns.indices.prefix(count).filter { !columns[$0].isGenerated && !columns[$0].isRowID }
        var names = values.map { columns[$0].name.quotedDatabaseIdentifier }
        let rowID = columns.first(where: \.isRowID)?.name.quotedDatabaseIdentifier ?? rowIDName
        if let rowID { names.append(rowID) }
        let table = name.quotedDatabaseIdentifier
        let row = "(\(databaseQuestionMarks(count: names.count)))"
        let sql =
            names.isEmpty
            ? "INSERT OR ABORT INTO main.\(table) DEFAULT VALUES"
            : "INSERT OR ABORT INTO main.\(table) (\(names.joined(separator: ", "))) VALUES "
                + Array(repeating: row, count: rowCount).joined(separator: ", ")
        guard let statement = try connection.prepare(trusted: sql) else {
            throw EngineError(code: EngineCode.error, message: "The statement is empty")
        }
        return Insertion(
            statement, valueCount: count, rowCount: names.isEmpty ? 1 : rowCount, values: values,
            hasRowID: rowID != nil)
    }
}

extension ConnectionHandle {
    /// Limits computed values to a multiple of the size of a record or a file: an expression in a damaged
    /// database may compute a gigabyte from a few bytes.
    ///
    /// - Returns: the previous limit.
    @discardableResult
    func limitLength(ofRecord size: Int) -> CInt {
        CInt(clamping: limit(.length, newValue: CInt(clamping: 65536 + 16 * size)))
    }
}

extension StatementHandle {
    func bind(copyOf value: StoredRecord.Value, _ encoding: TextEncoding, at index: CInt) -> CInt {
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
