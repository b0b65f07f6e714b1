internal import SQLCipherBridge

/// Makes a new database of what can be read of a damaged one.
///
/// What is certain goes into the tables: rows that the trees of the tables lead to, and rows of pages that no tree leads to where only one table has
/// lost rows of their numbers and their shape. Everything else that was read goes to tables of its own, `lost_and_found_N` for rows of N values, with
/// the page it comes from and the reason.
final class SalvagedContent {
    private let pages: SalvagedPages
    private let options: DatabaseFile.SalvageOptions
    private let destination: ConnectionHandle
    private let progress: ProgressReport

    private let header: DatabaseHeader?
    private let reader: TreeReader
    private let schema: SalvagedSchema
    private var tables: [Target] = []
    private var lost: LostRows
    private var problems: [String] = []
    private var unassigned: [Int] = []
    private var rowCount = 0

    private struct Target {
        let table: SalvagedTable
        var report: DatabaseFile.Salvage.Table
        /// Row IDs that rows on lost pages may have.
        var missing: [ClosedRange<Int64>]
    }

    init(_ pages: SalvagedPages, into destination: ConnectionHandle, _ options: DatabaseFile.SalvageOptions, _ progress: ProgressReport)
        throws
    {
        self.pages = pages
        self.options = options
        self.destination = destination
        self.progress = progress
        header = try pages.header()
        reader = TreeReader(pages)
        schema = try SalvagedSchema(reader, header)
        lost = LostRows(destination, encoding: schema.encoding, taken: schema.entries.map(\.name))
    }

    /// What was made.
    struct Result {
        let fingerprint: ContentFingerprint
        let tables: [DatabaseFile.Salvage.Table]
        let lostRowCount: Int
        let unassignedPages: [Int]
        let problems: [String]
    }

    /// Makes everything, as one transaction.
    func make() throws -> Result { try destination.watched(by: checkpoint, makeEverything) }

    private func makeEverything() throws -> Result {
        try destination.acceptContentOfAnotherDatabase()
        try destination.execute(trusted: "PRAGMA encoding = '\(schema.encoding.rawValue)'")
        if let header { try destination.execute(trusted: "PRAGMA auto_vacuum = \(header.autoVacuum)") }
        if !schema.isWhole { problems.append("The schema could not be read to its end: what is missing of it was not made.") }
        try destination.execute("BEGIN IMMEDIATE")
        for entry in schema.tables where entry.name != "sqlite_sequence" { try makeTable(entry) }
        try makeSequences()
        var areIndexesWhole = true
        for index in schema.indexes where index.root > 0 {
            if try !reader.read(root: index.root, isTable: false, nil).isNothing { areIndexesWhole = false }
        }
        let free = try pages.freePages()
        if !options.includesFreePages { reader.take(free.pages) }
        let isCertain = free.isWhole && schema.isWhole && !options.includesFreePages
        try assignOtherPages(isCertain: isCertain)
        if isCertain && areIndexesWhole { try assignPagesOfClusteredTables() }
        if options.includesDamagedPages { try readDamagedPages() }
        try makeIndexes()
        try makeEntriesWithoutTree()
        if let header {
            try destination.execute(trusted: "PRAGMA user_version = \(header.userVersion)")
            try destination.execute(trusted: "PRAGMA application_id = \(header.applicationID)")
        }
        try destination.execute("COMMIT")
        return Result(
            fingerprint: try ContentFingerprint(of: destination) { try checkpoint() }, tables: tables.map(\.report),
            lostRowCount: lost.count,
            unassignedPages: unassigned, problems: problems)
    }

    private func checkpoint() throws { try progress(.copying, rowCount, of: 0) }

    // MARK: Tables

    private func makeTable(_ entry: SalvagedSchema.Entry) throws {
        guard let sql = entry.sql, try create(StoredDefinition(kind: .table, name: entry.name, sql: sql)) else {
            // Its rows are known to be of it, and have no place.
            _ = try read(entry.root, isTable: true) { row in try lost.add(row, table: entry.name, reason: "the table could not be made") }
            return
        }
        let table = try SalvagedTable(name: entry.name, in: destination, encoding: schema.encoding)
        var target = Target(table: table, report: DatabaseFile.Salvage.Table(name: entry.name), missing: [])
        let loss = try read(entry.root, isTable: table.hasRowIDs) { row in try add(row, to: &target) }
        target.missing = loss.rowIDs
        target.report.missingRowIDs = loss.rowIDs
        target.report.missingPageCount = loss.pageCount
        target.report.unreadableRowCount = loss.rowCount
        tables.append(target)
    }

