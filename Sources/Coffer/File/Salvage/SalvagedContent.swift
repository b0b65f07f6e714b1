internal import SQLCipherBridge

/// Makes a new database of what can be read of a damaged one.
///
/// What is certain goes into the tables: rows that the trees of the tables lead to, and rows of pages that no
/// tree leads to where only one table has lost rows of their numbers and their shape. Everything else that
/// was read goes to tables of its own, `lost_and_found_N` for rows of N values, with the page it comes from
/// and the reason.
final class SalvagedContent {
    private let pages: SalvagedPages
    private let behindDamage: (file: PageFile, pages: [Int])?
    private let options: DatabaseFile.SalvageOptions
    private let destination: ConnectionHandle
    private let progress: ProgressReport

    private let header: DatabaseHeader?
    private let reader: TreeReader
    private let schema: SalvagedSchema
    private var tables: [SalvagedTarget] = []
    /// For all tables: they are filled one after the other.
    private let buffer = RecordBuffer(capacity: 1 << 16)
    private let lost: LostRows
    private var problems: [String] = []
    private var unassigned: [Int] = []
    private var rowCount = 0
    /// How many pages were taken when the last part of a tree was read: another thread reads the next one.
    private var takenCount = 0

    /// - Parameter behindDamage: see ``DamagedFile/behindDamage``.
    init(
        _ pages: SalvagedPages, behindDamage: (file: PageFile, pages: [Int])? = nil,
        into destination: ConnectionHandle, _ options: DatabaseFile.SalvageOptions,
        _ progress: ProgressReport
    )
        throws
    {
        self.pages = pages
        self.behindDamage = behindDamage
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
        /// See ``SalvagedPages/damagedPages(progress:)``.
        let damagedPages: [Int]
    }

    /// Makes everything: one transaction for what has rows, and others for virtual tables.
    func make() throws -> Result { try destination.watched(by: checkpoint, makeEverything) }

    private func makeEverything() throws -> Result {
        try destination.acceptContentOfAnotherDatabase()
        destination.limitLength(ofRecord: pages.present.count * pages.usableSize)
        // Functions of the engine that do more than compute are not for definitions. Those of the caller may
        // not be marked as such.
        if options.functions.isEmpty { try destination.execute("PRAGMA trusted_schema = OFF") }
        try destination.execute(trusted: "PRAGMA encoding = '\(schema.encoding.rawValue)'")
        if let header { try destination.execute(trusted: "PRAGMA auto_vacuum = \(header.autoVacuum)") }
        if !schema.isWhole {
            problems.append("The schema could not be read to its end: what is missing of it was not made.")
        }
        // Without a journal, a statement that fails in the middle, such as one for an index that rows break,
        // would leave the file damaged. In memory, it would take that for all pages of a table of which rows
        // break an index.
        guard try destination.firstText(trusted: "PRAGMA main.journal_mode = TRUNCATE") == "truncate" else {
            throw EngineError(
                code: EngineCode.error, message: "The new file cannot be written with a journal")
        }
        try destination.execute("BEGIN IMMEDIATE")
        for entry in schema.tables where !entry.isOfSequences { try makeTable(entry) }
        try FailPoint.copying.pass("")
        try makeSequences()
        var areIndexesWhole = true
        for index in schema.indexes where index.root > 0 {
            if try !reader.read(root: index.root, isTable: false, nil).isNothing { areIndexesWhole = false }
        }
        let isFreeListWhole = try pages.forEachFreePage(reader.setFree)
        try readStrayPages(isCertain: isFreeListWhole && schema.isWhole, areIndexesWhole: areIndexesWhole)
        let damagedPages = try pages.damagedPages(progress: checkpoint)
        if options.includesDamagedPages { try read(damaged: damagedPages) }
        if let behindDamage { try readDamagedLog(behindDamage.file, behindDamage.pages) }
        for index in tables.indices { tables[index].estimateLoss() }
        // The C library keeps for each thread what it has freed, and the sort for an index needs memory.
        FreeMemory.giveBack()
        try makeIndexes()
        try makeViewsAndTriggers()
        try keepEncoding()
        if let header {
            try destination.execute(trusted: "PRAGMA user_version = \(header.userVersion)")
            try destination.execute(trusted: "PRAGMA application_id = \(header.applicationID)")
        }
        try destination.execute("COMMIT")
        // A module that has no memory for what a forged index claims rolls back the transaction.
        var virtualTables = SalvagedVirtualTables(
            of: schema, among: tables, in: destination, lost: lost, count: { try self.count() })
        try virtualTables.make()
        tables = virtualTables.tables
        problems += virtualTables.problems
        if lost.freeRowCount > 0 {
            problems.append(
                "\(lost.freeRowCount) rows in the tables for lost rows are from free pages: they were "
                    + "deleted, or moved, before."
            )
        }
        return Result(
            proof: try SalvageProof(of: destination, rowCounts: rowCounts), tables: tables.map(\.report),
            lostRowCount: lost.count,
            unassignedPages: unassigned, problems: problems, damagedPages: damagedPages)
    }

