/// A full-text table that triggers synchronize with another table, its content table.
struct FullTextSynchronization {
    private let tableName: String
    private let contentTable: String
    private let columns: [String]

    /// The column of the content table that is its row ID.
    private let rowID: String

    struct Trigger {
        /// The part of the trigger's name that follows the name of the full-text table.
        let suffix: String
        let event: String
        let statements: [String]
    }

    /// - Throws: a ``DatabaseError`` if there is no such content table, or it has no row IDs.
    init(_ db: Database, of tableName: String, with contentTable: String, columns: [String]) throws {
        self.tableName = tableName
        self.contentTable = contentTable
        self.columns = columns
        self.rowID = try FullTextSynchronization.rowIDName(of: contentTable, db)
    }

    /// Returns the name of a content table's row ID for use in triggers and indexes.
    static func rowIDName(of contentTable: String, _ db: Database) throws -> String {
        guard let name = try db.rowIDName(of: contentTable, in: nil) else {
            throw DatabaseError(
                message:
                    "a full-text table cannot be synchronized with \(contentTable), whose rows have no row ID"
            )
        }
        return name
    }

    /// Creates the triggers, and indexes the existing rows.
    func start(
        _ db: Database, triggers: KeyPath<FullTextSynchronization, [Trigger]>,
        _ configuration: VirtualTableConfiguration
    ) throws {
        let creation =
            configuration.options.contains(.ifNotExists) ? "CREATE TRIGGER IF NOT EXISTS" : "CREATE TRIGGER"
        let table = tableName.quotedDatabaseIdentifier
        let statements = self[keyPath: triggers].map { trigger in
            let name = FullTextSynchronization.triggerName(tableName, trigger.suffix).quotedDatabaseIdentifier
            let body = trigger.statements.map { "    \($0);\n" }.joined()
            return
                "\(creation) \(name) \(trigger.event) ON \(contentTable.quotedDatabaseIdentifier) "
                + "BEGIN\n\(body)END"
        }
        try db.executeDefinitions(statements + ["INSERT INTO \(table)(\(table)) VALUES('rebuild')"])
    }

    static func triggerName(_ tableName: String, _ suffix: String) -> String { "__\(tableName)_\(suffix)" }
}

// MARK: - The triggers

extension FullTextSynchronization {
    private var table: String { tableName.quotedDatabaseIdentifier }
    private var columnList: String { columns.map { ", \($0.quotedDatabaseIdentifier)" }.joined() }

    /// Returns the row ID and the columns of the old or new row.
    private func values(of row: String) -> String {
        ([rowID] + columns).map { "\(row).\($0.quotedDatabaseIdentifier)" }.joined(separator: ", ")
    }

    /// The triggers of FTS4. It reads the old texts from the content table, so its deletion triggers run
    /// before the change.
    var fts4Triggers: [Trigger] {
        let deletion = "DELETE FROM \(table) WHERE docid=old.\(rowID.quotedDatabaseIdentifier)"
        let insertion = "INSERT INTO \(table)(\"docid\"\(columnList)) VALUES(\(values(of: "new")))"
        return [
            Trigger(suffix: "bu", event: "BEFORE UPDATE", statements: [deletion]),
            Trigger(suffix: "bd", event: "BEFORE DELETE", statements: [deletion]),
            Trigger(suffix: "au", event: "AFTER UPDATE", statements: [insertion]),
            Trigger(suffix: "ai", event: "AFTER INSERT", statements: [insertion]),
        ]
    }

    /// The triggers of FTS5, which pass it the old texts.
    var fts5Triggers: [Trigger] {
        let deletion =
            "INSERT INTO \(table)(\(table), \"rowid\"\(columnList)) VALUES('delete', \(values(of: "old")))"
        let insertion = "INSERT INTO \(table)(\"rowid\"\(columnList)) VALUES (\(values(of: "new")))"
        return [
            Trigger(suffix: "ai", event: "AFTER INSERT", statements: [insertion]),
            Trigger(suffix: "ad", event: "AFTER DELETE", statements: [deletion]),
            Trigger(suffix: "au", event: "AFTER UPDATE", statements: [deletion, insertion]),
        ]
    }
}

// MARK: - The end

extension Database {
    /// Drops the triggers that synchronize an ``FTS4`` table with another table. Call it before the full-text
    /// table is dropped.
    ///
    ///     try db.dropFTS4SynchronizationTriggers(forTable: "itemText")
    ///     try db.drop(table: "itemText")
    ///
    /// - Parameter tableName: the full-text table. Missing triggers are not an error.
    /// - Throws: a ``DatabaseError`` if the schema cannot be written: `SQLITE_READONLY` in a read,
    ///   `SQLITE_BUSY` while another connection writes.
    public func dropFTS4SynchronizationTriggers(forTable tableName: String) throws {
        try dropSynchronizationTriggers(["bu", "bd", "au", "ai"], of: tableName)
    }

    /// Drops the triggers that synchronize an ``FTS5`` table with another table. Call it before the full-text
    /// table is dropped.
    ///
    ///     try db.dropFTS5SynchronizationTriggers(forTable: "itemText")
    ///     try db.drop(table: "itemText")
    ///
    /// - Parameter tableName: the full-text table. Missing triggers are not an error.
    /// - Throws: a ``DatabaseError`` if the schema cannot be written: `SQLITE_READONLY` in a read,
    ///   `SQLITE_BUSY` while another connection writes.
    public func dropFTS5SynchronizationTriggers(forTable tableName: String) throws {
        try dropSynchronizationTriggers(["ai", "ad", "au"], of: tableName)
    }

    private func dropSynchronizationTriggers(_ suffixes: [String], of tableName: String) throws {
        checkIsUsedInItsAccess()
        try executeDefinitions(
            suffixes.map { suffix in
                "DROP TRIGGER IF EXISTS "
                    + "\(FullTextSynchronization.triggerName(tableName, suffix).quotedDatabaseIdentifier)"
            })
    }
}
