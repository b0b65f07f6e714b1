internal import SQLCipherBridge

/// Creates the virtual tables of a damaged database, after the shadow tables with their content.
///
/// Each virtual table consists only of a row in the schema. Its module then opens and checks it. A full-text
/// table or an R-Tree that has lost a part of its shadow tables is rebuilt from the remaining rows.
struct SalvagedVirtualTables {
    /// The created tables, including the shadow tables of virtual tables.
    private(set) var tables: [SalvagedTarget]
    /// Messages about tables that could not be created, or that differ from the original.
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

    /// Creates all virtual tables, and rebuilds the ones that have lost a part.
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
                problems.append("\(entry.name) is in the schema twice, and was created once.")
                continue
            }
            do {
                try StoredDefinition(kind: .virtualTable, name: entry.name, sql: sql).compile(on: destination)
            } catch let error as EngineError where error.isOfStatement {
                problems.append("\(entry.name) could not be created: \(error.words)")
                continue
            }
            // The table name is the entry's own: the engine rejects a schema in which a table belongs to
            // another table.
            for (index, text) in [entry.type, entry.name, entry.name, sql].enumerated() {
                try destination.check(insert.handle.bind(identifier: text, at: CInt(index + 1)))
            }
            try destination.run(insert.handle)
            made.append(entry)
        }
        try destination.execute("COMMIT")
        // One table that does not open, or is not whole, would make the proof of the whole salvage fail.
        if !made.isEmpty { try readSchemaAgain() }
        for entry in made {
            guard let reason = try reasonNotToKeep(entry) else { continue }
            try removeFromSchema(entry)
            if entry.isFullText || entry.isRTree, !parts(of: entry).isEmpty {
                damaged.append(entry)
            } else {
                problems.append(
                    "\(entry.name) was not created (\(reason)). The salvaged rows of its shadow tables were "
                        + "kept.")
            }
        }
        for entry in damaged { try makeAnew(entry) }
    }

    private func removeFromSchema(_ entry: SalvagedSchema.Entry) throws {
        let sql = "DELETE FROM main.sqlite_master WHERE type = 'table' AND name = ?1 AND rootpage = 0"
        guard let deletion = try destination.prepare(trusted: sql) else { return }
        try destination.check(deletion.handle.bind(identifier: entry.name, at: 1))
        try destination.run(deletion.handle)
        try readSchemaAgain()
    }

    /// Makes the connection see the new rows of its schema.
    private func readSchemaAgain() throws {
        try destination.execute("PRAGMA writable_schema = RESET; PRAGMA writable_schema = ON")
    }

    /// Opens a virtual table that was created from its shadow tables, and makes its module check them.
    ///
    /// - Returns: nil if the table can be used, or if only the application has its module or its tokenizer.
    private func reasonNotToKeep(_ entry: SalvagedSchema.Entry) throws -> String? {
        let name = entry.name.quotedDatabaseIdentifier
        do {
            try destination.forEachRow(trusted: "SELECT 1 FROM main.\(name) LIMIT 0") { _ in }
            let answer = try destination.column(trusted: "PRAGMA main.quick_check(\(name))")
            let isUnchecked = answer.allSatisfy(StructureFindings.isNoComparison) && !hasLost(partOf: entry)
            return answer == ["ok"] || isUnchecked ? nil : answer.first ?? "no answer"
        } catch let error as EngineError where error.isOfMissingDefinition {
            return nil
        } catch let error as EngineError where error.isOfStatement {
            return error.words
        }
    }

    // MARK: Parts of virtual tables

    /// Returns the indexes of a virtual table's shadow tables in `tables`. The names are compared in full,
    /// because other tables may have names that begin with the name of the virtual table.
    private func parts(of entry: SalvagedSchema.Entry) -> [Int] {
        let names = Set(entry.namesOfParts.map(CaseInsensitiveName.init))
        return tables.indices.filter { names.contains(CaseInsensitiveName(tables[$0].table.name)) }
    }

    private func hasLost(partOf entry: SalvagedSchema.Entry) -> Bool {
        parts(of: entry).contains { tables[$0].hasLostRows }
    }

    /// Rebuilds a virtual table from the remains of its shadow tables: an index that has lost a part of
    /// itself returns wrong rows.
    ///
    /// This works for full-text tables and R-Trees. Other virtual tables are not created, and their salvaged
    /// shadow tables are kept.
    private mutating func makeAnew(_ entry: SalvagedSchema.Entry) throws {
        guard entry.isFullText || entry.isRTree, let sql = entry.sql else {
            return problems.append(
                "\(entry.name) was not created, because its shadow tables have lost rows. They were kept.")
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
            // Fails if the module does not create a shadow table again: the table did not belong to the
            // virtual table, so the rollback keeps it.
            for part in parts {
                let name = tables[part].table.name.quotedDatabaseIdentifier
                try destination.execute(trusted: "SELECT 1 FROM main.\(name) LIMIT 0")
            }
            try destination.execute("RELEASE anew")
        } catch let error as EngineError where error.isOfStatement {
            // Some errors roll back the whole transaction.
            if !destination.isAutocommit { try destination.execute("ROLLBACK TO anew; RELEASE anew") }
            return problems.append(
                "\(entry.name) could not be rebuilt (\(error.words)). The salvaged rows of its shadow tables "
                    + "were kept."
            )
        }
        // Not earlier: a full-text table writes its index at the end of the transaction.
        for part in parts {
            let name = tables[part].table.name.quotedDatabaseIdentifier
            try destination.forEachRow(trusted: "SELECT count(*) FROM main.\(name)") {
                tables[part].makeAnew(rowCount: Int($0.int64(at: 0)))
            }
        }
        if let tree {
            try keepLostRows(of: tree, entry.name)
        } else {
            problems.append("The full-text index of \(entry.name) was rebuilt from the remaining rows.")
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

    /// Moves rows that an R-Tree could not accept into the tables for lost rows, after the rebuild is
    /// committed.
    private mutating func keepLostRows(of made: SalvagedRTree.Result, _ name: String) throws {
        var words = ["The R-Tree \(name) was rebuilt from the \(made.rowCount) remaining rows."]
        var lostCount = 0
        do {
            lostCount = try lost.add(from: made.lost, values: made.values, table: name, reason: nil)
            try destination.execute(trusted: "DROP TABLE \(made.lost)")
        } catch let error as EngineError where error.isOfStatement {
            words.append("Rows that it refused are in the table \(made.lost) (\(error.words)).")
        }
        if lostCount > 0 {
            words.append(
                "\(lostCount) rows that have lost a part, or that it refused, are in the tables for lost "
                    + "rows.")
        }
        if made.unreadableCount > 0 {
            words.append("\(made.unreadableCount) cells of its nodes could not be decoded.")
        }
        problems.append(words.joined(separator: " "))
    }
}
