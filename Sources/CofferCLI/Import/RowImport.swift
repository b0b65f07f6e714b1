internal import Coffer

/// Imports the rows of an input into a table.
final class RowImport {
    struct Options {
        var table: String
        /// The columns for the fields, or nil to use the names in the input.
        var columns: [String]?
        /// True if the first row contains the column names.
        var hasHeader: Bool
        var creates: Bool
        /// The column types of a new table.
        var types: [CaseInsensitiveName: ColumnType]
        /// True to continue after a rejected row.
        var putsRefusedAside: Bool
        /// The number of rows after which to commit, or nil for a single transaction.
        var batchRows: Int?
        /// The columns of a new table's primary key.
        var primaryKey: [String] = []
        /// The rule for rows whose key the table has already, or nil to refuse them.
        var onConflict: OnConflict?
        /// The command that creates a missing table, for the message.
        var creation = ""
    }

    enum OnConflict: String, CaseIterable, Sendable {
        case replace, ignore
    }

    private let reader: any RecordReader
    private let options: Options
    private let refuse: (ImportRecord, String) throws -> Void
    private let checkpoint: (Int64) throws -> Void

    /// Rows that were read ahead to infer types.
    private var ahead: [ImportRecord] = []
    private static let sampleCount = 1000

    /// The columns of the table.
    private var columns: [CaseInsensitiveName: ImportColumn] = [:]
    /// The words of a statement for the rule about conflicts.
    private var (insertion, conflictClause) = ("INSERT", "")
    private var isView = false
    /// The target of the last row.
    private var last: ImportTarget?

    private(set) var importedCount = 0
    /// The number of rows that the table ignored by its own rules, without an error.
    private(set) var ignoredCount = 0
    private(set) var isChanged = false
    private(set) var refusedCount = 0

    /// - Parameters:
    ///   - refuse: called with each rejected row and the reason. Throws to end the import.
    ///   - checkpoint: called from time to time with the number of bytes read. Throws to end the import.
    init(
        _ reader: any RecordReader, _ options: Options,
        refuse: @escaping (ImportRecord, String) throws -> Void,
        checkpoint: @escaping (Int64) throws -> Void
    ) {
        self.reader = reader
        self.options = options
        self.refuse = refuse
        self.checkpoint = checkpoint
    }

    func run(_ db: Database) throws {
        let named = try options.columns ?? header()
        try readAhead()
        let before = db.totalChangesCount
        defer { isChanged = isChanged || db.totalChangesCount != before }
        try db.beginTransaction(.immediate)
        do {
            var types: [CaseInsensitiveName: ColumnType] = [:]
            if options.creates { types = try createTable(db, named ?? namesOfMembers()) }
            try findColumns(db, named, types)
            try insertAll(db, named)
        } catch {
            if db.isInsideTransaction { try? db.rollback() }
            throw error
        }
    }

    private func next() throws -> ImportRecord? { ahead.isEmpty ? try reader.next() : ahead.removeFirst() }

    private func header() throws -> [String]? {
        guard options.hasHeader, let names = try reader.names() else { return nil }
        guard names.allSatisfy({ !$0.isEmpty }), Set(names.map(CaseInsensitiveName.init)).count == names.count
        else {
            throw mistake(
                "its first line does not give each column a different name; see --no-header and --columns"
            )
        }
        return names
    }

    private func mistake(_ words: String) -> Failure {
        Failure(.badData, "input", "The input cannot be imported: \(words).")
    }

    // MARK: The table

    private func readAhead() throws {
        guard options.creates else { return }
        while ahead.count < RowImport.sampleCount, let record = try reader.next() { ahead.append(record) }
    }

    private func namesOfMembers() throws -> [String] {
        var names: [String] = []
        // Of several spellings, the column gets the first.
        var seen: Set<CaseInsensitiveName> = []
        for record in ahead {
            guard case .members(let members) = record.content else { continue }
            names += members.map(\.name).filter { seen.insert(CaseInsensitiveName($0)).inserted }
        }
        guard !names.isEmpty else {
            if let record = ahead.first, case .bad(let reason) = record.content {
                throw mistake("line \(record.line): \(reason)")
            }
            throw mistake("it does not name columns; see --columns")
        }
        return names
    }

