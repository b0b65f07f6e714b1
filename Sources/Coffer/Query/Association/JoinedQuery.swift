/// The tables of a query that joins some, in the order of the SQL text, and their names. It is made of the
/// tree of a request without looking at the database, and is the one place that decides on order, kind and
/// names of joins.
struct JoinedQuery: Sendable {
    /// The tables; the first one is the one that the query selects from.
    let tables: [JoinedTable]

    /// The common table expressions of all tables.
    let commonTables: [SQLCommonTable]

    var root: Relation { tables[0].relation }

    /// - Throws: a ``DatabaseError`` of code `SQLITE_MISUSE` if the tree of the request contradicts itself.
    fileprivate init(_ relation: Relation) throws {
        var tables = [JoinedTable(relation: relation)]
        var commonTables: [SQLCommonTable] = []
        try Self.collect(relation, at: 0, isOptional: false, &tables, &commonTables)
        let names = try TableNames.names(
            of: tables.map { ($0.relation.source.tableName, try $0.relation.source.aliasName()) })
        for index in tables.indices { tables[index].name = names[index] }
        self.tables = tables
        self.commonTables = commonTables
    }

    private static func collect(
        _ relation: Relation, at parent: Int, isOptional: Bool, _ tables: inout [JoinedTable],
        _ commonTables: inout [SQLCommonTable]
    ) throws {
        commonTables.define(relation.commonTables)
        for child in relation.children where child.kind.isJoin {
            guard !isOptional || child.kind == .optional else {
                throw DatabaseError(
                    resultCode: .SQLITE_MISUSE,
                    message: "A required association follows an optional one, which cannot be joined: "
                        + "\(child.relation.source.tableName.quotedDatabaseIdentifier) behind "
                        + "\(relation.source.tableName.quotedDatabaseIdentifier). Make both required, or "
                        + "both optional."
                )
            }
            let index = tables.count
            tables.append(
                JoinedTable(
                    relation: child.relation, key: child.key, parent: parent,
                    isOptional: child.kind == .optional))
            switch child.condition {
            case .foreignKey:
                tables[index].condition = .columns(child.condition)
            case .predicate(let predicate?, let isReversed):
                let (left, right, condition) = predicate()
                tables[isReversed ? index : parent].aliases.append(left)
                tables[isReversed ? parent : index].aliases.append(right)
                tables[index].condition = .predicate(condition)
            case .predicate(nil, isReversed: _):
                break
            }
            try collect(
                child.relation, at: index, isOptional: child.kind == .optional, &tables, &commonTables)
        }
    }
}

/// A table of a query that joins some.
struct JoinedTable: Sendable {
    let relation: Relation

    /// The name of its scope; that of the first table does not matter.
    var key = ""

    /// The position of the table that it is joined to.
    var parent: Int?
    var isOptional = false
    var condition: Condition?

    /// What it is called in the SQL text.
    fileprivate(set) var name = ""

    /// What refers to it: the first one is its own, which no expression outside of the query has.
    fileprivate(set) var aliases: [TableAliasBase]

    /// The table as the scope of the query knows it.
    var named: SQLScope.NamedTable {
        SQLScope.NamedTable(tableName: relation.source.tableName, name: name, aliases: aliases)
    }

    enum Condition: Sendable {
        /// Columns are equal.
        case columns(JoinCondition)
        /// An expression is true.
        case predicate(SQLExpression)
    }

    fileprivate init(relation: Relation, key: String = "", parent: Int? = nil, isOptional: Bool = false) {
        self.relation = relation
        self.key = key
        self.parent = parent
        self.isOptional = isOptional
        aliases = [TableAlias<Void>()] + relation.source.aliases
    }
}

extension Relation {
    /// The query of all tables, or nil if no table is joined.
    ///
    /// - Throws: a ``DatabaseError`` of code `SQLITE_MISUSE` if the tree of the request contradicts itself.
    func joinedQuery() throws -> JoinedQuery? {
        try checkTree()
        guard hasJoins else { return nil }
        return try JoinedQuery(self)
    }

    /// Whether another table is joined.
    var hasJoins: Bool { children.contains { $0.kind.isJoin } }

    private func checkTree() throws {
        if let misuse { throw DatabaseError(resultCode: .SQLITE_MISUSE, message: misuse) }
        for child in children { try child.relation.checkTree() }
    }
}
