internal import SQLCipherBridge

/// The facts that the compilation of a statement reports.
struct StatementFacts: Sendable {
    /// The tables and columns that the statement reads.
    var databaseRegion = DatabaseRegion()

    /// The changes that the statement, its triggers and its foreign keys may make, one for each operation and
    /// table.
    ///
    /// Changes of SQLite's internal tables are omitted, because they cause no events.
    var eventKinds: [DatabaseEventKind] = []

    /// The attached databases that the statement may change.
    var changedAttachedSchemas: Set<String> = []

    /// True if a view or a trigger reads columns for the statement.
    var readsIndirectly = false

    /// True if a trigger changes rows for the statement.
    var changesIndirectly = false

    /// True if the statement creates, changes or drops tables, views, indexes or triggers.
    var outdatesKnownSchema = false

    /// The effect of the statement on transactions.
    var transactionStep: TransactionStep?

    /// The tables of each `DELETE` that may lack a condition, so that SQLite may truncate the table without
    /// visiting its rows: the statement's own table, and its triggers' tables.
    var maybeTruncatedTables: Set<String> = []

    /// The effect of a statement on transactions.
    enum TransactionStep: Hashable, Sendable {
        case begin
        case commit
        case rollback
        case beginSavepoint(String)
        case releaseSavepoint(String)
        case rollbackToSavepoint(String)

        /// True if changes are rolled back.
        var isRollback: Bool {
            switch self {
            case .rollback, .rollbackToSavepoint: true
            case .begin, .commit, .beginSavepoint, .releaseSavepoint: false
            }
        }

        /// True for a step of a savepoint, false for one of a whole transaction.
        var isOfSavepoint: Bool {
            switch self {
            case .beginSavepoint, .releaseSavepoint, .rollbackToSavepoint: true
            case .begin, .commit, .rollback: false
            }
        }
    }
}

extension StatementFacts {
    /// Collects facts while a statement is compiled.
    struct Collector {
        /// The columns that are read. An empty name stands for a table that is read without any column, as by
        /// `COUNT(*)`.
        private var readColumns: [String: Set<String>] = [:]
        private var insertions: Set<String> = []
        private var deletions: Set<String> = []
        private var updates: [String: Set<String>] = [:]
        private var directDeletion: String?
        private var indirectDeletions: Set<String> = []
        private var droppedTables: Set<String> = []
        private var changedAttachedSchemas: Set<String> = []
        private var readsIndirectly = false
        private var changesIndirectly = false
        private var changesSchema = false
        private var transactionStep: TransactionStep?

        mutating func collect(_ request: AuthorizerHook.Request) {
            if [.insert, .update, .delete].contains(request.action) {
                if request.isIndirect { changesIndirectly = true }
                if let schema = request.schema, schema != "main", schema != "temp" {
                    changedAttachedSchemas.insert(schema)
                }
            }
            switch request.action {
            case .read:
                if request.isIndirect { readsIndirectly = true }
                if let table = request.first {
                    readColumns[table, default: []].insert(request.second ?? "")
                }
            case .insert:
                if let table = request.first { insertions.insert(table) }
            case .update:
                if let table = request.first, let column = request.second {
                    updates[table, default: []].insert(column)
                }
            case .delete:
                guard let table = request.first else { return }
                deletions.insert(table)
                if request.isIndirect { indirectDeletions.insert(table) } else { directDeletion = table }
            case .transaction:
                switch request.first {
                case "BEGIN": transactionStep = .begin
                case "COMMIT": transactionStep = .commit
                case "ROLLBACK": transactionStep = .rollback
                default: break
                }
            case .savepoint:
                guard let name = request.second else { return }
                switch request.first {
                case "BEGIN": transactionStep = .beginSavepoint(name)
                case "RELEASE": transactionStep = .releaseSavepoint(name)
                case "ROLLBACK": transactionStep = .rollbackToSavepoint(name)
                default: break
                }
            case let action where action.changesSchema:
                changesSchema = true
                if action.dropsTable, let table = request.first { droppedTables.insert(table) }
            default:
                break
            }
        }

        func finish() -> StatementFacts {
            var facts = StatementFacts()
            for (table, columns) in readColumns {
                facts.databaseRegion.formUnion(
                    columns.contains("")
                        ? DatabaseRegion(table: table) : DatabaseRegion(table: table, columns: columns))
            }
            // Dropping a table asks for permission to delete its rows. That is a schema change, which is not
            // observed.
            let insertedTables = insertions.filter { !$0.isSQLiteInternalTableName }.sorted()
            let deletedTables = deletions.filter {
                !$0.isSQLiteInternalTableName && !droppedTables.contains($0)
            }.sorted()
            let updatedTables = updates.keys.filter { !$0.isSQLiteInternalTableName }.sorted()
            facts.eventKinds =
                insertedTables.map { .insert(tableName: $0) }
                + deletedTables.map { .delete(tableName: $0) }
                + updatedTables.map { .update(tableName: $0, columnNames: updates[$0] ?? []) }
            facts.changedAttachedSchemas = changedAttachedSchemas
            facts.readsIndirectly = readsIndirectly
            facts.changesIndirectly = changesIndirectly
            facts.outdatesKnownSchema = changesSchema
            facts.transactionStep = transactionStep
            if !changesSchema {
                // A condition reads a column. In triggers this proves nothing, because another part of the
                // statement may have read it.
                if let directDeletion, readColumns[directDeletion] == nil {
                    facts.maybeTruncatedTables.insert(directDeletion)
                }
                facts.maybeTruncatedTables.formUnion(indirectDeletions)
                facts.maybeTruncatedTables = facts.maybeTruncatedTables.filter {
                    !$0.isSQLiteInternalTableName
                }
            }
            return facts
        }
    }
}
