/// A table that is associated with another one in a request: it is joined, or its rows are prefetched for the
/// rows of the other table.
struct AssociatedRelation: Sendable {
    enum Kind: Sendable {
        /// `JOIN`
        case required
        /// `LEFT JOIN`
        case optional
        /// Its rows are fetched after the rows of the other table.
        case prefetched
        /// A table on the way to a prefetched one. It is not fetched itself.
        case passage

        var isJoin: Bool {
            switch self {
            case .required, .optional: true
            case .prefetched, .passage: false
            }
        }
    }

    /// The key of the table among the children of the other table.
    let key: String
    var kind: Kind
    var condition: JoinCondition
    var relation: Relation
}

// MARK: - Adding

extension Relation {
    /// Adds an association.
    ///
    /// - Parameters:
    ///   - kind: the use of its destination. Not `passage`.
    ///   - selects: true if the selection of the association becomes a part of the rows.
    mutating func add(_ association: _SQLAssociation, _ kind: AssociatedRelation.Kind, selects: Bool = true) {
        insert(AssociatedRelation(association.steps[...], kind, selects: selects), movesToEnd: true)
    }

    /// Adds a child, or merges it with an existing child of the same key.
    ///
    /// - Parameter movesToEnd: true if an existing child moves to the end of the children.
    fileprivate mutating func insert(_ child: AssociatedRelation, movesToEnd: Bool) {
        if let problem = child.relation.misuseAsAssociation(kind: child.kind) { misuse = misuse ?? problem }
        guard let index = children.firstIndex(where: { $0.key == child.key }) else {
            return children.append(child)
        }
        let merged = children[index].merged(with: child)
        guard movesToEnd else { return children[index] = merged }
        children.remove(at: index)
        children.append(merged)
    }

    private func misuseAsAssociation(kind: AssociatedRelation.Kind) -> String? {
        guard kind != .prefetched else { return nil }
        let table = source.tableName.quotedDatabaseIdentifier
        if isDistinct {
            return
                "The association to \(table) cannot be joined, because it selects DISTINCT rows."
        }
        if hasGroups {
            return "The association to \(table) cannot be joined, because it groups rows."
        }
        return nil
    }
}

extension AssociatedRelation {
    fileprivate init(_ steps: ArraySlice<_SQLAssociation.Step>, _ kind: Kind, selects: Bool) {
        let step = steps[steps.startIndex]
        var relation = step.relation
        let rest = steps.dropFirst()
        if rest.isEmpty {
            if !selects { relation.selection = .none }
            let key = kind == .prefetched ? step.key.plural : step.key.singular
            self.init(key: key, kind: kind, condition: step.condition, relation: relation)
        } else {
            relation.selection = .none
            relation.insert(AssociatedRelation(rest, kind, selects: selects), movesToEnd: true)
            let key = kind == .prefetched && !step.isToOne ? step.key.plural : step.key.singular
            self.init(
                key: key, kind: kind == .prefetched ? .passage : kind, condition: step.condition,
                relation: relation)
        }
    }
}

// MARK: - Merging

extension AssociatedRelation {
    /// Returns the combination of two children with the same key.
    func merged(with other: AssociatedRelation) -> AssociatedRelation {
        var result = self
        var problem: String?
        switch (kind, other.kind) {
        case (.required, .required), (.optional, .optional), (.prefetched, .prefetched), (.passage, .passage):
            break
        case (.required, .optional), (.optional, .required): result.kind = .required
        case (.prefetched, .passage), (.passage, .prefetched):
            problem = "including(all:) uses it both for its rows and as a step to another association"
        default:
            problem = "it is both joined and used in including(all:)"
        }
        if let condition = condition.merged(with: other.condition) {
            result.condition = condition
        } else {
            problem =
                "it is used for different foreign keys: \(condition.summary) and \(other.condition.summary)"
        }
        if !relation.hasSameTable(as: other.relation) {
            let tables = [relation, other.relation].map(\.source.tableName.quotedDatabaseIdentifier)
            problem = "it is used for the tables \(tables[0]) and \(tables[1])"
        } else if relation.hasOtherName(than: other.relation) {
            problem = "its table has two aliases with different names"
        }
        result.relation.merge(other.relation)
        if let problem, result.relation.misuse == nil {
            result.relation.misuse =
                "The association key \(key.quotedDatabaseIdentifier) is ambiguous: \(problem). Use "
                + "forKey(_:) to distinguish the associations."
        }
        return result
    }
}

extension Relation {
    fileprivate func hasSameTable(as other: Relation) -> Bool {
        CaseInsensitiveName(source.tableName) == CaseInsensitiveName(other.source.tableName)
    }

    fileprivate func hasOtherName(than other: Relation) -> Bool {
        let names = (source.aliases + other.source.aliases).compactMap(\._tableName)
        return names.contains { $0 != names[0] }
    }

    /// Adds the settings of another relation of the same table. If both have a setting that cannot be
    /// combined, the other relation takes precedence.
    fileprivate mutating func merge(_ other: Relation) {
        source.aliases += other.source.aliases.filter { !source.aliases.contains($0) }
        if !other.selection.isEmpty { selection = other.selection }
        filters.append(other.filters)
        if !other.ordering.isEmpty { ordering = other.ordering }
        isDistinct = isDistinct || other.isDistinct
        if !other.groups.isEmpty { groups = other.groups }
        groupFilters.append(other.groupFilters)
        limit = other.limit ?? limit
        commonTables.define(other.commonTables)
        for child in other.children { insert(child, movesToEnd: false) }
        misuse = misuse ?? other.misuse
    }
}

extension JoinCondition {
    fileprivate var summary: String {
        switch self {
        case .foreignKey(let key, originIsLeft: _):
            "from \(key.originTable.quotedDatabaseIdentifier) to "
                + "\(key.destinationTable.quotedDatabaseIdentifier)"
                + (key.foreignKey.map { " by (\($0.originColumns.joined(separator: ", ")))" }
                    ?? " by the foreign key of the schema")
        case .predicate: "a condition with a common table expression"
        }
    }
}

extension [SQLCommonTable] {
    /// Adds definitions, each of which replaces an existing one of the same name.
    mutating func define(_ tables: [SQLCommonTable]) {
        for table in tables {
            let name = CaseInsensitiveName(table.name)
            if let index = firstIndex(where: { CaseInsensitiveName($0.name) == name }) {
                self[index] = table
            } else {
                append(table)
            }
        }
    }
}

// MARK: - The whole tree

extension Relation {
    /// Returns the relation without any order, including joined and prefetched tables.
    func unordered() -> Relation {
        var result = self
        result.ordering = Ordering()
        result.changeChildren { $0 = $0.unordered() }
        return result
    }

    /// Returns the relation with a deterministic order, including joined and prefetched tables.
    func withStableOrder() -> Relation {
        var result = self
        result.ordering.isStable = true
        result.changeChildren { $0 = $0.withStableOrder() }
        return result
    }

    private mutating func changeChildren(_ change: (inout Relation) -> Void) {
        for index in children.indices { change(&children[index].relation) }
    }

    /// The relation as a part of a `FROM` clause only: it selects nothing, and no rows are prefetched for it.
    var withoutResults: Relation {
        var result = self
        result.selection = .none
        result.removeResultsOfChildren()
        return result
    }

    /// Keeps only the parts of joined tables that affect which rows are found, and removes prefetched tables.
    mutating func removeResultsOfChildren() {
        children.removeAll { !$0.kind.isJoin }
        changeChildren { $0 = $0.withoutResults }
    }
}
