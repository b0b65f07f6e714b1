/// A table that belongs to another one in a request: it is joined, or its rows are fetched for the rows of
/// the other one.
struct AssociatedRelation: Sendable {
    enum Kind: Sendable {
        /// `JOIN`
        case required
        /// `LEFT JOIN`
        case optional
        /// Its rows are fetched after those of the other table.
        case prefetched
        /// It is not fetched itself, but on the way to a table that is.
        case passage

        var isJoin: Bool {
            switch self {
            case .required, .optional: true
            case .prefetched, .passage: false
            }
        }
    }

    /// Its name among the children of the other table.
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
    ///   - association: the association.
    ///   - kind: what is done with its destination. It is no passage.
    ///   - selects: whether what the association selects becomes a part of the rows.
    mutating func add(_ association: _SQLAssociation, _ kind: AssociatedRelation.Kind, selects: Bool = true) {
        insert(AssociatedRelation(association.steps[...], kind, selects: selects), movesToEnd: true)
    }

    /// Adds a child, or merges it with the one that has the same key.
    ///
    /// - Parameter movesToEnd: whether a child that was there already takes the place of the last one.
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
                "Rows cannot be joined to DISTINCT ones, as the association selects them from the table "
                + "\(table)."
        }
        if hasGroups {
            return "Rows cannot be joined to groups, as the association makes them of the table \(table)."
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
    /// What two children with the same key become.
    func merged(with other: AssociatedRelation) -> AssociatedRelation {
        var result = self
        var problem: String?
        switch (kind, other.kind) {
        case (.required, .required), (.optional, .optional), (.prefetched, .prefetched), (.passage, .passage):
            break
        case (.required, .optional), (.optional, .required): result.kind = .required
        case (.prefetched, .passage), (.passage, .prefetched):
            problem = "including(all:) takes the rows of an association, or the way through it, not both"
        default:
            problem = "it is joined, and is a part of including(all:) too"
        }
        if let condition = condition.merged(with: other.condition) {
            result.condition = condition
        } else {
            problem =
                "it stands for different foreign keys: \(condition.summary) and \(other.condition.summary)"
        }
        if !relation.hasSameTable(as: other.relation) {
            let tables = [relation, other.relation].map(\.source.tableName.quotedDatabaseIdentifier)
            problem = "it stands for the tables \(tables[0]) and \(tables[1])"
        } else if relation.hasOtherName(than: other.relation) {
            problem = "its table has two aliases of different names"
        }
        result.relation.merge(other.relation)
        if let problem, result.relation.misuse == nil {
            result.relation.misuse =
                "The association key \(key.quotedDatabaseIdentifier) is ambiguous: \(problem). Use "
                + "forKey(_:) to tell the associations apart."
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

    /// Adds what another relation says of the same table. Where both say it, and it cannot be added, the
    /// other one counts.
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
                    ?? " by what the schema says")
        case .predicate: "a condition with a common table expression"
        }
    }
}

extension [SQLCommonTable] {
    /// Adds definitions, each in place of one of the same name.
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
    /// The relation without any order, of joined and prefetched tables too.
    func unordered() -> Relation {
        var result = self
        result.ordering = Ordering()
        result.changeChildren { $0 = $0.unordered() }
        return result
    }

    /// The relation with an order that is always the same, of joined and prefetched tables too.
    func withStableOrder() -> Relation {
        var result = self
        result.ordering.isStable = true
        result.changeChildren { $0 = $0.withStableOrder() }
        return result
    }

    private mutating func changeChildren(_ change: (inout Relation) -> Void) {
        for index in children.indices { change(&children[index].relation) }
    }

    /// The relation as a mere part of a `FROM` clause: it selects nothing, and no rows are fetched for it.
    var withoutResults: Relation {
        var result = self
        result.selection = .none
        result.removeResultsOfChildren()
        return result
    }

    /// Keeps of the joined tables what decides on the rows, and nothing of the prefetched ones.
    mutating func removeResultsOfChildren() {
        children.removeAll { !$0.kind.isJoin }
        changeChildren { $0 = $0.withoutResults }
    }
}