    private func read(_ root: Int, isTable: Bool, _ body: (TreeReader.Row) throws -> Void) throws -> TreeReader.Loss {
        try withoutActuallyEscaping(body) { body in
            try reader.read(root: root, isTable: isTable) { row in
                try self.count()
                try body(row)
            }
        }
    }

    private func count() throws {
        rowCount += 1
        if rowCount.isMultiple(of: ContentFingerprint.rowsBetweenCheckpoints) { try checkpoint() }
    }

    private func add(_ row: TreeReader.Row, to target: inout Target) throws {
        if let reason = try target.table.insert(row) {
            try lost.add(row, table: target.table.name, reason: reason)
            target.report.refusedRowCount += 1
        } else {
            target.report.rowCount += 1
        }
    }

    /// - Returns: whether the engine took it; why not is among the problems.
    private func create(_ definition: StoredDefinition) throws -> Bool {
        do {
            try definition.execute(on: destination)
            return true
        } catch let error as EngineError where error.isOfStatement {
            problems.append("\(definition.name) could not be made: \(words(error))")
            return false
        }
    }

    private func words(_ error: EngineError) -> String { error.message ?? ConnectionHandle.describe(error.code) }

    // MARK: Pages that no tree leads to

    /// - Parameter isCertain: whether such a page can only be one of a table. Where free pages are not known, it may have rows that were deleted.
    private func assignOtherPages(isCertain: Bool) throws {
        guard pages.pageCount > 1 else { return }
        for number in 2...pages.pageCount where !reader.isTaken(number) {
            guard let content = try pages.content(number), let rows = try reader.rows(onPage: number, content, isTable: true) else {
                // An interior page has nothing of its own, and its children are looked at themselves.
                continue
            }
            let owner = isCertain ? owner(of: rows) : nil
            if owner == nil { unassigned.append(number) }
            for row in rows {
                try count()
                if let owner {
                    try add(row, to: &tables[owner])
                } else {
                    try lost.add(row, table: nil, reason: "no tree leads to the page")
                }
            }
        }
    }

    /// Pages that look like those of an index, where no index has lost any: they are of a table that is ordered by its primary key.
    private func assignPagesOfClusteredTables() throws {
        let candidates = tables.indices.filter { !tables[$0].table.hasRowIDs && tables[$0].report.missingPageCount > 0 }
        guard !candidates.isEmpty else { return }
        for number in 2...max(2, pages.pageCount) where !reader.isTaken(number) {
            guard let content = try pages.content(number), let rows = try reader.rows(onPage: number, content, isTable: false) else {
                continue
            }
            let fitting = candidates.filter { index in rows.allSatisfy(tables[index].table.fits) }
            let complete = fitting.filter { index in rows.allSatisfy { $0.record.values.count == tables[index].table.columnCount } }
            let owner = fitting.count == 1 ? fitting.first : complete.count == 1 ? complete.first : nil
            if owner == nil { unassigned.append(number) }
            for row in rows {
                try count()
                if let owner {
                    try add(row, to: &tables[owner])
                } else {
                    try lost.add(row, table: nil, reason: "no tree leads to the page")
                }
            }
        }
    }

    /// The only table that can have lost these rows, if there is one.
    private func owner(of rows: [TreeReader.Row]) -> Int? {
        let candidates = tables.indices.filter { index in
            let target = tables[index]
            guard target.table.hasRowIDs, !target.missing.isEmpty, rows.allSatisfy(target.table.fits) else { return false }
            return target.missing.contains { missing in rows.allSatisfy { missing.contains($0.rowID) } }
        }
        if candidates.count <= 1 { return candidates.first }
        let complete = candidates.filter { index in rows.allSatisfy { $0.record.values.count == tables[index].table.columnCount } }
        return complete.count == 1 ? complete.first : nil
    }

    private func readDamagedPages() throws {
        for number in pages.damagedPages where !reader.isTaken(number) {
            guard let content = try pages.storedContent(number), let rows = try reader.rows(onPage: number, content, isTable: true) else {
                continue
            }
            for row in rows {
                try count()
                try lost.add(row, table: nil, reason: "the page is not authentic")
            }
        }
    }

