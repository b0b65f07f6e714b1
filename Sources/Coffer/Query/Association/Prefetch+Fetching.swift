internal import SQLCipherBridge

extension Relation {
    /// Returns the statement of a query with other tables, the adapter that assigns its columns to them, and
    /// the supplement that fetches associated rows.
    func makePreparedRequest(_ db: Database, forSingleResult singleResult: Bool) throws -> PreparedRequest {
        let query = try joinedQuery()
        let adapter = try query?.rowAdapter(db)
        var request = PreparedRequest(
            statement: try makeStatement(db, forSingleResult: singleResult, query), adapter: adapter)
        guard hasPrefetches else { return request }
        var base = self
        if singleResult { base.limit = Limit(count: 1, offset: limit?.offset) }
        request.supplement = RequestSupplement(
            attach: { [base] db, rows in
                try base.prefetch(into: rows, rootColumnCount: adapter?.rootColumnCount, db)
            },
            requests: { [base] db, rows in
                try base.prefetchRequests(for: rows, rootColumnCount: adapter?.rootColumnCount, db)
            })
        return request
    }

    /// Fetches the associated rows of rows of this relation, which are copies, and attaches them.
    ///
    /// - Parameter rootColumnCount: the number of columns of the unadapted rows that belong to the relation's
    ///   own table; nil means all.
    private func prefetch(into rows: [Row], rootColumnCount: Int?, _ db: Database) throws {
        let trees = rows.map { _ in PrefetchedRowsTree() }
        let baseRows = rows.map(\.unadapted)
        for prefetch in try prefetches() {
            let columns = try prefetch.keyColumns(db)
            let positions = try positions(of: columns, in: baseRows[0], rootColumnCount, prefetch)
            if columns.base.count == 1 {
                try prefetch.attach(
                    trees, columns, keys: baseRows.map { $0.storage.databaseValue(at: positions[0]) }, db)
            } else {
                let keys = baseRows.map { row in positions.map(row.storage.databaseValue(at:)) }
                let groups = try Dictionary(grouping: prefetch.rows(columns, of: self, db)) { row in
                    columns.helpers.map { row[$0] as DatabaseValue }
                }
                for (tree, key) in zip(trees, keys) {
                    tree.set(key.contains(where: \.isNull) ? [] : groups[key] ?? [], prefetch)
                }
            }
        }
        for (row, tree) in zip(rows, trees) { row.prefetchedTree = tree }
    }

    /// Returns the positions of the key's columns in the unadapted rows of this relation.
    private func positions(
        of columns: Prefetch.KeyColumns, in row: Row, _ rootColumnCount: Int?, _ prefetch: Prefetch
    ) throws -> [Int] {
        try columns.base.map { name in
            guard let position = row.index(ofColumn: name), position < rootColumnCount ?? Int.max else {
                throw DatabaseError.misuse(
                    "Missing column: \(name). A request of \(source.tableName.quotedDatabaseIdentifier) "
                        + "that fetches \(prefetch.key) must select it.")
            }
            return position
        }
    }

    /// Returns the requests for the associated rows of rows of this relation: see ``RequestSupplement``.
    private func prefetchRequests(
        for rows: [Row], rootColumnCount: Int?, _ db: Database
    ) throws -> [(names: [String], requests: [PreparedRequest])] {
        let baseRows = rows.map(\.unadapted)
        return try prefetches().map { prefetch in
            let columns = try prefetch.keyColumns(db)
            let positions = try positions(of: columns, in: baseRows[0], rootColumnCount, prefetch)
            let relations =
                columns.base.count == 1
                ? try prefetch.relations(
                    columns, keys: baseRows.map { $0.storage.databaseValue(at: positions[0]) }, db)
                : [prefetch.relation(columns, keysOf: self)]
            return (
                prefetch.names, try relations.map { try $0.makePreparedRequest(db, forSingleResult: false) }
            )
        }
    }

    /// Fetches all rows, with their associated rows.
    fileprivate func fetchRows(_ db: Database, isKept: Bool) throws -> [Row] {
        let request = try PreparedRequest(
            statement: isKept ? makeStatement(db, forSingleResult: false) : makeUnkeptStatement(db),
            adapter: joinedQuery()?.rowAdapter(db))
        let rows = try Row.fetchAll(request.statement, adapter: request.adapter)
        if !rows.isEmpty, hasPrefetches {
            try prefetch(
                into: rows, rootColumnCount: (request.adapter as? JoinedRowAdapter)?.rootColumnCount, db)
        }
        return rows
    }

    /// Returns a statement that is not cached, because its text depends on the number of values and is
    /// unlikely to recur.
    private func makeUnkeptStatement(_ db: Database) throws -> Statement {
        var writer = SQLWriter(db)
        try write(to: &writer)
        let statement = try db.makeStatement(sql: writer.sql)
        try statement.setArguments(writer.arguments)
        return statement
    }
}

// MARK: - One column

extension Prefetch {
    /// Fetches the rows for the given values of a column, and attaches them to the rows that they belong to.
    fileprivate func attach(
        _ trees: [PrefetchedRowsTree], _ columns: KeyColumns, keys: [DatabaseValue], _ db: Database
    ) throws {
        let values = Self.distinctValues(keys)
        var groups = RowGroups(count: values.count)
        for values in try portions(of: values, columns, db) {
            let condition = Self.condition(columns.first[0], values)
            let rows = try relation(columns, where: condition).fetchRows(db, isKept: values.count <= 1)
            guard let position = rows.first?.index(ofColumn: columns.helpers[0]) else { continue }
            for row in rows { groups.append(row, key: row.storage.databaseValue(at: position)) }
        }
        for (tree, key) in zip(trees, keys) { tree.set(groups[key], self) }
    }

