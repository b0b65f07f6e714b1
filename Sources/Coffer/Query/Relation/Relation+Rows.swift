// Derives from the conditions of a query which rows it can read, without running it.

extension Relation: RegionNarrowing {
    /// Returns the database region that the query reads: the region that SQLite reports for its statement,
    /// narrowed to the rows that the query selects by ID.
    ///
    /// The region of prefetched rows is added, unless the query cannot return a row.
    func narrowedRegion(_ region: DatabaseRegion, _ db: Database) throws -> DatabaseRegion {
        let region = try regionOfOwnRows(region, db)
        guard !children.isEmpty, !region.isEmpty, hasPrefetches else { return region }
        return try region.union(prefetchedRegion(db))
    }

    var mayReadOtherTables: Bool { !children.isEmpty }

    private func regionOfOwnRows(_ region: DatabaseRegion, _ db: Database) throws -> DatabaseRegion {
        guard try !mayQueryElsewhere(db) else { return region }
        let filters = try filters.resolve(db)
        guard !filters.isEmpty, !filters.contains(where: \.mayQuery), try db.tableExists(source.tableName)
        else { return region }
        let rowIDs = try SQLExpression.associative(.and, filters).identifiedRowIDs { [source] column, alias in
            guard alias.map({ alias in source.aliases.contains { $0 === alias } }) ?? true else {
                return false
            }
            return try db.isRowID(column, of: source.tableName)
        }
        return rowIDs.map { region.tableIntersection(source.tableName, rowIds: $0) } ?? region
    }

    /// Returns true if a clause other than the filter may also read the table, and so more of its rows.
    private func mayQueryElsewhere(_ db: Database) throws -> Bool {
        guard commonTables.isEmpty else { return true }
        if try !children.isEmpty && joinsMayQueryElsewhere(db) { return true }
        return try selection.resolve(db).contains(where: \.mayQuery)
            || groups.resolve(db).contains(where: \.mayQuery)
            || groupFilters.resolve(db).contains(where: \.mayQuery)
            || ordering.terms.resolve(db).contains(where: \.mayQuery)
    }

    /// Returns true if a joined table may read more rows of this table: it is the same table, a view, or has
    /// a query in one of its clauses.
    private func joinsMayQueryElsewhere(_ db: Database) throws -> Bool {
        let name = CaseInsensitiveName(source.tableName)
        return try (joinedQuery()?.tables.dropFirst() ?? []).contains { table in
            let relation = table.relation
            guard CaseInsensitiveName(relation.source.tableName) != name,
                try db.tableExists(relation.source.tableName)
            else { return true }
            if case .predicate = table.condition { return true }
            return try relation.filters.resolve(db).contains(where: \.mayQuery)
                || relation.mayQueryElsewhere(db)
        }
    }

    /// Returns true if the query can return at most one row: it aggregates all rows, or its filter equates
    /// all columns of a unique key.
    func hasAtMostOneRow(_ db: Database) throws -> Bool {
        guard groups.isEmpty, !hasJoins else { return false }
        let selection = try selection.resolve(db)
        if !selection.isEmpty, groupFilters.isEmpty, selection.allSatisfy(\.isAggregate) { return true }
        let equated = try SQLExpression.associative(.and, filters.resolve(db)).equatedColumns
        guard !equated.isEmpty, try db.tableExists(source.tableName) else { return false }
        let columns = equated.filter { !$0.isNull }.map(\.name)
        if try !columns.isEmpty && db.table(source.tableName, hasUniqueKey: columns) { return true }
        // Several rows can have NULL in a unique key, but no row has it as its row ID.
        let key = try db.primaryKey(source.tableName)
        return key.isRowID
            && equated.contains {
                $0.isNull && CaseInsensitiveName($0.name) == CaseInsensitiveName(key.columns[0])
            }
    }
}

extension SQLExpression {
    /// The columns that must equal a value for the condition to be met, which may be NULL.
    fileprivate var equatedColumns: [(name: String, isNull: Bool)] {
        switch impl {
        case .qualified(let expression, _):
            return expression.equatedColumns
        case .binary(.equal, let lhs, let rhs), .binary(.isSame, let lhs, let rhs):
            if let column = lhs.column(of: nil), rhs.isValue { return [(column.name, rhs.impl.isNull)] }
            if let column = rhs.column(of: nil), lhs.isValue { return [(column.name, lhs.impl.isNull)] }
            return []
        case .associative(.and, let operands):
            return operands.flatMap(\.equatedColumns)
        default:
            return []
        }
    }

    /// Returns the column and the alias that it belongs to, if the expression is a column.
    ///
    /// - Parameter alias: the alias of columns without a qualifier.
    private func column(of alias: TableAliasBase?) -> (name: String, alias: TableAliasBase?)? {
        switch impl {
        case .column(let name): (name, alias)
        case .qualified(let expression, let alias): expression.column(of: alias)
        case .json(let expression): expression.column(of: alias)
        default: nil
        }
    }

    private var isValue: Bool {
        switch impl {
        case .databaseValue, .boolean: true
        default: false
        }
    }

    /// Returns the row IDs that can meet the condition; nil if they are unknown.
    ///
    /// - Parameters:
    ///   - alias: the alias of columns without a qualifier.
    ///   - isRowID: a closure that returns true if a column, given with its alias, is the row ID of the
    ///     table.
    fileprivate func identifiedRowIDs(
        alias: TableAliasBase? = nil, _ isRowID: (String, TableAliasBase?) throws -> Bool
    ) throws -> Set<Int64>? {
        switch impl {
        case .boolean(false):
            return []
        case .databaseValue(let value):
            return value == false.databaseValue ? [] : nil
        case .qualified(let expression, let alias):
            return try expression.identifiedRowIDs(alias: alias, isRowID)
        case .binary(.equal, let lhs, let rhs), .binary(.isSame, let lhs, let rhs):
            // A row ID is never NULL.
            if rhs.impl.isNull {
                return try lhs.column(of: alias).flatMap { try isRowID($0.name, $0.alias) ? [] : nil }
            }
            guard
                let (column, rowID) = lhs.column(of: alias).flatMap({ column in
                    rhs.rowIDValue.map { (column, $0) }
                })
                    ?? rhs.column(of: alias).flatMap({ column in lhs.rowIDValue.map { (column, $0) } })
            else { return nil }
            return try isRowID(column.name, column.alias) ? [rowID] : nil
        case .isIn(let operand, .list(let members), isNegated: false):
            let rowIDs = members.compactMap(\.rowIDValue)
            guard let column = operand.column(of: alias), rowIDs.count == members.count else { return nil }
            return try isRowID(column.name, column.alias) ? Set(rowIDs) : nil
        case .associative(.and, let operands):
            return try operands.reduce(nil) { result, operand in
                guard let rowIDs = try operand.identifiedRowIDs(alias: alias, isRowID) else { return result }
                return result?.intersection(rowIDs) ?? rowIDs
            }
        case .associative(.or, let operands):
            return try operands.reduce([]) { result, operand in
                guard let result, let rowIDs = try operand.identifiedRowIDs(alias: alias, isRowID) else {
                    return nil
                }
                return result.union(rowIDs)
            }
        default:
            return nil
        }
    }

    /// The value, if it is an integer. For text and floating-point numbers, the row ID is unknown: SQLite's
    /// conversions may make them equal to a row ID.
    private var rowIDValue: Int64? {
        if case .databaseValue(let value) = impl, case .int64(let rowID) = value.storage {
            rowID
        } else {
            nil
        }
    }
}
