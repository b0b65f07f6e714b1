/// The information that a connection caches to write the records of a type: the key of the table, the columns
/// of the records, and prepared statements for exactly these columns.
///
/// A plan is looked up by the type, without any text, and discarded as soon as the schema changes: see
/// ``KnownSchema``.
@usableFromInline
final class RecordPlan {
    let tableName: String

    /// The columns of the primary key; empty for a view.
    let keyColumns: [String]
    let rowIDColumn: String?

    /// False for views and `WITHOUT ROWID` tables, for which the last inserted row ID belongs to another row.
    private let hasRowIDs: Bool

    /// True if the records are instances of a subclass of ``Record``.
    @usableFromInline let isForRecordClass: Bool

    /// The columns of the previous record, which are expected for the next one.
    private(set) var columns: [String] = []

    /// The positions of the columns of the primary key, or nil if records do not have all of them.
    private(set) var keyPositions: [Int]?

    /// The positions of the columns that an update sets, followed by the positions of the primary key.
    private var updatePositions: [Int] = []

    /// The column names as the table spells them; nil until an update needs them.
    private var spelledColumns: [String]?

    private let encoder: RecordEncoder?
    private var insertion: (policy: Database.ConflictResolution, statement: Statement)?
    private var update: (policy: Database.ConflictResolution, statement: Statement)?
    private var deletion: Statement?
    private var existence: Statement?

    init(record: any TableRecord.Type, tableName: String, primaryKey: PrimaryKeyInfo?) {
        self.tableName = tableName
        self.keyColumns = primaryKey?.columns ?? []
        self.rowIDColumn = primaryKey?.rowIDColumn
        self.hasRowIDs = primaryKey?.tableHasRowID ?? false
        self.isForRecordClass = record is Record.Type
        self.encoder =
            if record is any Encodable.Type, let record = record as? any EncodableRecord.Type {
                RecordEncoder(record)
            } else { nil }
    }

    /// Returns the values of a record.
    func container(for record: some EncodableRecord) throws -> PersistenceContainer {
        var container = emptyContainer()
        try record.encode(to: &container)
        complete(&container)
        return container
    }

    /// Returns an empty container for the values of a record. The caller fills it and then completes it.
    @usableFromInline
    func emptyContainer() -> PersistenceContainer {
        PersistenceContainer(expecting: columns, encoder: encoder)
    }

    /// Remembers the columns of a filled container.
    private func complete(_ container: inout PersistenceContainer) {
        container.encoder = nil
        if !container.hasExpectedColumns { expect(container.columns) }
    }

    private func expect(_ columns: [String]) {
        self.columns = columns
        spelledColumns = nil
        insertion = nil
        update = nil
        deletion = nil
        existence = nil
        let names = columns.map(CaseInsensitiveName.init)
        let positions = keyColumns.compactMap { names.firstIndex(of: CaseInsensitiveName($0)) }
        keyPositions = positions.count == keyColumns.count && !positions.isEmpty ? positions : nil
        let others = columns.indices.filter { !positions.contains($0) }
        // An update of nothing but the key must still determine whether the row exists.
        updatePositions = (others.isEmpty ? positions : others) + positions
    }
}

// MARK: - Keys

extension RecordPlan {
    /// Returns the positions of the primary key, if none of its values is NULL.
    func positionsOfCompleteKey(in container: PersistenceContainer) -> [Int]? {
        guard let keyPositions else { return nil }
        for position in keyPositions {
            if container.databaseValue(at: position).isNull { return nil }
        }
        return keyPositions
    }

    /// Returns the values of the primary key. Columns that the record does not have are NULL.
    func key(of container: PersistenceContainer) -> [String: DatabaseValue] {
        Dictionary(
            uniqueKeysWithValues: keyColumns.map {
                ($0, container.index(ofColumn: $0).map(container.databaseValue(at:)) ?? .null)
            })
    }

    func recordNotFound(_ container: PersistenceContainer) -> RecordError {
        .recordNotFound(databaseTableName: tableName, key: key(of: container))
    }
}

