internal import Coffer
internal import Foundation

/// Brings the rows of an input into a table.
final class RowImport {
    struct Options {
        var table: String
        /// The columns that the fields are for; nil for those that the input names.
        var columns: [String]?
        /// Whether the first row has the names of the columns.
        var hasHeader: Bool
        var creates: Bool
        var types: [String: ColumnType]
        /// After how many rows there is a commit; nil for one transaction.
        var batchRows: Int?
    }

    private let reader: any RecordReader
    private let options: Options
    private let refuse: (ImportRecord, String) throws -> Void
    private let checkpoint: (Int64) throws -> Void

    /// Rows that were read ahead to find out types.
    private var ahead: [ImportRecord] = []
    private static let sampleCount = 1000

    private(set) var importedCount = 0
    private(set) var refusedCount = 0

    /// - Parameters:
    ///   - refuse: called with a row that cannot be one of the table, and why; throws to end the import.
    ///   - checkpoint: called now and then with the number of bytes that were read; throws to end the import.
    init(
        _ reader: any RecordReader, _ options: Options, refuse: @escaping (ImportRecord, String) throws -> Void,
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
        try db.beginTransaction(.immediate)
        do {
            if options.creates { try createTable(db, named ?? namesOfMembers()) }
            try checkColumns(db, named)
            try insertAll(db, named)
            try db.commit()
        } catch {
            if db.isInsideTransaction { try? db.rollback() }
            throw error
        }
    }

    private func next() throws -> ImportRecord? { ahead.isEmpty ? try reader.next() : ahead.removeFirst() }

    private func header() throws -> [String]? {
        guard options.hasHeader, let record = try reader.next() else { return nil }
        guard case .values(let values) = record.content else { throw mistake("its first line does not name the columns") }
        let names = values.map { String.fromDatabaseValue($0) ?? "" }
        guard names.allSatisfy({ !$0.isEmpty }), Set(names.map { $0.lowercased() }).count == names.count else {
            throw mistake("its first line does not name the columns, each with a name of its own; see --no-header and --columns")
        }
        return names
    }

    private func mistake(_ words: String) -> Failure { Failure(.badData, "input", "The input cannot be imported: \(words).") }

    // MARK: The table

    private func readAhead() throws {
        guard options.creates else { return }
        while ahead.count < RowImport.sampleCount, let record = try reader.next() { ahead.append(record) }
    }

    private func namesOfMembers() throws -> [String] {
        var names: Set<String> = []
        for record in ahead { if case .members(let members) = record.content { names.formUnion(members.keys) } }
        guard !names.isEmpty else { throw mistake("it does not name columns; see --columns") }
        return names.sorted()
    }

    private func createTable(_ db: Database, _ names: [String]) throws {
        let definitions = names.enumerated().map { index, name in
            let type =
                options.types[name]
                ?? ColumnType(
                    fitting: ahead.compactMap { record in
                        switch record.content {
                        case .values(let values): index < values.count ? values[index] : nil
                        case .members(let members): members[name]
                        case .bad: nil
                        }
                    })
            return "\(name.quotedDatabaseIdentifier) \(type.rawValue)"
        }
        // Strict: what comes later and does not fit is refused, and not taken as something else.
        try db.execute(sql: "CREATE TABLE \(options.table.quotedDatabaseIdentifier) (\(definitions.joined(separator: ", "))) STRICT")
    }

    private func checkColumns(_ db: Database, _ named: [String]?) throws {
        guard try db.tableExists(options.table) || db.viewExists(options.table) else {
            throw Failure(.answerIsNo, "no_such_table", "There is no table '\(options.table)'. --create makes one.")
        }
        let known = try Set(db.columns(in: options.table).map { $0.name.lowercased() })
        if let unknown = (named ?? []).first(where: { !known.contains($0.lowercased()) }) {
            throw Failure(.answerIsNo, "no_such_column", "The table '\(options.table)' has no column '\(unknown)'.")
        }
    }

    // MARK: Rows

    private func insertAll(_ db: Database, _ named: [String]?) throws {
        var count = 0
        while let record = try next() {
            try insert(record, db, named)
            count += 1
            if count.isMultiple(of: 256) { try checkpoint(reader.byteCount) }
            if let batch = options.batchRows, count.isMultiple(of: batch) {
                try db.commit()
                try db.beginTransaction(.immediate)
            }
        }
    }

    private func insert(_ record: ImportRecord, _ db: Database, _ named: [String]?) throws {
        let names: [String]?
        let values: [DatabaseValue]
        switch record.content {
        case .bad(let reason): return try refused(record, reason)
        case .values(let fields): (names, values) = (named, fields)
        case .members(let members):
            let sorted = members.sorted { $0.key < $1.key }
            (names, values) = (sorted.map(\.key), sorted.map(\.value))
        }
        if let names, names.count != values.count {
            return try refused(record, "it has \(TextLayout.counted(values.count, "field", "fields")) instead of \(names.count)")
        }
        do {
            let columns = names.map { names in
                names.isEmpty ? " DEFAULT VALUES" : "(\(names.map(\.quotedDatabaseIdentifier).joined(separator: ",")))"
            }
            let marks = values.isEmpty ? "" : " VALUES (\(values.map { _ in "?" }.joined(separator: ",")))"
            let statement = try db.cachedStatement(sql: "INSERT INTO \(options.table.quotedDatabaseIdentifier)\(columns ?? "")\(marks)")
            try statement.execute(arguments: StatementArguments(values))
            importedCount += 1
        } catch let error as DatabaseError {
            // A row is at fault, and not the disk or the database.
            let codes: [ResultCode] = [.SQLITE_CONSTRAINT, .SQLITE_MISMATCH, .SQLITE_TOOBIG, .SQLITE_ERROR]
            guard codes.contains(error.resultCode), db.isInsideTransaction else { throw error }
            try refused(record, error.message ?? "\(error.resultCode)")
        }
    }

    private func refused(_ record: ImportRecord, _ reason: String) throws {
        refusedCount += 1
        try refuse(record, reason)
    }
}