    // MARK: The rest of the schema

    private func makeIndexes() throws {
        // Those without SQL belong to constraints, and were made with their tables.
        for index in schema.indexes {
            guard let sql = index.sql else { continue }
            try checkpoint()
            _ = try create(StoredDefinition(kind: .index, name: index.name, sql: sql))
        }
    }

    private func makeSequences() throws {
        guard let entry = schema.tables.first(where: { $0.name == "sqlite_sequence" }) else { return }
        if try destination.firstText(trusted: "SELECT 1 FROM main.sqlite_master WHERE name = 'sqlite_sequence'") == nil {
            // SQLite makes it with the first table that needs it, and keeps it when that one is dropped.
            let name = freeName("coffer sequence").quotedDatabaseIdentifier
            try destination.execute(trusted: "CREATE TABLE \(name) (id INTEGER PRIMARY KEY AUTOINCREMENT); DROP TABLE \(name)")
        }
        let table = try SalvagedTable(name: entry.name, in: destination, encoding: schema.encoding)
        // The rows that were salvaged have left their highest row IDs there, which are all that is known where this table is lost.
        if try pages.tree(entry.root) != nil { try destination.execute("DELETE FROM main.sqlite_sequence") }
        _ = try read(entry.root, isTable: true) { row in
            if let reason = try table.insert(row) { try lost.add(row, table: entry.name, reason: reason) }
        }
    }

    /// A name that nothing has.
    private func freeName(_ start: String) -> String {
        let taken = Set(schema.entries.map { CaseInsensitiveName($0.name) })
        var name = start
        while taken.contains(CaseInsensitiveName(name)) { name += "_" }
        return name
    }

    /// Views, triggers and virtual tables are rows of the schema, and nothing else.
    private func makeEntriesWithoutTree() throws {
        let insertion = "INSERT INTO main.sqlite_master (type, name, tbl_name, sql, rootpage) VALUES (?1, ?2, ?3, ?4, 0)"
        guard let insert = try destination.prepare(trusted: insertion) else { return }
        let damaged = schema.entriesWithoutTree.filter { $0.type == "table" && hasLost(partOf: $0) }
        for entry in schema.entriesWithoutTree where !damaged.contains(where: { $0.name == entry.name }) {
            guard let sql = entry.sql else { continue }
            for (index, text) in [entry.type, entry.name, entry.table, sql].enumerated() {
                try destination.check(insert.handle.bind(text, at: CInt(index + 1)))
            }
            let code = insert.handle.step()
            guard code == EngineCode.done else { throw EngineError(code: code, message: destination.lastErrorMessage) }
            insert.handle.reset()
        }
        for entry in damaged { try makeAnew(entry) }
    }

    // MARK: Virtual tables

    /// The tables in which a virtual table keeps its content. Others may have names that begin with its own.
    private func parts(of entry: SalvagedSchema.Entry) -> [Target] {
        let names = Set(shadowNames(of: entry).map { CaseInsensitiveName("\(entry.name)_\($0)") })
        return tables.filter { names.contains(CaseInsensitiveName($0.table.name)) }
    }

    private func shadowNames(of entry: SalvagedSchema.Entry) -> [String] {
        if isFullText(entry) { return ["config", "content", "data", "docsize", "idx", "segdir", "segments", "stat"] }
        return ["node", "parent", "rowid"]
    }

    private func isFullText(_ entry: SalvagedSchema.Entry) -> Bool {
        let words = (entry.sql ?? "").lowercased()
        return ["fts3", "fts4", "fts5"].contains { words.contains("using \($0)") || words.contains("using \"\($0)\"") }
    }

    private func hasLost(partOf entry: SalvagedSchema.Entry) -> Bool {
        parts(of: entry).contains { part in
            part.report.missingPageCount + part.report.unreadableRowCount + part.report.refusedRowCount > 0
        }
    }