    /// Returns the relations of the rows for the given values of a column.
    fileprivate func relations(_ columns: KeyColumns, keys: [DatabaseValue], _ db: Database) throws
        -> [Relation]
    {
        try portions(of: Self.distinctValues(keys), columns, db).map { values in
            relation(columns, where: Self.condition(columns.first[0], values))
        }
    }

    private static func distinctValues(_ keys: [DatabaseValue]) -> [DatabaseValue] {
        Set(keys.filter { !$0.isNull }).sorted { $0.precedes($1) }
    }

    private static func condition(_ column: String, _ values: some Collection<DatabaseValue>) -> SQLExpression
    {
        guard let value = values.first else { return SQLExpression(impl: .boolean(false)) }
        let column = Column(column).sqlExpression
        guard values.count > 1 else { return .binary(.equal, column, SQLExpression.databaseValue(value)) }
        return SQLExpression(impl: .isIn(column, .list(values.map { .databaseValue($0) }), isNegated: false))
    }

    /// Returns the values in as many portions as the engine needs: one, unless there are more values than a
    /// statement may have parameters. All rows of a value are in one portion, which preserves their order.
    private func portions(of values: [DatabaseValue], _ columns: KeyColumns, _ db: Database) throws
        -> [ArraySlice<DatabaseValue>]
    {
        let limit = db.handle.limit(.variableNumber)
        // In practice, the other values of a request fit into half the limit.
        guard values.count > limit / 2 else { return [values[...]] }
        var writer = SQLWriter(db)
        try relation(columns, where: nil).write(to: &writer)
        let size = max(1, limit - writer.arguments.values.count - writer.arguments.namedValues.count)
        return stride(from: 0, to: values.count, by: size).map { values[$0..<min($0 + size, values.count)] }
    }
}

/// Rows grouped by the value of a column. If a row has the same value as the row before it, which is common
/// because an index returns such rows together, the value is not looked up.
private struct RowGroups {
    private var positions: [DatabaseValue: Int] = [:]
    private var groups: [[Row]] = []
    private var last: (key: DatabaseValue, position: Int)?

    init(count: Int) {
        positions.reserveCapacity(count)
        groups.reserveCapacity(count)
    }

    subscript(key: DatabaseValue) -> [Row] { positions[key].map { groups[$0] } ?? [] }

    mutating func append(_ row: Row, key: DatabaseValue) {
        if let last, last.key == key { return groups[last.position].append(row) }
        let position = positions[key] ?? groups.count
        if position == groups.count {
            positions[key] = position
            groups.append([row])
        } else {
            groups[position].append(row)
        }
        last = (key, position)
    }
}

extension DatabaseValue {
    /// Returns true if SQLite sorts the value before another one: numbers, then text, then blobs.
    fileprivate func precedes(_ other: DatabaseValue) -> Bool {
        switch (storage, other.storage) {
        case (.int64(let lhs), .int64(let rhs)): lhs < rhs
        case (.double(let lhs), .double(let rhs)): lhs < rhs
        case (.int64(let lhs), .double(let rhs)): Double(lhs) < rhs
        case (.double(let lhs), .int64(let rhs)): lhs < Double(rhs)
        case (.string(let lhs), .string(let rhs)): lhs.utf8.lexicographicallyPrecedes(rhs.utf8)
        case (.blob(let lhs), .blob(let rhs)): lhs.lexicographicallyPrecedes(rhs)
        default: storage.rank < other.storage.rank
        }
    }
}

extension DatabaseValue.Storage {
    fileprivate var rank: Int {
        switch self {
        case .null: 0
        case .int64, .double: 1
        case .string: 2
        case .blob: 3
        }
    }
}

// MARK: - Several columns

extension Prefetch {
    /// Fetches the associated rows for a key of several columns. The request becomes a common table
    /// expression of the statement.
    fileprivate func rows(_ columns: KeyColumns, of base: Relation, _ db: Database) throws -> [Row] {
        try relation(columns, keysOf: base).fetchRows(db, isKept: true)
    }

    fileprivate func relation(_ columns: KeyColumns, keysOf base: Relation) -> Relation {
        var keys = base
        keys.removeResultsOfChildren()
        // A limit counts rows that are distinct by other columns. Without it, there are more keys, but none
        // is missing.
        if keys.isDistinct { keys.limit = nil }
        keys.isDistinct = false
        if keys.limit == nil { keys = keys.unordered() }
        keys.selection = .values(columns.base.map { Column($0).sqlSelection })
        let name = HelperName.make("base")
        let table = SQLCommonTable(
            name: name, columns: nil, query: SQLSubquery(impl: .query(keys)), isRecursive: false)
        let key = columns.first.map { SQL(Column($0)) }.joined(separator: ", ")
        let condition = SQL(sql: "(") + key + SQL(sql: ") IN ") + SQL(elements: [.identifier(name)])
        return relation(columns, where: condition.sqlExpression, with: [table])
    }
}

// MARK: - Regions

extension Relation {
    /// Returns the region that all prefetches of the relation read, for any of its rows.
    func prefetchedRegion(_ db: Database) throws -> DatabaseRegion {
        var region = DatabaseRegion()
        for prefetch in try prefetches() {
            let relation = prefetch.relation(try prefetch.keyColumns(db), where: nil)
            region.formUnion(try relation.makeStatement(db, forSingleResult: false).databaseRegion)
        }
        return region
    }
}

extension PrefetchedRowsTree {
    fileprivate func set(_ rows: [Row], _ prefetch: Prefetch) {
        prefetch.scopes.reduce(self) { $0.scope($1) }.set(rows, forKey: prefetch.key)
    }
}
