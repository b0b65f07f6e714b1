internal import SQLCipherBridge

/// Creates a new database from everything that can be read of a damaged one.
///
/// Rows go into the tables only if they certainly belong there: rows that the b-trees of the tables lead to,
/// and rows of pages that no b-tree leads to if only one table has lost rows with their row IDs and their
/// shape. All other rows go to tables of their own, `lost_and_found_N` for rows of N values, with the page
/// they come from and the reason.
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
    /// A buffer shared by all tables, which are filled one after the other.
    private let buffer = RecordBuffer(capacity: 1 << 16)
    private let lost: LostRows
    private var problems: [String] = []
    private var unassigned: [Int] = []
    /// True if `sqlite_sequence` has the values of the damaged file.
    private var hasSequences = false
    private var rowCount = 0
    /// The number of pages taken when the last part of a tree was read. The reader's own count is off limits
    /// while another thread reads the next part.
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

    /// The result of a salvage.
    struct Result {
        let proof: SalvageProof
        let tables: [DatabaseFile.Salvage.Table]
        let lostRowCount: Int
        let unassignedPages: [Int]
        let problems: [String]
        /// See ``SalvagedPages/damagedPages(progress:)``.
        let damagedPages: [Int]
    }

    /// Creates everything: the tables and their rows in one transaction, the virtual tables in others.
    func make() throws -> Result { try destination.watched(by: checkpoint, makeEverything) }

    private func makeEverything() throws -> Result {
        try destination.acceptContentOfAnotherDatabase()
        destination.limitLength(ofRecord: pages.present.count * pages.usableSize)
        // Definitions must not call engine functions with side effects. The caller's functions may lack
        // SQLITE_INNOCUOUS, so this is done only without them.
        if options.functions.isEmpty { try destination.execute("PRAGMA trusted_schema = OFF") }
        try destination.execute(trusted: "PRAGMA encoding = '\(schema.encoding.rawValue)'")
        if let header { try destination.execute(trusted: "PRAGMA auto_vacuum = \(header.autoVacuum)") }
        if !schema.isWhole {
            problems.append("The schema could not be read completely. The missing part was not created.")
        }
        // Without a journal, a statement that fails in the middle would leave the file damaged, for example
        // the creation of an index that existing rows violate. An in-memory journal would then hold all pages
        // of such a table.
        guard try destination.firstText(trusted: "PRAGMA main.journal_mode = TRUNCATE") == "truncate" else {
            throw EngineError(
                code: EngineCode.error, message: "The new file cannot be written with a journal")
        }
        try destination.execute("BEGIN IMMEDIATE")
        for entry in schema.tables where !entry.isOfSequences { try makeTable(entry) }
        try FailPoint.copying.pass("")
        try makeSequences()
        var lossOfIndexes = (pageCount: 0, isNothing: true)
        for index in schema.indexes where index.root > 0 {
            let loss = try reader.read(root: index.root, isTable: false, nil)
            lossOfIndexes.pageCount += loss.pageCount
            if !loss.isNothing { lossOfIndexes.isNothing = false }
        }
        let isFreeListWhole = try pages.forEachFreePage(reader.setFree)
        try readStrayPages(
            isCertain: isFreeListWhole && schema.isWhole, areIndexesWhole: lossOfIndexes.isNothing)
        let damagedPages = try pages.damagedPages(progress: checkpoint)
        if options.includesDamagedPages { try read(damaged: damagedPages) }
        if let behindDamage { try readDamagedLog(behindDamage.file, behindDamage.pages) }
        try tables.estimateLosses(
            unreadableCount: damagedPages.count + pages.missingCount() - lossOfIndexes.pageCount,
            sequences: hasSequences ? destination : nil)
        // Building an index needs memory for sorting, and the C library caches freed memory for each thread.
        FreeMemory.giveBack()
        try makeIndexes()
        try makeViewsAndTriggers()
        try keepEncoding()
        if let header {
            try destination.execute(trusted: "PRAGMA user_version = \(header.userVersion)")
            try destination.execute(trusted: "PRAGMA application_id = \(header.applicationID)")
        }
        try destination.execute("COMMIT")
        // A module that runs out of memory because of a forged index rolls back the transaction.
        var virtualTables = SalvagedVirtualTables(
            of: schema, among: tables, in: destination, lost: lost, count: { try self.count() })
        try virtualTables.make()
        tables = virtualTables.tables
        problems += virtualTables.problems
        if lost.freeRowCount > 0 {
            problems.append(
                "\(lost.freeRowCount) rows in the tables for lost rows are from free pages: they had been "
                    + "deleted or moved."
            )
        }
        return Result(
            proof: try SalvageProof(of: destination, rowCounts: rowCounts), tables: tables.map(\.report),
            lostRowCount: lost.count,
            unassignedPages: unassigned, problems: problems.map(\.readableIdentifier),
            damagedPages: damagedPages)
    }

    /// The number of rows that were inserted into each table.
    private var rowCounts: [ExactText: Int] {
        var counts = lost.rowCounts
        for target in tables { counts[ExactText(target.table.name)] = target.report.rowCount }
        return counts
    }

    private func checkpoint() throws {
        try progress(.copying, min(takenCount, pages.present.count), of: pages.present.count)
    }

    // MARK: Tables

    private func makeTable(_ entry: SalvagedSchema.Entry) throws {
        guard let sql = entry.sql, try create(StoredDefinition(kind: .table, name: entry.name, sql: sql))
        else {
            // The table of these rows is known, but it does not exist.
            let isTable = try pages.tree(entry.root)?.kind.isOfTable ?? true
            _ = try read(entry.root, isTable: isTable) { rows in
                for row in rows {
                    try lost.add(row, table: entry.name, reason: "the table could not be created")
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

    /// Reads a tree. Another thread reads the next part while the current thread uses the previous one.
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

    /// A walk that another thread continues.
    // @unchecked: while that thread continues the walk, this one only inserts rows. It waits before it
    // touches the walk, its reader or its pages again.
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

    /// - Returns: true if the engine accepted the definition. If not, the reason is added to the problems.
    private func create(_ definition: StoredDefinition) throws -> Bool {
        do {
            try definition.execute(on: destination)
            return true
        } catch let error as EngineError where error.isOfStatement {
            problems.append("\(definition.name) could not be created: \(error.words)")
            return false
        }
    }

    // MARK: Pages that no tree leads to

    /// - Parameters:
    ///   - isCertain: true if such a page can only belong to a table or an index. If the free pages are not
    ///     known, it may be a free page with deleted rows.
    ///   - areIndexesWhole: true if it cannot belong to an index.
    private func readStrayPages(isCertain: Bool, areIndexesWhole: Bool) throws {
        let mayBeClustered = tables.haveLostClusteredPages
        for number in pages.present.numbers where number > 1 && !reader.isTaken(number) {
            let isFree = reader.isFree(number)
            guard !isFree || options.includesFreePages, let content = try pages.content(number) else {
                continue
            }
            // An interior page of a table has no rows, and its children are checked on their own.
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
                // It belongs to a table that is ordered by its primary key, unless it belongs to an index.
                let owner =
                    isCertain && areIndexesWhole && !isFree && stray.isSound
                    ? tables.owner(of: stray.rows, hasRowIDs: false) : nil
                let reason =
                    areIndexesWhole
                    ? "no tree leads to the page" : "no tree leads to the page, which may belong to an index"
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

    /// Adds the rows of pages with wrong MACs to the lost rows, with the table whose b-tree leads to the
    /// page.
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

    /// Adds the rows of pages that were committed after a damaged frame of the log to the lost rows.
    private func readDamagedLog(_ file: PageFile, _ numbers: [Int]) throws {
        let logged = try RowsBehindDamage(file, numbers)
        try logged.forEach(notAmong: pages, of: schema.tables, progress: { try count() }) { row, table in
            try lost.add(row, table: table, reason: LostRows.behindDamage)
        }
    }

    // MARK: The rest of the schema

    private func makeIndexes() throws {
        // Indexes without SQL belong to constraints, and were created with their tables.
        for index in schema.indexes {
            guard let sql = index.sql else { continue }
            try checkpoint()
            let definition = StoredDefinition(kind: .index, name: index.name, sql: sql)
            do {
                try definition.execute(on: destination)
            } catch let error as EngineError where error.primaryCode == EngineCode.constraint {
                try make(definition, of: index.table, withoutRowsThatBreakIt: error)
            } catch let error as EngineError where error.isOfStatement {
                problems.append("\(index.name) could not be created: \(error.words)")
            }
        }
    }

    /// Creates a unique index that some rows of its table violate. Among rows with equal keys, the first one
    /// stays, and the others go to the tables for lost rows.
    private func make(
        _ definition: StoredDefinition, of table: String, withoutRowsThatBreakIt error: EngineError
    ) throws {
        let owner = tables.firstIndex { CaseInsensitiveName($0.table.name) == CaseInsensitiveName(table) }
        guard let owner, let fields = tables[owner].table.fields else {
            return problems.append("\(definition.name) could not be created: \(error.words)")
        }
        let kept = schema.freeName("coffer kept").quotedDatabaseIdentifier
        let name = tables[owner].table.name.quotedDatabaseIdentifier
        let columns = ([fields.rowID] + fields.others).joined(separator: ", ")
        tables[owner].table.finish()
        // Must happen outside the savepoint, which may be rolled back.
        try lost.makeTable(forValues: fields.others.count)
        try destination.execute("SAVEPOINT unique_index")
        do {
            // The columns of the copy have the affinity of the table's columns, so no value is converted.
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
            problems.append("\(definition.name) could not be created: \(error.words)")
        }
    }

    private func makeSequences() throws {
        let name = "sqlite_sequence"
        // The one that SQLite has created comes first: forged ones may have rows with the same row IDs.
        let all = schema.tables.filter(\.isOfSequences)
        let entries = all.filter { $0.name == name } + all.filter { $0.name != name }
        guard let first = entries.first else { return }
        if try destination.firstText(
            trusted: "SELECT 1 FROM main.sqlite_master WHERE name = 'sqlite_sequence'") == nil
        {
            // SQLite creates this table with the first table that needs it, and keeps it when that table is
            // dropped.
            let name = schema.freeName("coffer sequence").quotedDatabaseIdentifier
            try destination.execute(
                trusted: "CREATE TABLE \(name) (id INTEGER PRIMARY KEY AUTOINCREMENT); DROP TABLE \(name)")
        }
        let table = try SalvagedTable(
            name: name, in: destination, encoding: schema.encoding, buffer: buffer)
        // Inserting the salvaged rows has left their highest row IDs in this table. If the original table is
        // lost, they are the only known values.
        if try first.name == name && pages.tree(first.root) != nil {
            try destination.execute("DELETE FROM main.sqlite_sequence")
            hasSequences = true
        }
        for entry in entries {
            _ = try read(entry.root, isTable: true) { rows in
                _ = try table.insert(rows) { row, reason in
                    try lost.add(row, table: entry.name, reason: reason)
                }
            }
        }
    }

    /// Makes the file keep its text encoding even if no table was created: SQLite writes the encoding with
    /// the first table.
    private func keepEncoding() throws {
        guard schema.encoding != .utf8,
            try destination.firstText(trusted: "SELECT 1 FROM main.sqlite_master") == nil
        else { return }
        try destination.execute("CREATE TABLE text (encoding); DROP TABLE text")
    }

    /// Creates the views and triggers, which consist only of a row in the schema.
    ///
    /// Each one is compiled first. A definition that the engine cannot parse would make the whole schema
    /// unreadable, for example a trigger whose table could not be created.
    private func makeViewsAndTriggers() throws {
        for entry in schema.entriesWithoutTree where entry.type != "table" {
            guard let sql = entry.sql else { continue }
            let kind: StoredDefinition.Kind = entry.type == "view" ? .view : .trigger
            _ = try create(StoredDefinition(kind: kind, name: entry.name, sql: sql))
        }
    }
}