    /// How many rows were put into each table.
    private var rowCounts: [String: Int] {
        var counts = lost.rowCounts
        for target in tables { counts[target.table.name] = target.report.rowCount }
        return counts
    }

    private func checkpoint() throws {
        try progress(.copying, min(takenCount, pages.present.count), of: pages.present.count)
    }

    // MARK: Tables

    private func makeTable(_ entry: SalvagedSchema.Entry) throws {
        guard let sql = entry.sql, try create(StoredDefinition(kind: .table, name: entry.name, sql: sql))
        else {
            // Its rows are known to be of it, and have no place.
            let isTable = try pages.tree(entry.root)?.kind.isOfTable ?? true
            _ = try read(entry.root, isTable: isTable) { rows in
                for row in rows {
                    try lost.add(row, table: entry.name, reason: "the table could not be made")
                }
            }
            return
        }
        let table = try SalvagedTable(
            name: entry.name, in: destination, encoding: schema.encoding, buffer: buffer)
        let target = try SalvagedTarget(table, lost: lost) { insert in
            try read(entry.root, isTable: table.hasRowIDs, insert)
        }
        tables.append(target)
    }

    /// Reads a tree: another thread reads the next part while this one uses the one before.
    ///
    /// - Parameter body: called with the rows of each part.
    private func read(_ root: Int, isTable: Bool, _ body: ([TreeReader.Row]) throws -> Void) throws
        -> TreeReader.Loss
    {
        let walk = TreeReader.Walk(reader, root: root, isTable: isTable, givesRows: true)
        var rows = try walk.next()
        while !walk.isAtEnd {
            takenCount = reader.takenCount
            let part = rows
            if options.threadCount > 1 {
                let shared = SharedWalk(walk: walk)
                rows = try SideWork<[TreeReader.Row]>.run(
                    side: { _ in try shared.walk.next() }, main: { _ in try use(part, body) }
                ).side
            } else {
                try use(part, body)
                rows = try walk.next()
            }
        }
        takenCount = reader.takenCount
        try use(rows, body)
        return walk.loss
    }

    /// A walk that another thread goes on with.
    // @unchecked: while that thread goes on, this one inserts rows; it waits before it touches the walk, its
    // reader or its pages.
    private struct SharedWalk: @unchecked Sendable {
        let walk: TreeReader.Walk
    }

    private func use(_ rows: [TreeReader.Row], _ body: ([TreeReader.Row]) throws -> Void) throws {
        try count(rows.count)
        try body(rows)
    }

    private func count(_ rows: Int = 1) throws {
        let before = rowCount / ContentFingerprint.rowsBetweenCheckpoints
        rowCount += rows
        if rowCount / ContentFingerprint.rowsBetweenCheckpoints > before { try checkpoint() }
    }

    /// - Returns: whether the engine took it; why not is among the problems.
    private func create(_ definition: StoredDefinition) throws -> Bool {
        do {
            try definition.execute(on: destination)
            return true
        } catch let error as EngineError where error.isOfStatement {
            problems.append("\(definition.name) could not be made: \(error.words)")
            return false
        }
    }

    // MARK: Pages that no tree leads to

    /// - Parameters:
    ///   - isCertain: whether such a page can only be one of a table or of an index. Where free pages are not
    ///     known, it may have rows that were deleted.
    ///   - areIndexesWhole: whether it cannot be one of an index.
    private func readStrayPages(isCertain: Bool, areIndexesWhole: Bool) throws {
        let mayBeClustered = tables.haveLostClusteredPages
        for number in pages.present.numbers where number > 1 && !reader.isTaken(number) {
            let isFree = reader.isFree(number)
            guard !isFree || options.includesFreePages, let content = try pages.content(number) else {
                continue
            }
            // An interior page of a table has nothing of its own, and its children are looked at themselves.
            if let stray = try reader.strayRows(onPage: number, content, isTable: true) {
                let owner =
                    isCertain && !isFree && stray.isSound
                    ? tables.owner(of: stray.rows, hasRowIDs: true) : nil
                try add(
                    stray.rows, from: number, to: owner,
                    reason: isFree ? LostRows.free : "no tree leads to the page")
            } else if !schema.isWhole || mayBeClustered || isFree,
                let stray = try reader.strayRows(onPage: number, content, isTable: false)
            {
                // Of a table that is ordered by its primary key, where it is not of an index.
                let owner =
                    isCertain && areIndexesWhole && !isFree && stray.isSound
                    ? tables.owner(of: stray.rows, hasRowIDs: false) : nil
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
                try tables[owner].insert(stray: row, lost: lost)
            } else {
                try lost.add(row, table: nil, reason: reason)
            }
        }
    }