    /// Creates the table and returns the types of its columns.
    private func createTable(_ db: Database, _ names: [String]) throws -> [CaseInsensitiveName: ColumnType] {
        let known = names.map(CaseInsensitiveName.init)
        if let unknown = options.types.keys.sorted().first(where: { !known.contains($0) }) {
            throw Failure.usage(
                "--types has a type for the column '\(unknown.spelling)', which does not exist.")
        }
        var types: [CaseInsensitiveName: ColumnType] = [:]
        let definitions = names.enumerated().map { index, name in
            let key = CaseInsensitiveName(name)
            let type =
                options.types[key]
                ?? ColumnType(
                    fitting: ahead.compactMap { record in
                        switch record.content {
                        case .values(let values): index < values.count ? values[index] : nil
                        case .members(let members):
                            members.first { CaseInsensitiveName($0.name) == key }?.value
                        case .bad: nil
                        }
                    })
            types[key] = type
            return "\(name.quotedDatabaseIdentifier) \(type.declaration)"
        }
        // STRICT: later rows that do not fit are rejected, not converted.
        let all = (definitions + [try primaryKey(among: known)].compactMap { $0 }).joined(separator: ", ")
        try db.execute(sql: "CREATE TABLE \(options.table.quotedDatabaseIdentifier) (\(all)) STRICT")
        isChanged = true
        return types
    }

    /// Returns the constraint for the primary key, or nil if there is none.
    private func primaryKey(among known: [CaseInsensitiveName]) throws -> String? {
        if let unknown = options.primaryKey.first(where: { !known.contains(CaseInsensitiveName($0)) }) {
            throw Failure.usage("--primary-key names the column '\(unknown)', which does not exist.")
        }
        let keys = options.primaryKey.map(CaseInsensitiveName.init)
        guard Set(keys).count == keys.count else {
            throw Failure.usage("--primary-key has a column twice.")
        }
        let columns = options.primaryKey.map(\.quotedDatabaseIdentifier)
        return columns.isEmpty ? nil : "PRIMARY KEY (\(columns.joined(separator: ", ")))"
    }

    private func findColumns(_ db: Database, _ named: [String]?, _ made: [CaseInsensitiveName: ColumnType])
        throws
    {
        isView = try db.viewExists(options.table)
        guard try isView || db.tableExists(options.table) else {
            throw Failure(
                .answerIsNo, "no_such_table",
                "There is no table '\(options.table)'. To create it: \(options.creation)")
        }
        for column in try db.columns(in: options.table) {
            let key = CaseInsensitiveName(column.name)
            columns[key] = made[key].map { .made($0) } ?? ImportColumn(declared: column.type)
        }
        try applyRule(db)
        if let unknown = (named ?? []).first(where: { columns[CaseInsensitiveName($0)] == nil }) {
            throw Failure(
                .answerIsNo, "no_such_column", "The table '\(options.table)' has no column '\(unknown)'.")
        }
    }

    private func applyRule(_ db: Database) throws {
        switch options.onConflict {
        case nil: break
        // Unlike INSERT OR IGNORE, this ignores no other violation.
        case .ignore: conflictClause = " ON CONFLICT DO NOTHING"
        case .replace:
            let types = try String.fetchSet(
                db, sql: "SELECT type FROM pragma_table_list(?) WHERE schema = 'main'",
                arguments: [options.table])
            // Views and virtual tables have no other way.
            guard types.isDisjoint(with: ["view", "virtual"]) else { return insertion = "INSERT OR REPLACE" }
            // Unlike INSERT OR REPLACE, this removes no other row, neither by a foreign key nor by another
            // uniqueness constraint. It runs the triggers of the table, and stores no default for a NULL.
            let names = try String.fetchAll(
                db, sql: "SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0",
                arguments: [options.table])
            let values = names.map(\.quotedDatabaseIdentifier).map { "\($0)=excluded.\($0)" }
            conflictClause = " ON CONFLICT DO UPDATE SET \(values.joined(separator: ","))"
        }
    }

    // MARK: Rows