    /// Makes the index of a full-text table anew from its content: an index that has lost a part of itself finds other rows than there are.
    ///
    /// Other virtual tables are not made. What was read of their tables stays there.
    private func makeAnew(_ entry: SalvagedSchema.Entry) throws {
        guard isFullText(entry), let sql = entry.sql else {
            return problems.append("\(entry.name) was not made, as tables that it consists of have lost rows. They are there.")
        }
        let name = entry.name.quotedDatabaseIdentifier
        let content = "\(entry.name)_content"
        let kept = freeName("coffer content")
        let keepsContent = parts(of: entry).contains { $0.table.name == content }
        try destination.execute("SAVEPOINT anew")
        do {
            if keepsContent {
                try destination.execute(
                    trusted: "CREATE TABLE \(kept.quotedDatabaseIdentifier) AS SELECT * FROM \(content.quotedDatabaseIdentifier)")
            }
            for part in parts(of: entry) { part.table.finish() }
            for part in parts(of: entry) { try destination.execute(trusted: "DROP TABLE main.\(part.table.name.quotedDatabaseIdentifier)") }
            try StoredDefinition(kind: .virtualTable, name: entry.name, sql: sql).execute(on: destination)
            if keepsContent {
                try destination.execute(
                    trusted: "INSERT INTO \(content.quotedDatabaseIdentifier) SELECT * FROM \(kept.quotedDatabaseIdentifier); "
                        + "DROP TABLE \(kept.quotedDatabaseIdentifier)")
            }
            try destination.execute(trusted: "INSERT INTO \(name)(\(name)) VALUES('rebuild')")
            try destination.execute("RELEASE anew")
            problems.append("The full-text index of \(entry.name) was made anew from the rows that are left.")
        } catch let error as EngineError where error.isOfStatement {
            try destination.execute("ROLLBACK TO anew; RELEASE anew")
            problems.append(
                "\(entry.name) could not be made anew (\(words(error))). What was read of the tables that it consists of is there.")
        }
    }
}

/// The tables of a salvaged database for rows that have no place in another one.
private struct LostRows {
    private(set) var count = 0
    private let connection: ConnectionHandle
    private let encoding: TextEncoding
    private let taken: Set<CaseInsensitiveName>
    private var insertions: [Int: Insertion] = [:]

    private final class Insertion {
        let statement: EngineStatement

        init(_ statement: consuming EngineStatement) { self.statement = statement }
    }

    /// The most values that a table has columns for, beside those that say where a row is from.
    private static let mostValues = 1990

    init(_ connection: ConnectionHandle, encoding: TextEncoding, taken: [String]) {
        self.connection = connection
        self.encoding = encoding
        self.taken = Set(taken.map(CaseInsensitiveName.init))
    }

    /// - Parameter table: the one that the row belongs to, if that is known.
    mutating func add(_ row: TreeReader.Row, table: String?, reason: String) throws {
        let values = row.record.values.prefix(LostRows.mostValues)
        let insertion = try insertions[values.count] ?? makeTable(values.count)
        insertions[values.count] = insertion
        let statement = insertion.statement.handle
        try connection.check(table.map { statement.bind($0, at: 1) } ?? statement.bindNull(at: 1))
        try connection.check(statement.bind(Int64(row.page), at: 2))
        try connection.check(statement.bind(row.record.isCut ? "its end is lost" : reason, at: 3))
        try connection.check(statement.bind(row.rowID, at: 4))
        for (index, value) in values.enumerated() { try connection.check(statement.bind(value, encoding, at: CInt(index + 5))) }
        let code = statement.step()
        guard code == EngineCode.done else { throw EngineError(code: code, message: connection.lastErrorMessage) }
        statement.reset()
        count += 1
    }

    private func makeTable(_ valueCount: Int) throws -> Insertion {
        var name = "lost_and_found_\(valueCount)"
        while taken.contains(CaseInsensitiveName(name)) { name += "_" }
        let columns = (0..<valueCount).map { "c\($0)" }
        let list = (["table_name", "page", "reason", "row_id"] + columns).joined(separator: ", ")
        try connection.execute(trusted: "CREATE TABLE \(name) (\(list))")
        let insertion = "INSERT INTO main.\(name) (\(list)) VALUES (\(databaseQuestionMarks(count: valueCount + 4)))"
        guard let statement = try connection.prepare(trusted: insertion) else {
            throw EngineError(code: EngineCode.error, message: "The statement is empty")
        }
        return Insertion(statement)
    }
}

extension EngineError {
    /// Whether another statement may still succeed.
    fileprivate var isOfStatement: Bool { ![EngineCode.full, EngineCode.ioError, EngineCode.interrupt].contains(primaryCode) }
}
