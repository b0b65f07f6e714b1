/// The tables of a query with joins, in the order of the SQL text, and their names. It is built from the tree
/// of a request without access to the database. It is the only place that decides on the order, kind and
/// names of joins.
struct JoinedQuery: Sendable {
    /// The tables. The query selects from the first one.
    let tables: [JoinedTable]

    /// The common table expressions of all tables.
    let commonTables: [SQLCommonTable]

    var root: Relation { tables[0].relation }

    /// - Throws: a ``DatabaseError`` with `SQLITE_MISUSE` if the tree of the request contradicts itself.
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
                throw DatabaseError.misuse(
                    "A required association cannot follow an optional one: "
                        + "\(child.relation.source.tableName.quotedDatabaseIdentifier) after "
                        + "\(relation.source.tableName.quotedDatabaseIdentifier). Make both required, "
                        + "or both optional.")
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

/// A table of a query with joins.
struct JoinedTable: Sendable {
    let relation: Relation

    /// The name of its scope. The first table has none.
    var key = ""

    /// The position of the table that it is joined to.
    var parent: Int?
    var isOptional = false
    var condition: Condition?

    /// The name of the table in the SQL text.
    fileprivate(set) var name = ""

    /// The aliases that refer to the table. The first one is private to the query: no expression outside uses
    /// it.
    fileprivate(set) var aliases: [TableAliasBase]

    /// The table, with its name and aliases, for the scope of the query.
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
    /// Returns the query of all tables, or nil if no table is joined.
    ///
    /// - Throws: a ``DatabaseError`` with `SQLITE_MISUSE` if the tree of the request contradicts itself.
    func joinedQuery() throws -> JoinedQuery? {
        try checkTree()
        guard hasJoins else { return nil }
        return try JoinedQuery(self)
    }

    /// True if another table is joined.
    var hasJoins: Bool { children.contains { $0.kind.isJoin } }

    private func checkTree() throws {
        if let misuse { throw DatabaseError.misuse(misuse) }
        for child in children { try child.relation.checkTree() }
    }
}