// MARK: - Statements

extension RecordPlan {
    /// Completes a container that a record has filled, and inserts its values.
    @usableFromInline
    func insert(
        _ db: Database, onConflict policy: Database.ConflictResolution,
        _ container: inout PersistenceContainer
    ) throws -> InsertionSuccess {
        complete(&container)
        try insertionStatement(db, policy).execute(db, container, positions: nil)
        let rowID = rowID(of: container, insertedIn: db)
        setNewRowID(rowID, in: &container)
        return InsertionSuccess(rowID: rowID, rowIDColumn: rowIDColumn, persistenceContainer: container)
    }

    /// Returns the row ID of an inserted record. If rows have none, returns the integer key of the record, or
    /// its integer column `id` for a view without a known key, or zero if there is no such integer.
    func rowID(of container: PersistenceContainer, insertedIn db: Database) -> Int64 {
        if hasRowIDs { return db.lastInsertedRowID }
        let key = keyColumns.isEmpty ? ["id"] : keyColumns
        guard key.count == 1, let index = container.index(ofColumn: key[0]),
            case .int64(let id) = container.databaseValue(at: index).storage
        else { return 0 }
        return id
    }

    /// Sets the key that the database has generated for a record without one.
    @inline(__always)
    func setNewRowID(_ rowID: Int64, in container: inout PersistenceContainer) {
        guard rowIDColumn != nil else { return }
        if let position = keyPositions?.first {
            container.replaceNull(at: position, by: rowID)
        } else {
            setMissingRowID(rowID, in: &container)
        }
    }

    private func setMissingRowID(_ rowID: Int64, in container: inout PersistenceContainer) {
        if let rowIDColumn, container[rowIDColumn] == nil { container[rowIDColumn] = rowID }
    }

    private func insertionStatement(_ db: Database, _ policy: Database.ConflictResolution) throws -> Statement
    {
        if let insertion, insertion.policy == policy, let free = insertion.statement.ifFree { return free }
        let statement = try db.checkOut(insertSQL(policy), for: .request)
        insertion = (policy, statement)
        return statement
    }

    /// Updates all columns of the row with the key of the record.
    func update(
        _ db: Database, onConflict policy: Database.ConflictResolution, _ container: PersistenceContainer
    ) throws {
        if let update, update.policy == policy, let free = update.statement.ifFree {
            return try free.execute(db, container, positions: updatePositions)
        }
        let count = updatePositions.count - keyColumns.count
        let statement = try db.checkOut(
            updateSQL(db, policy, setting: updatePositions[..<count]), for: .request)
        update = (policy, statement)
        try statement.execute(db, container, positions: updatePositions)
    }

    /// Updates the columns at the given positions.
    func update(
        _ db: Database, onConflict policy: Database.ConflictResolution, _ container: PersistenceContainer,
        setting positions: [Int],
        key: [Int]
    ) throws {
        let statement = try db.checkOut(updateSQL(db, policy, setting: positions[...]), for: .request)
        try statement.execute(db, container, positions: positions + key)
    }

    func delete(_ db: Database, _ container: PersistenceContainer, key: [Int]) throws {
        let statement =
            try deletion?.ifFree
            ?? db.checkOut(
                "DELETE FROM \(tableName.quotedDatabaseIdentifier) WHERE \(keyCondition)", for: .request)
        deletion = statement
        try statement.execute(db, container, positions: key)
    }

    func exists(_ db: Database, _ container: PersistenceContainer, key: [Int]) throws -> Bool {
        let statement =
            try existence?.ifFree
            ?? db.checkOut(
                "SELECT EXISTS (SELECT 1 FROM \(tableName.quotedDatabaseIdentifier) WHERE \(keyCondition))",
                for: .request)
        existence = statement
        statement.setUncheckedArguments(StatementArguments(values: key.map(container.databaseValue(at:))))
        return try Bool.fetchOne(statement) ?? false
    }

    // MARK: SQL

