internal import SQLCipherBridge

/// Makes a new database of what can be read of a damaged one.
///
/// What is certain goes into the tables: rows that the trees of the tables lead to, and rows of pages that no
/// tree leads to where only one table has lost rows of their numbers and their shape. Everything else that
/// was read goes to tables of its own, `lost_and_found_N` for rows of N values, with the page it comes from
/// and the reason.
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
    /// The tables of virtual tables that were dropped, and made again by their module.
    private var isMadeAnew: Set<String> = []

    private struct Target {
        let table: SalvagedTable
        var report: DatabaseFile.Salvage.Table
        let loss: TreeReader.Loss
        /// How many rows came back from pages that no tree leads to.
        var strayRowCount = 0

        /// Whether a page that is missing may have had rows from one row ID to another.
        func misses(_ first: Int64, _ last: Int64) -> Bool {
            var range = loss.pages.indices
            while !range.isEmpty {
                let middle = range.lowerBound + range.count / 2
                let rowIDs = loss.pages[middle].rowIDs
                if rowIDs.upperBound < first {
                    range = middle + 1..<range.upperBound
                } else if rowIDs.lowerBound > first {
                    range = range.lowerBound..<middle
                } else {
                    return rowIDs.contains(last)
                }
            }
            return false
        }
    }

    init(
        _ pages: SalvagedPages, into destination: ConnectionHandle, _ options: DatabaseFile.SalvageOptions,
        _ progress: ProgressReport
    )
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
        let proof: SalvageProof
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
        if !schema.isWhole {
            problems.append("The schema could not be read to its end: what is missing of it was not made.")
        }
        // Without a journal, a statement that fails in the middle, such as one for an index that rows break,
        // would leave the file damaged. The journal has no page that was made since the transaction began.
        guard try destination.firstText(trusted: "PRAGMA main.journal_mode = MEMORY") == "memory" else {
            throw EngineError(
                code: EngineCode.error, message: "The new file cannot be written with a journal")
        }
        try destination.execute("BEGIN IMMEDIATE")
        for entry in schema.tables where entry.name != "sqlite_sequence" { try makeTable(entry) }
        try FailPoint.copying.pass("")
        try makeSequences()
        var areIndexesWhole = true
        for index in schema.indexes where index.root > 0 {
            if try !reader.read(root: index.root, isTable: false, nil).isNothing { areIndexesWhole = false }
        }
        let isFreeListWhole = try pages.forEachFreePage(reader.setFree)
        try readStrayPages(isCertain: isFreeListWhole && schema.isWhole, areIndexesWhole: areIndexesWhole)
        if options.includesDamagedPages { try readDamagedPages() }
        estimateLosses()
        try makeIndexes()
        try makeEntriesWithoutTree()
        if let header {
            try destination.execute(trusted: "PRAGMA user_version = \(header.userVersion)")
            try destination.execute(trusted: "PRAGMA application_id = \(header.applicationID)")
        }
        try destination.execute("COMMIT")
        if lost.freeRowCount > 0 {
            problems.append(
                "\(lost.freeRowCount) rows in the tables for lost rows are from free pages: they were "
                    + "deleted, or moved, before."
            )
        }
        return Result(
            proof: try SalvageProof(of: destination, rowCounts: rowCounts), tables: tables.map(\.report),
            lostRowCount: lost.count,
            unassignedPages: unassigned, problems: problems)
    }

    /// How many rows were put into each table that was not made anew.
    private var rowCounts: [String: Int] {
        var counts = lost.rowCounts
        for target in tables where !isMadeAnew.contains(target.table.name) {
            counts[target.table.name] = target.report.rowCount
        }
        return counts
    }

    private func checkpoint() throws {
        try progress(.copying, min(reader.takenCount, pages.pageCount), of: pages.pageCount)
    }

    // MARK: Tables

    private func makeTable(_ entry: SalvagedSchema.Entry) throws {
        guard let sql = entry.sql, try create(StoredDefinition(kind: .table, name: entry.name, sql: sql))
        else {
            // Its rows are known to be of it, and have no place.
            let isTable = try pages.tree(entry.root)?.kind.isOfTable ?? true
            _ = try read(entry.root, isTable: isTable) { row in
                try lost.add(row, table: entry.name, reason: "the table could not be made")
            }
            return
        }
        let table = try SalvagedTable(name: entry.name, in: destination, encoding: schema.encoding)
        var report = DatabaseFile.Salvage.Table(name: entry.name)
        let loss = try read(entry.root, isTable: table.hasRowIDs) { row in try add(row, to: table, &report) }
        if table.hasRowIDs { report.missingRowIDs = loss.pages.map(\.rowIDs) }
        report.missingPageCount = loss.pageCount
        report.unreadableRowCount = loss.rowCount
        tables.append(Target(table: table, report: report, loss: loss))
    }

    private func read(_ root: Int, isTable: Bool, _ body: (TreeReader.Row) throws -> Void) throws
        -> TreeReader.Loss
    {
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

    private func add(
        _ row: TreeReader.Row, to table: SalvagedTable, _ report: inout DatabaseFile.Salvage.Table
    ) throws {
        if let reason = try table.insert(row) {
            try lost.add(row, table: table.name, reason: reason)
            report.refusedRowCount += 1
        } else {
            report.rowCount += 1
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

    private func words(_ error: EngineError) -> String {
        error.message ?? ConnectionHandle.describe(error.code)
    }

    // MARK: Pages that no tree leads to

    /// - Parameters:
    ///   - isCertain: whether such a page can only be one of a table or of an index. Where free pages are not
    ///     known, it may have rows that were deleted.
    ///   - areIndexesWhole: whether it cannot be one of an index.
    private func readStrayPages(isCertain: Bool, areIndexesWhole: Bool) throws {
        let clustered = tables.indices.filter {
            !tables[$0].table.hasRowIDs && tables[$0].report.missingPageCount > 0
        }
        for number in 1...max(1, pages.pageCount) where number > 1 && !reader.isTaken(number) {
            let isFree = reader.isFree(number)
            guard !isFree || options.includesFreePages, let content = try pages.content(number) else {
                continue
            }
            // An interior page of a table has nothing of its own, and its children are looked at themselves.
            if let stray = try reader.strayRows(onPage: number, content, isTable: true) {
                let owner = isCertain && !isFree && stray.isSound ? owner(of: stray.rows) : nil
                try add(
                    stray.rows, from: number, to: owner,
                    reason: isFree ? LostRows.free : "no tree leads to the page")
            } else if !schema.isWhole || !clustered.isEmpty || isFree,
                let stray = try reader.strayRows(onPage: number, content, isTable: false)
            {
                // Of a table that is ordered by its primary key, where it is not of an index.
                let owner =
                    isCertain && areIndexesWhole && !isFree && stray.isSound
                    ? clusteredOwner(of: stray.rows, clustered) : nil
                let reason =
                    areIndexesWhole
                    ? "no tree leads to the page" : "no tree leads to the page, which may be one of an index"
                try add(stray.rows, from: number, to: owner, reason: isFree ? LostRows.free : reason)
            }
        }
    }

    private func add(_ rows: [TreeReader.Row], from page: Int, to owner: Int?, reason: String) throws {
        if owner == nil, reason != LostRows.free { unassigned.append(page) }
        for row in rows {
            try count()
            if let owner {
                try add(row, to: tables[owner].table, &tables[owner].report)
                tables[owner].strayRowCount += 1
            } else {
                try lost.add(row, table: nil, reason: reason)
            }
        }
    }

    /// The only table that can have lost these rows, if there is one.
    private func owner(of rows: [TreeReader.Row]) -> Int? {
        guard let first = rows.first?.rowID, let last = rows.last?.rowID else { return nil }
        return only(
            of: tables.indices.filter { index in
                let target = tables[index]
                return target.table.hasRowIDs && target.misses(first, last)
                    && rows.allSatisfy(target.table.fits)
            }, with: rows)
    }

    private func clusteredOwner(of rows: [TreeReader.Row], _ candidates: [Int]) -> Int? {
        only(of: candidates.filter { index in rows.allSatisfy(tables[index].table.fits) }, with: rows)
    }

    /// The one candidate that there is; of several, the only one all of whose columns the rows have.
    private func only(of candidates: [Int], with rows: [TreeReader.Row]) -> Int? {
        if candidates.count <= 1 { return candidates.first }
        let complete = candidates.filter { index in
            rows.allSatisfy { $0.record.values.count == tables[index].table.columnCount }
        }
        return complete.count == 1 ? complete.first : nil
    }

    /// Rows of pages without the right code, with the table whose tree leads to the page.
    private func readDamagedPages() throws {
        var owners: [Int: String] = [:]
        for target in tables { for page in target.loss.pages { owners[page.number] = target.table.name } }
        for number in pages.damagedPages where number > 1 {
            guard let content = try pages.storedContent(number) else { continue }
            let stray = try reader.strayRows(onPage: number, content, isTable: true)
            let rows = try (stray ?? reader.strayRows(onPage: number, content, isTable: false))?.rows ?? []
            for row in rows {
                try count()
                try lost.add(row, table: owners[number], reason: "the page is not authentic")
            }
        }
    }

    private func estimateLosses() {
        for index in tables.indices {
            let target = tables[index]
            tables[index].report.estimatedLostRowCount = target.loss.estimatedRowCount.map {
                max(0, Int(min($0, 1e15).rounded()) - target.strayRowCount)
            }
        }
    }

    // MARK: The rest of the schema

    private func makeIndexes() throws {
        // Those without SQL belong to constraints, and were made with their tables.
        for index in schema.indexes {
            guard let sql = index.sql else { continue }
            try checkpoint()
            let definition = StoredDefinition(kind: .index, name: index.name, sql: sql)
            do {
                try definition.execute(on: destination)
            } catch let error as EngineError where error.primaryCode == EngineCode.constraint {
                try make(definition, of: index.table, withoutRowsThatBreakIt: error)
            } catch let error as EngineError where error.isOfStatement {
                problems.append("\(index.name) could not be made: \(words(error))")
            }
        }
    }

    /// Makes an index that rows of its table break, which go to the tables for lost rows: of those that are
    /// alike, the first one stays.
    private func make(
        _ definition: StoredDefinition, of table: String, withoutRowsThatBreakIt error: EngineError
    ) throws {
        let owner = tables.firstIndex { CaseInsensitiveName($0.table.name) == CaseInsensitiveName(table) }
        guard let owner, let fields = tables[owner].table.fields else {
            return problems.append("\(definition.name) could not be made: \(words(error))")
        }
        let kept = freeName("coffer kept").quotedDatabaseIdentifier
        let name = tables[owner].table.name.quotedDatabaseIdentifier
        let columns = ([fields.rowID] + fields.others).joined(separator: ", ")
        tables[owner].table.finish()
        try destination.execute("SAVEPOINT unique_index")
        do {
            // The columns of the copy have the affinity of those of the table, so that no value becomes
            // another one.
            try destination.execute(
                trusted:
                    "CREATE TABLE \(kept) AS SELECT \(fields.rowID) AS \(LostRows.rowID), \(columns) FROM "
                    + "main.\(name); DELETE FROM main.\(name)")
            try definition.execute(on: destination)
            try destination.execute(
                trusted: "INSERT OR IGNORE INTO main.\(name) (\(columns)) "
                    + "SELECT \(columns) FROM \(kept) ORDER BY \(LostRows.rowID)")
            let refused = try lost.add(
                from: kept, values: fields.others, notIn: (name, fields.rowID),
                table: tables[owner].table.name, reason: words(error))
            try destination.execute(trusted: "DROP TABLE \(kept)")
            try destination.execute("RELEASE unique_index")
            tables[owner].report.rowCount -= refused
            tables[owner].report.refusedRowCount += refused
        } catch let error as EngineError where error.isOfStatement {
            try destination.execute("ROLLBACK TO unique_index; RELEASE unique_index")
            problems.append("\(definition.name) could not be made: \(words(error))")
        }
    }

    private func makeSequences() throws {
        guard let entry = schema.tables.first(where: { $0.name == "sqlite_sequence" }) else { return }
        if try destination.firstText(
            trusted: "SELECT 1 FROM main.sqlite_master WHERE name = 'sqlite_sequence'") == nil
        {
            // SQLite makes it with the first table that needs it, and keeps it when that one is dropped.
            let name = freeName("coffer sequence").quotedDatabaseIdentifier
            try destination.execute(
                trusted: "CREATE TABLE \(name) (id INTEGER PRIMARY KEY AUTOINCREMENT); DROP TABLE \(name)")
        }
        let table = try SalvagedTable(name: entry.name, in: destination, encoding: schema.encoding)
        // The rows that were salvaged have left their highest row IDs there, which are all that is known
        // where this table is lost.
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
    ///
    /// Each is compiled: one that the engine cannot read, as the table of a trigger that could not be made,
    /// would keep it from all of the schema.
    private func makeEntriesWithoutTree() throws {
        for entry in schema.entriesWithoutTree where entry.type != "table" {
            guard let sql = entry.sql else { continue }
            let kind: StoredDefinition.Kind = entry.type == "view" ? .view : .trigger
            _ = try create(StoredDefinition(kind: kind, name: entry.name, sql: sql))
        }
        try makeVirtualTables()
    }

    private func makeVirtualTables() throws {
        let insertion =
            "INSERT INTO main.sqlite_master (type, name, tbl_name, sql, rootpage) VALUES (?1, ?2, ?3, ?4, 0)"
        guard let insert = try destination.prepare(trusted: insertion) else { return }
        let damaged = schema.entriesWithoutTree.filter { $0.type == "table" && hasLost(partOf: $0) }
        for entry in schema.entriesWithoutTree
        where entry.type == "table" && !damaged.contains(where: { $0.name == entry.name }) {
            guard let sql = entry.sql else { continue }
            do {
                try StoredDefinition(kind: .virtualTable, name: entry.name, sql: sql).compile(on: destination)
            } catch let error as EngineError where error.isOfStatement {
                problems.append("\(entry.name) could not be made: \(words(error))")
                continue
            }
            for (index, text) in [entry.type, entry.name, entry.table, sql].enumerated() {
                try destination.check(insert.handle.bind(text, at: CInt(index + 1)))
            }
            let code = insert.handle.step()
            guard code == EngineCode.done else {
                throw EngineError(code: code, message: destination.lastErrorMessage)
            }
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
        if isFullText(entry) {
            return ["config", "content", "data", "docsize", "idx", "segdir", "segments", "stat"]
        }
        return ["node", "parent", "rowid"]
    }

    private func isFullText(_ entry: SalvagedSchema.Entry) -> Bool {
        let words = (entry.sql ?? "").lowercased()
        return ["fts3", "fts4", "fts5"].contains {
            words.contains("using \($0)") || words.contains("using \"\($0)\"")
        }
    }

    private func hasLost(partOf entry: SalvagedSchema.Entry) -> Bool {
        parts(of: entry).contains { part in
            part.report.missingPageCount + part.report.unreadableRowCount + part.report.refusedRowCount > 0
        }
    }

    /// Makes the index of a full-text table anew from its content: an index that has lost a part of itself
    /// finds other rows than there are.
    ///
    /// Other virtual tables are not made. What was read of their tables stays there.
    private func makeAnew(_ entry: SalvagedSchema.Entry) throws {
        guard isFullText(entry), let sql = entry.sql else {
            return problems.append(
                "\(entry.name) was not made, as tables that it consists of have lost rows. They are there.")
        }
        let name = entry.name.quotedDatabaseIdentifier
        let content = "\(entry.name)_content"
        let kept = freeName("coffer content")
        let keepsContent = parts(of: entry).contains { $0.table.name == content }
        try destination.execute("SAVEPOINT anew")
        do {
            if keepsContent {
                try destination.execute(
                    trusted:
                        "CREATE TABLE \(kept.quotedDatabaseIdentifier) AS SELECT * FROM "
                        + "\(content.quotedDatabaseIdentifier)"
                )
            }
            for part in parts(of: entry) {
                part.table.finish()
                isMadeAnew.insert(part.table.name)
            }
            for part in parts(of: entry) {
                try destination.execute(
                    trusted: "DROP TABLE main.\(part.table.name.quotedDatabaseIdentifier)")
            }
            try StoredDefinition(kind: .virtualTable, name: entry.name, sql: sql).execute(on: destination)
            if keepsContent {
                try destination.execute(
                    trusted:
                        "INSERT INTO \(content.quotedDatabaseIdentifier) SELECT * FROM "
                        + "\(kept.quotedDatabaseIdentifier); DROP TABLE \(kept.quotedDatabaseIdentifier)")
            }
            try destination.execute(trusted: "INSERT INTO \(name)(\(name)) VALUES('rebuild')")
            try destination.execute("RELEASE anew")
            problems.append("The full-text index of \(entry.name) was made anew from the rows that are left.")
        } catch let error as EngineError where error.isOfStatement {
            try destination.execute("ROLLBACK TO anew; RELEASE anew")
            problems.append(
                "\(entry.name) could not be made anew (\(words(error))). What was read of the tables that "
                    + "it consists of is there."
            )
        }
    }
}

extension EngineError {
    /// Whether another statement may still succeed.
    fileprivate var isOfStatement: Bool {
        ![EngineCode.full, EngineCode.ioError, EngineCode.interrupt].contains(primaryCode)
    }
}
