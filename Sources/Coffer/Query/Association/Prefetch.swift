/// Rows that are fetched for the rows of a request: one call of `including(all:)`, found in the tree of the
/// request.
struct Prefetch: Sendable {
    /// The scopes of the row that get the rows.
    let scopes: [String]

    /// The name of the rows.
    let key: String

    /// The way from the table of the request to that of the rows.
    private let path: [AssociatedRelation]

    /// The names of all associations on the way from the request to the rows.
    var names: [String] { path.map(\.key) }

    fileprivate init(scopes: [String], key: String, path: [AssociatedRelation]) {
        self.scopes = scopes
        self.key = key
        self.path = path.indices.map { index in
            var step = path[index]
            // The next step is joined on the way back, and not once more.
            if index < path.count - 1 { step.relation.children.removeAll { $0.key == path[index + 1].key } }
            return step
        }
    }
}

extension Relation {
    /// What is fetched for the rows of the relation, in the order of the tree. What is fetched for those rows
    /// in turn is found there.
    ///
    /// - Throws: a ``DatabaseError`` of code `SQLITE_MISUSE` if two associations would have their rows in one
    ///   place.
    func prefetches() throws -> [Prefetch] {
        var result: [Prefetch] = []
        collectPrefetches(&result, scopes: [], path: [])
        for (index, prefetch) in result.enumerated() {
            guard result[..<index].contains(where: { $0.scopes == prefetch.scopes && $0.key == prefetch.key })
            else { continue }
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message:
                    "The association key \(prefetch.key.quotedDatabaseIdentifier) is ambiguous: two "
                    + "associations to \(prefetch.tableName.quotedDatabaseIdentifier) have it. Use "
                    + "forKey(_:) to tell them apart."
            )
        }
        return result
    }

    private func collectPrefetches(_ result: inout [Prefetch], scopes: [String], path: [AssociatedRelation]) {
        for child in children {
            let path = path + [child]
            switch child.kind {
            case .prefetched: result.append(Prefetch(scopes: scopes, key: child.key, path: path))
            case .passage: child.relation.collectPrefetches(&result, scopes: scopes, path: path)
            case .required, .optional:
                child.relation.collectPrefetches(&result, scopes: scopes + [child.key], path: path)
            }
        }
    }

    /// Whether any rows are fetched for those of the relation.
    var hasPrefetches: Bool {
        children.contains { $0.kind == .prefetched || $0.kind == .passage || $0.relation.hasPrefetches }
    }
}

extension Prefetch {
    /// The columns by which rows belong to those of the request: of the request, and of the first table on
    /// the way.
    struct KeyColumns {
        let base: [String]
        let first: [String]

        /// The columns of the rows that are fetched in which they have the values of the key.
        var helpers: [String] { first.map { HelperName.make($0) } }
    }

    fileprivate var tableName: String { path[path.count - 1].relation.source.tableName }

    /// - Throws: a ``DatabaseError`` if the association has no foreign key, or none is found.
    func keyColumns(_ db: Database) throws -> KeyColumns {
        guard let columns = try path[0].condition.columns(db) else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message: "including(all:) needs a foreign key, and an association has none: that to "
                    + "\(path[0].relation.source.tableName.quotedDatabaseIdentifier), on the way to "
                    + "\(tableName.quotedDatabaseIdentifier)."
            )
        }
        return KeyColumns(base: columns.map(\.left), first: columns.map(\.right))
    }

    /// The query of the rows, which have the values of the key in additional columns.
    ///
    /// - Parameter condition: the condition that the first table on the way must meet.
    func relation(
        _ columns: KeyColumns, where condition: SQLExpression?, with commonTables: [SQLCommonTable] = []
    ) -> Relation {
        var relation = path.relationBackToOrigin { first, alias in
            if let condition { first.filters.append(.values([condition])) }
            let helpers = zip(columns.first, columns.helpers).map { Column($0).forKey($1) }
            return helpers.map { helper in alias.map { $0[helper] as SQLSelection } ?? helper }
        }
        relation.commonTables.insert(contentsOf: commonTables, at: 0)
        return relation
    }
}

extension [AssociatedRelation] {
    /// The relation at the end of the way, to which the tables before are joined, back to the first one.
    ///
    /// - Parameter change: is given the relation of the first table, and an alias for it unless it is the
    ///   last one too. It changes the relation, and returns what is selected of it.
    func relationBackToOrigin(_ change: (inout Relation, TableAliasBase?) -> [SQLSelection]) -> Relation {
        var result = self[count - 1].relation
        guard count > 1 else {
            let selection = change(&result, nil)
            result.selection.append(.values(selection))
            return result
        }
        let alias = TableAlias<Void>()
        var pivot = self[0].relation.withoutResults
        pivot.source.aliases.append(alias)
        result.selection.append(.values(change(&pivot, alias)))
        for index in indices.dropFirst() {
            let child = AssociatedRelation(
                key: HelperName.make(self[index - 1].key), kind: .required,
                condition: self[index].condition.reversed, relation: pivot)
            if index < count - 1 {
                pivot = self[index].relation.withoutResults
                pivot.children.append(child)
            } else {
                result.children.append(child)
            }
        }
        return result
    }
}