    func insertSQL(_ policy: Database.ConflictResolution) -> String {
        let verb = policy == .abort ? "INSERT" : "INSERT OR \(policy.rawValue)"
        let table = tableName.quotedDatabaseIdentifier
        guard !columns.isEmpty else { return "\(verb) INTO \(table) DEFAULT VALUES" }
        let names = columns.map(\.quotedDatabaseIdentifier).joined(separator: ", ")
        return "\(verb) INTO \(table) (\(names)) VALUES (\(databaseQuestionMarks(count: columns.count)))"
    }

    func updateSQL(
        _ db: Database, _ policy: Database.ConflictResolution, setting positions: ArraySlice<Int>
    ) throws -> String {
        let verb = policy == .abort ? "UPDATE" : "UPDATE OR \(policy.rawValue)"
        let columns = try columnsAsSpelled(db)
        let assignments = positions.map { "\(columns[$0].quotedDatabaseIdentifier)=?" }.joined(
            separator: ", ")
        return "\(verb) \(tableName.quotedDatabaseIdentifier) SET \(assignments) WHERE \(keyCondition)"
    }

    private func columnsAsSpelled(_ db: Database) throws -> [String] {
        if let spelledColumns { return spelledColumns }
        let spellings = Dictionary(
            try db.columns(in: tableName).map { (CaseInsensitiveName($0.name), $0.name) },
            uniquingKeysWith: { first, _ in first })
        let result = columns.map { spellings[CaseInsensitiveName($0)] ?? $0 }
        spelledColumns = result
        return result
    }

    /// Returns the positions of the given columns, without the primary key unless there are no others.
    func positions(of columns: Set<String>) -> [Int] {
        let names = Set(columns.map(CaseInsensitiveName.init))
        let keyPositions = keyPositions ?? []
        let positions = self.columns.indices.filter {
            !keyPositions.contains($0) && names.contains(CaseInsensitiveName(self.columns[$0]))
        }
        return positions.isEmpty ? keyPositions : positions
    }

    private var keyCondition: String {
        keyColumns.map { "\($0.quotedDatabaseIdentifier)=?" }.joined(separator: " AND ")
    }
}

// MARK: - Finding plans

/// The plans and fetches that a connection has prepared for record types.
struct RecordPlans {
    var plans = ByRecord<RecordPlan>()
    var fetches = ByRecord<KeyFetch>()

    /// The prepared objects by record type.
    struct ByRecord<Prepared> {
        private var all: [ObjectIdentifier: Prepared] = [:]

        /// The last result: programs often use many records of one type in succession.
        private var last: (record: ObjectIdentifier, prepared: Prepared)?

        /// Returns the object prepared for the type, if there is one.
        mutating func find(_ record: any TableRecord.Type) -> Prepared? {
            let id = ObjectIdentifier(record)
            if let last, last.record == id { return last.prepared }
            guard let prepared = all[id] else { return nil }
            last = (id, prepared)
            return prepared
        }

        mutating func insert(_ prepared: Prepared, for record: any TableRecord.Type) {
            let id = ObjectIdentifier(record)
            all[id] = prepared
            last = (id, prepared)
        }
    }
}

extension Database {
    /// Returns the plan for the records of a type, which is valid for the current schema.
    @usableFromInline
    func recordPlan(for record: any TableRecord.Type) throws -> RecordPlan {
        try readSchema {
            let tableName = record.databaseTableName
            if let plan = knownSchema.recordPlans.plans.find(record), plan.tableName == tableName {
                return plan
            }
            let plan = RecordPlan(
                record: record, tableName: tableName, primaryKey: try primaryKeyIfTable(tableName))
            knownSchema.recordPlans.plans.insert(plan, for: record)
            return plan
        }
    }

    /// Returns the primary key of a table, or nil for a view without one.
    private func primaryKeyIfTable(_ tableName: String) throws -> PrimaryKeyInfo? {
        do {
            return try primaryKey(tableName)
        } catch {
            guard try viewExists(tableName) else { throw error }
            return nil
        }
    }
}
