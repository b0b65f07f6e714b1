internal import SQLCipherBridge

/// Makes the virtual tables of a damaged database, whose content is in tables that were made before.
///
/// Each is a row of the schema and nothing else, which its module then opens and checks. A full-text table or
/// an R-Tree of which a part is lost is made anew from what is left of its tables.
struct SalvagedVirtualTables {
    /// The tables that were made, some of which have the content of virtual ones.
    private(set) var tables: [SalvagedTarget]
    /// What could not be made, or is other than it was, in words.
    private(set) var problems: [String] = []

    private let schema: SalvagedSchema
    private let destination: ConnectionHandle
    private let lost: LostRows
    /// Called for each row.
    private let count: () throws -> Void

    init(
        of schema: SalvagedSchema, among tables: [SalvagedTarget], in destination: ConnectionHandle,
        lost: LostRows, count: @escaping () throws -> Void
    ) {
        self.tables = tables
        self.schema = schema
        self.destination = destination
        self.lost = lost
        self.count = count
    }

    /// Makes all of them, and makes those anew of which a part is lost.
    mutating func make() throws {
        let insertion =
            "INSERT INTO main.sqlite_master (type, name, tbl_name, sql, rootpage) VALUES (?1, ?2, ?3, ?4, 0)"
        guard let insert = try destination.prepare(trusted: insertion) else { return }
        let entries = schema.entriesWithoutTree.filter { $0.type == "table" }
        var damaged = entries.filter(hasLost(partOf:))
        var made: [SalvagedSchema.Entry] = []
        try destination.execute("BEGIN IMMEDIATE")
        for entry in entries where !damaged.contains(where: { $0.name == entry.name }) {
            guard let sql = entry.sql else { continue }
            guard !made.contains(where: { CaseInsensitiveName($0.name) == CaseInsensitiveName(entry.name) })
            else {
                problems.append("\(entry.name) is in the schema twice, and was made once.")
                continue
            }
            do {
                try StoredDefinition(kind: .virtualTable, name: entry.name, sql: sql).compile(on: destination)
            } catch let error as EngineError where error.isOfStatement {
                problems.append("\(entry.name) could not be made: \(error.words)")
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
        } catch let error as EngineError where error.isOfMissingDefinition {
            return nil
        } catch let error as EngineError where error.isOfStatement {
            return error.words
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
    private mutating func makeAnew(_ entry: SalvagedSchema.Entry) throws {
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
                    entry, sql: sql, in: destination, encoding: schema.encoding, freeName: schema.freeName
                ).make(of: parts.map { tables[$0].table.name }, count: count)
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
                "\(entry.name) could not be made anew (\(error.words)). What was read of the tables that "
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
        let kept = schema.freeName("coffer content").quotedDatabaseIdentifier
        let contentName = CaseInsensitiveName("\(entry.name)_content")
        let keepsContent = parts.contains { CaseInsensitiveName(tables[$0].table.name) == contentName }
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
    private mutating func keepLostRows(of made: SalvagedRTree.Result, _ name: String) throws {
        var words = ["The R-Tree \(name) was made anew from the \(made.rowCount) rows that are left."]
        var lostCount = 0
        do {
            lostCount = try lost.add(from: made.lost, values: made.values, table: name, reason: nil)
            try destination.execute(trusted: "DROP TABLE \(made.lost)")
        } catch let error as EngineError where error.isOfStatement {
            words.append("Rows that it refuses are in the table \(made.lost) (\(error.words)).")
        }
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
