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
        try makeVirtualTables()
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

    /// Rows of pages that were committed behind a damaged frame of the log, which the same page does not have
    /// without them.
    private func readDamagedLog(_ file: PageFile, _ numbers: [Int]) throws {
        let logged = try SalvagedPages(file, threadCount: options.threadCount) { _ in try checkpoint() }
        let loggedReader = TreeReader(logged)
        let numbers = Set(numbers)
        var known: (page: Int, rows: [Int64: [TreeReader.Row]]) = (0, [:])
        func add(_ row: TreeReader.Row, _ table: String?) throws {
            try count()
            guard numbers.contains(row.page) else { return }
            if known.page != row.page {
                known = (row.page, Dictionary(grouping: try rows(ofPage: row.page), by: \.rowID))
            }
            let isKnown = known.rows[row.rowID]?.contains { $0.record.values == row.record.values }
            guard isKnown != true else { return }
            try lost.add(row, table: table, reason: LostRows.behindDamage)
        }

        for entry in schema.tables {
            let isTable = try logged.tree(entry.root)?.kind.isOfTable ?? true
            _ = try loggedReader.read(root: entry.root, isTable: isTable) { try add($0, entry.name) }
        }
        for number in numbers.sorted() where number > 1 && !loggedReader.isTaken(number) {
            guard let content = try logged.content(number) else { continue }
            let stray = try loggedReader.strayRows(onPage: number, content, isTable: true)
            for row in stray?.rows ?? [] { try add(row, nil) }
        }
    }

    /// The rows of a page that are all on it.
    private func rows(ofPage number: Int) throws -> [TreeReader.Row] {
        var rows: [TreeReader.Row] = []
        guard let page = try pages.tree(number) else { return [] }
        page.forEachCell { cell in
            guard let cell, let payload = cell.payload, payload.overflowPage == nil,
                let record = StoredRecord(page.local(payload), isWhole: true)
            else { return }
            rows.append(TreeReader.Row(page: number, rowID: cell.rowID, record: record))
        }
        return rows
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
                from: "\(kept) WHERE \(LostRows.rowID) NOT IN (SELECT \(fields.rowID) FROM main.\(name))",
                values: fields.others, table: tables[owner].table.name, reason: words(error))
            try destination.execute(trusted: "DROP TABLE \(kept)")
            try destination.execute("RELEASE unique_index")
            tables[owner].refuse(refused)
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
        let table = try SalvagedTable(
            name: entry.name, in: destination, encoding: schema.encoding, buffer: buffer)
        // The rows that were salvaged have left their highest row IDs there, which are all that is known
        // where this table is lost.
        if try pages.tree(entry.root) != nil { try destination.execute("DELETE FROM main.sqlite_sequence") }
        _ = try read(entry.root, isTable: true) { rows in
            _ = try table.insert(rows) { row, reason in
                try lost.add(row, table: entry.name, reason: reason)
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
    private func makeViewsAndTriggers() throws {
        for entry in schema.entriesWithoutTree where entry.type != "table" {
            guard let sql = entry.sql else { continue }
            let kind: StoredDefinition.Kind = entry.type == "view" ? .view : .trigger
            _ = try create(StoredDefinition(kind: kind, name: entry.name, sql: sql))
        }
    }

    private func makeVirtualTables() throws {
        let insertion =
            "INSERT INTO main.sqlite_master (type, name, tbl_name, sql, rootpage) VALUES (?1, ?2, ?3, ?4, 0)"
        guard let insert = try destination.prepare(trusted: insertion) else { return }
        let entries = schema.entriesWithoutTree.filter { $0.type == "table" }
        var damaged = entries.filter(hasLost(partOf:))
        var made: [SalvagedSchema.Entry] = []
        try destination.execute("BEGIN IMMEDIATE")
        for entry in entries where !damaged.contains(where: { $0.name == entry.name }) {
            guard let sql = entry.sql else { continue }
            do {
                try StoredDefinition(kind: .virtualTable, name: entry.name, sql: sql).compile(on: destination)
            } catch let error as EngineError where error.isOfStatement {
                problems.append("\(entry.name) could not be made: \(words(error))")
                continue
            }
            // The engine takes a schema for damaged in which a table is said to be one of another name.
            for (index, text) in [entry.type, entry.name, entry.name, sql].enumerated() {
                try destination.check(insert.handle.bind(text, at: CInt(index + 1)))
            }
            let code = insert.handle.step()
            guard code == EngineCode.done else {
                throw EngineError(code: code, message: destination.lastErrorMessage)
            }
            insert.handle.reset()
            made.append(entry)
        }
        try destination.execute("COMMIT")
        // What does not open, or is not whole, would cost the whole salvage its proof.
        if !made.isEmpty { try readSchemaAgain() }
        for entry in made {
            guard let reason = try reasonNotToKeep(entry) else { continue }
            try removeFromSchema(entry)
            if entry.isFullText || entry.isRTree, !parts(of: entry).isEmpty {
                damaged.append(entry)
            } else {
                problems.append(
                    "\(entry.name) was not made (\(reason)). What was read of the tables that it consists of "
                        + "is there.")
            }
        }
        for entry in damaged { try makeAnew(entry) }
    }

    private func removeFromSchema(_ entry: SalvagedSchema.Entry) throws {
        let sql = "DELETE FROM main.sqlite_master WHERE type = 'table' AND name = ?1 AND rootpage = 0"
        guard let deletion = try destination.prepare(trusted: sql) else { return }
        try destination.check(deletion.handle.bind(entry.name, at: 1))
        let code = deletion.handle.step()
        guard code == EngineCode.done else {
            throw EngineError(code: code, message: destination.lastErrorMessage)
        }
        try readSchemaAgain()
    }

    /// Has the connection see what was written into its schema.
    private func readSchemaAgain() throws {
        try destination.execute("PRAGMA writable_schema = RESET; PRAGMA writable_schema = ON")
    }

    /// Opens a virtual table that was made of its stored tables, and has its module look at them.
    ///
    /// - Returns: nil when it can be used, also where only the application has its module or its tokenizer.
    private func reasonNotToKeep(_ entry: SalvagedSchema.Entry) throws -> String? {
        let name = entry.name.quotedDatabaseIdentifier
        do {
            try destination.forEachRow(trusted: "SELECT 1 FROM main.\(name) LIMIT 0") { _ in }
            let answer = try destination.column(trusted: "PRAGMA main.quick_check(\(name))")
            return answer == ["ok"] ? nil : answer.first ?? "no answer"
        } catch let error as EngineError where error.isOfMissingModule {
            return nil
        } catch let error as EngineError where error.isOfStatement {
            return words(error)
        }
    }

    // MARK: Parts of virtual tables

    /// The places of the tables in which a virtual table keeps its content. Others may have names that begin
    /// with its own.
    private func parts(of entry: SalvagedSchema.Entry) -> [Int] {
        let names = Set(entry.namesOfParts.map(CaseInsensitiveName.init))
        return tables.indices.filter { names.contains(CaseInsensitiveName(tables[$0].table.name)) }
    }

    private func hasLost(partOf entry: SalvagedSchema.Entry) -> Bool {
        parts(of: entry).contains { tables[$0].hasLostRows }
    }

    /// Makes a virtual table anew from what is left of its tables: an index that has lost a part of itself
    /// finds other rows than there are.
    ///
    /// It is a full-text table or an R-Tree. Others are not made, and what was read of their tables stays
    /// there.
    private func makeAnew(_ entry: SalvagedSchema.Entry) throws {
        guard entry.isFullText || entry.isRTree, let sql = entry.sql else {
            return problems.append(
                "\(entry.name) was not made, as tables that it consists of have lost rows. They are there.")
        }
        let parts = parts(of: entry)
        for part in parts { tables[part].table.finish() }
        var tree: SalvagedRTree.Result?
        try destination.execute("SAVEPOINT anew")
        do {
            if entry.isFullText {
                try makeFullText(entry, sql, of: parts)
            } else {
                tree = try SalvagedRTree(
                    entry, sql: sql, in: destination, encoding: schema.encoding, freeName: freeName
                ).make(of: parts.map { tables[$0].table.name }, count: { try count() })
            }
            // What the module does not make again was no part of it, and stays.
            for part in parts {
                let name = tables[part].table.name.quotedDatabaseIdentifier
                try destination.execute(trusted: "SELECT 1 FROM main.\(name) LIMIT 0")
            }
            try destination.execute("RELEASE anew")
        } catch let error as EngineError where error.isOfStatement {
            // Some errors roll back all of it.
            if !destination.isAutocommit { try destination.execute("ROLLBACK TO anew; RELEASE anew") }
            return problems.append(
                "\(entry.name) could not be made anew (\(words(error))). What was read of the tables that "
                    + "it consists of is there."
            )
        }
        // Not before: a full-text table writes its index at the end of a transaction.
        for part in parts {
            let name = tables[part].table.name.quotedDatabaseIdentifier
            try destination.forEachRow(trusted: "SELECT count(*) FROM main.\(name)") {
                tables[part].makeAnew(rowCount: Int($0.int64(at: 0)))
            }
        }
        if let tree {
            try keepLostRows(of: tree, entry.name)
        } else {
            problems.append("The full-text index of \(entry.name) was made anew from the rows that are left.")
        }
    }

    private func makeFullText(_ entry: SalvagedSchema.Entry, _ sql: String, of parts: [Int]) throws {
        let name = entry.name.quotedDatabaseIdentifier
        let content = "\(entry.name)_content".quotedDatabaseIdentifier
        let kept = freeName("coffer content").quotedDatabaseIdentifier
        let keepsContent = parts.contains { tables[$0].table.name == "\(entry.name)_content" }
        if keepsContent {
            try destination.execute(trusted: "CREATE TABLE \(kept) AS SELECT * FROM \(content)")
        }
        for part in parts {
            let name = tables[part].table.name.quotedDatabaseIdentifier
            try destination.execute(trusted: "DROP TABLE main.\(name)")
        }
        try StoredDefinition(kind: .virtualTable, name: entry.name, sql: sql).execute(on: destination)
        if keepsContent {
            try destination.execute(
                trusted: "INSERT INTO \(content) SELECT * FROM \(kept); DROP TABLE \(kept)")
        }
        try destination.execute(trusted: "INSERT INTO \(name)(\(name)) VALUES('rebuild')")
    }

    /// Puts rows that an R-Tree could not take into the tables for lost rows, once it is made for good.
    private func keepLostRows(of made: SalvagedRTree.Result, _ name: String) throws {
        let lostCount = try lost.add(from: made.lost, values: made.values, table: name, reason: nil)
        try destination.execute(trusted: "DROP TABLE \(made.lost)")
        var words = ["The R-Tree \(name) was made anew from the \(made.rowCount) rows that are left."]
        if lostCount > 0 {
            words.append(
                "\(lostCount) rows of which a part is lost, or that it refuses, are in the tables for lost "
                    + "rows.")
        }
        if made.unreadableCount > 0 {
            words.append("Of \(made.unreadableCount) cells of its nodes nothing could be made.")
        }
        problems.append(words.joined(separator: " "))
    }
}