    private func insertAll(_ db: Database, _ named: [String]?) throws {
        // The connection cannot be closed before the statement.
        defer { last = nil }
        var (count, line) = (0, 1)
        while let record = try next() {
            try insert(record, db, named)
            count += 1
            line = record.line
            if count.isMultiple(of: 256) { try checkpoint(reader.byteCount) }
            if let batch = options.batchRows, count.isMultiple(of: batch) {
                try commit(db, upTo: line)
                try db.beginTransaction(.immediate)
            }
        }
        try commit(db, upTo: line)
    }

    /// Commits. A deferred constraint is checked only now, and its failure belongs to no single row.
    private func commit(_ db: Database, upTo line: Int) throws {
        do {
            try db.commit()
        } catch let error as DatabaseError {
            guard error.resultCode == .SQLITE_CONSTRAINT else { throw error }
            throw Failure(
                .badData, "refused",
                "The rows up to line \(line) are refused together, when they are committed: "
                    + "\(error.message ?? "\(error.resultCode)"). No row\(partOfInput) is kept.")
        }
    }

    private func insert(_ record: ImportRecord, _ db: Database, _ named: [String]?) throws {
        let names: [String]?
        let values: [ImportValue]
        switch record.content {
        case .bad(let reason): return try refused(record, reason)
        case .values(let fields): (names, values) = (named, fields)
        case .members(let members): (names, values) = (members.map { $0.name }, members.map { $0.value })
        }
        if let names, names.count != values.count {
            return try refused(
                record,
                "it has \(counted: values.count, "field") instead of \(names.count)")
        }
        let target = self.target(names, count: values.count)
        do {
            let stored = try target.stored(values)
            guard options.putsRefusedAside else { return try insert(stored, target, db) }
            // A trigger may fail with RAISE(FAIL), which keeps earlier changes. The savepoint undoes them.
            try db.inSavepoint {
                try insert(stored, target, db)
                return .commit
            }
        } catch let refusal as ImportRefusal {
            try refused(record, refusal.reason)
        } catch let error as DatabaseError {
            // Only errors that the row itself causes, not failures of the disk or the database.
            let codes: [ResultCode] = [.SQLITE_CONSTRAINT, .SQLITE_MISMATCH, .SQLITE_TOOBIG, .SQLITE_ERROR]
            guard codes.contains(error.resultCode) else { throw error }
            let reason = error.message ?? "\(error.resultCode)"
            guard db.isInsideTransaction else { throw rollback(at: record, reason) }
            try refused(record, reason)
        }
    }

    /// The failure of a row whose error has ended the transaction.
    private func rollback(at record: ImportRecord, _ reason: String) -> Failure {
        Failure(
            .badData, "refused",
            "The row of line \(record.line) is refused: \(reason). This rolled back the transaction: no row"
                + "\(partOfInput) is kept.")
    }

    /// The rows that a transaction has, in the words of a failure.
    private var partOfInput: String { options.batchRows == nil ? "" : " of this batch" }

    /// Returns the target of rows with these columns. Most rows have the columns of the row before.
    private func target(_ names: [String]?, count: Int) -> ImportTarget {
        if let last, last.takes(names, count) { return last }
        let target = ImportTarget(
            names, count, columns: names?.map { columns[CaseInsensitiveName($0)] ?? .found(.other) },
            key: options.primaryKey, sql: sql(names, count))
        last = target
        return target
    }

    private func sql(_ names: [String]?, _ count: Int) -> String {
        let columns = names.map { names in
            names.isEmpty
                ? " DEFAULT VALUES" : "(\(names.map(\.quotedDatabaseIdentifier).joined(separator: ",")))"
        }
        let marks = Array(repeating: "?", count: count).joined(separator: ",")
        return "\(insertion) INTO \(options.table.quotedDatabaseIdentifier)\(columns ?? "")"
            + (count == 0 ? "" : " VALUES (\(marks))\(conflictClause)")
    }

    private func insert(_ values: [DatabaseValue], _ target: ImportTarget, _ db: Database) throws {
        try target.statement(db).execute(arguments: StatementArguments(values))
        // A view's triggers may change nothing, so its rows count as imported.
        if isView || db.changesCount > 0 { importedCount += 1 } else { ignoredCount += 1 }
    }

    private func refused(_ record: ImportRecord, _ reason: String) throws {
        refusedCount += 1
        try refuse(record, reason)
    }
}
