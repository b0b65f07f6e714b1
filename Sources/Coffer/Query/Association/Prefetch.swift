/// The rows that one call of `including(all:)` fetches for the rows of a request.
struct Prefetch: Sendable {
    /// The scopes that lead to the row that the rows are attached to.
    let scopes: [String]

    /// The key of the rows.
    let key: String

    /// The associations that lead from the table of the request to the table of the rows.
    private let path: [AssociatedRelation]

    /// The names of all associations on the way from the request to the rows.
    var names: [String] { path.map(\.key) }

    fileprivate init(scopes: [String], key: String, path: [AssociatedRelation]) {
        self.scopes = scopes
        self.key = key
        self.path = path.indices.map { index in
            var step = path[index]
            // The next step is joined in the reverse direction, and must not be joined twice.
            if index < path.count - 1 { step.relation.children.removeAll { $0.key == path[index + 1].key } }
            return step
        }
    }
}

extension Relation {
    /// Returns the prefetches of the relation, in the order of the tree. The prefetches of prefetched rows
    /// are returned by their own relations.
    ///
    /// - Throws: a ``DatabaseError`` with `SQLITE_MISUSE` if two associations would attach their rows to the
    ///   same place.
    func prefetches() throws -> [Prefetch] {
        var result: [Prefetch] = []
        collectPrefetches(&result, scopes: [], path: [])
        for (index, prefetch) in result.enumerated() {
            guard result[..<index].contains(where: { $0.scopes == prefetch.scopes && $0.key == prefetch.key })
            else { continue }
            throw DatabaseError.misuse(
                "The association key \(prefetch.key.quotedDatabaseIdentifier) is ambiguous: two "
                    + "associations to \(prefetch.tableName.quotedDatabaseIdentifier) have it. Use "
                    + "forKey(_:) to distinguish them.")
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

    /// True if rows are prefetched for the rows of the relation.
    var hasPrefetches: Bool {
        children.contains { $0.kind == .prefetched || $0.kind == .passage || $0.relation.hasPrefetches }
    }
}

extension Prefetch {
    /// The columns that match associated rows with rows of the request: the columns of the request, and the
    /// columns of the first table on the way.
    struct KeyColumns {
        let base: [String]
        let first: [String]

        /// The additional columns of the fetched rows, which contain the values of the key.
        var helpers: [String] { first.map { HelperName.make($0) } }
    }

    fileprivate var tableName: String { path[path.count - 1].relation.source.tableName }

    /// - Throws: a ``DatabaseError`` if the association has no foreign key, or none is found.
    func keyColumns(_ db: Database) throws -> KeyColumns {
        guard let columns = try path[0].condition.columns(db) else {
            throw DatabaseError.misuse(
                "including(all:) needs a foreign key, but the association to "
                    + "\(path[0].relation.source.tableName.quotedDatabaseIdentifier), on the way to "
                    + "\(tableName.quotedDatabaseIdentifier), has none.")
        }
        return KeyColumns(base: columns.map(\.left), first: columns.map(\.right))
    }

    /// Returns the query of the rows, with the values of the key in additional columns.
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
    /// Returns the relation at the end of the path, joined with the tables before it, back to the first one.
    ///
    /// - Parameter change: a closure that changes the relation of the first table and returns its additional
    ///   selection. It receives an alias for the first table, unless this is also the last one.
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