    /// Rows of pages without the right code, with the table whose tree leads to the page.
    private func read(damaged numbers: [Int]) throws {
        var owners: [Int: String] = [:]
        for target in tables { for page in target.loss.pages { owners[page.number] = target.table.name } }
        for number in numbers where number > 1 {
            guard let content = try pages.storedContent(number) else { continue }
            let stray = try reader.strayRows(onPage: number, content, isTable: true)
            let rows = try (stray ?? reader.strayRows(onPage: number, content, isTable: false))?.rows ?? []
            for row in rows {
                try count()
                try lost.add(row, table: owners[number], reason: "the page is not authentic")
            }
        }
    }

    /// Rows of pages that were committed behind a damaged frame of the log.
    private func readDamagedLog(_ file: PageFile, _ numbers: [Int]) throws {
        let logged = try RowsBehindDamage(file, numbers)
        try logged.forEach(notAmong: pages, of: schema.tables, progress: { try count() }) { row, table in
            try lost.add(row, table: table, reason: LostRows.behindDamage)
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
                problems.append("\(index.name) could not be made: \(error.words)")
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
            return problems.append("\(definition.name) could not be made: \(error.words)")
        }
        let kept = schema.freeName("coffer kept").quotedDatabaseIdentifier
        let name = tables[owner].table.name.quotedDatabaseIdentifier
        let columns = ([fields.rowID] + fields.others).joined(separator: ", ")
        tables[owner].table.finish()
        // Outside of what may be rolled back.
        try lost.makeTable(forValues: fields.others.count)
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
                from: "\(kept) WHERE \(LostRows.rowID) NOT IN (SELECT \(fields.rowID) FROM main.\(name))",
                values: fields.others, table: tables[owner].table.name, reason: error.words)
            try destination.execute(trusted: "DROP TABLE \(kept)")
            try destination.execute("RELEASE unique_index")
            tables[owner].refuse(refused)
        } catch let error as EngineError where error.isOfStatement {
            try destination.execute("ROLLBACK TO unique_index; RELEASE unique_index")
            problems.append("\(definition.name) could not be made: \(error.words)")
        }
    }

    private func makeSequences() throws {
        let name = "sqlite_sequence"
        // The one that SQLite has made comes first: forged ones may have rows of the same row IDs.
        let all = schema.tables.filter(\.isOfSequences)
        let entries = all.filter { $0.name == name } + all.filter { $0.name != name }
        guard let first = entries.first else { return }
        if try destination.firstText(
            trusted: "SELECT 1 FROM main.sqlite_master WHERE name = 'sqlite_sequence'") == nil
        {
            // SQLite makes it with the first table that needs it, and keeps it when that one is dropped.
            let name = schema.freeName("coffer sequence").quotedDatabaseIdentifier
            try destination.execute(
                trusted: "CREATE TABLE \(name) (id INTEGER PRIMARY KEY AUTOINCREMENT); DROP TABLE \(name)")
        }
        let table = try SalvagedTable(
            name: name, in: destination, encoding: schema.encoding, buffer: buffer)
        // The rows that were salvaged have left their highest row IDs there, which are all that is known
        // where this table is lost.
        if try first.name == name && pages.tree(first.root) != nil {
            try destination.execute("DELETE FROM main.sqlite_sequence")
        }
        for entry in entries {
            _ = try read(entry.root, isTable: true) { rows in
                _ = try table.insert(rows) { row, reason in
                    try lost.add(row, table: entry.name, reason: reason)
                }
            }
        }
    }

    /// Has the file keep how its texts are stored where nothing was made: SQLite writes it with the first
    /// table.
    private func keepEncoding() throws {
        guard schema.encoding != .utf8,
            try destination.firstText(trusted: "SELECT 1 FROM main.sqlite_master") == nil
        else { return }
        try destination.execute("CREATE TABLE text (encoding); DROP TABLE text")
    }

    /// Views, triggers and virtual tables are rows of the schema, and nothing else.
    ///
    /// Each is compiled: one that the engine cannot read, as the table of a trigger that could not be made,
    /// would keep it from all of the schema.
    private func makeViewsAndTriggers() throws {
        for entry in schema.entriesWithoutTree where entry.type != "table" {
            guard let sql = entry.sql else { continue }
            let kind: StoredDefinition.Kind = entry.type == "view" ? .view : .trigger
            _ = try create(StoredDefinition(kind: kind, name: entry.name, sql: sql))
        }
    }
}
