/// Which watchers a change can concern, found without asking each of them. Decisions only (I9).
///
/// Watchers come and go more often than anything else: that costs as much as their own regions are large,
/// however many others there are.
struct RegionIndex: Sendable {
    typealias ID = RegionWatchState.ID

    /// What is watched of one table.
    fileprivate struct Table {
        var ids: Set<ID> = []

        /// How many watch all of its columns, and how many each of the others: most updates concern nobody's
        /// columns.
        var allColumnsCount = 0
        var columnCounts: [CaseInsensitiveName: Int] = [:]
    }

    private var tables: [CaseInsensitiveName: Table] = [:]
    private var fullDatabaseIDs: Set<ID> = []

    mutating func insert(_ region: DatabaseRegion, of id: ID) {
        guard !region.isFullDatabase else {
            fullDatabaseIDs.insert(id)
            return
        }
        region.forEachTable { name, columns in tables[name, default: Table()].insert(columns, of: id) }
    }

    /// Takes back an insertion of the same region.
    mutating func remove(_ region: DatabaseRegion, of id: ID) {
        guard !region.isFullDatabase else {
            fullDatabaseIDs.remove(id)
            return
        }
        region.forEachTable { name, columns in
            tables[name]?.remove(columns, of: id)
            if tables[name]?.ids.isEmpty == true { tables[name] = nil }
        }
    }

    /// The watchers whose regions have anything in the table that such changes are made in; none if nobody
    /// watches what they change.
    ///
    /// Some of them may watch other columns than those.
    func candidates(for kind: DatabaseEventKind) -> Set<ID> {
        guard let table = tables[CaseInsensitiveName(kind.tableName)], table.isConcerned(by: kind) else {
            return fullDatabaseIDs
        }
        return table.ids.union(fullDatabaseIDs)
    }
}

extension RegionIndex.Table {
    /// - Parameter columns: nil for all of them.
    fileprivate mutating func insert(_ columns: Set<CaseInsensitiveName>?, of id: RegionIndex.ID) {
        ids.insert(id)
        guard let columns else {
            allColumnsCount += 1
            return
        }
        for column in columns { columnCounts[column, default: 0] += 1 }
    }

    fileprivate mutating func remove(_ columns: Set<CaseInsensitiveName>?, of id: RegionIndex.ID) {
        ids.remove(id)
        guard let columns else {
            allColumnsCount -= 1
            return
        }
        for column in columns {
            let count = columnCounts[column, default: 1] - 1
            columnCounts[column] = count == 0 ? nil : count
        }
    }

    fileprivate func isConcerned(by kind: DatabaseEventKind) -> Bool {
        guard allColumnsCount == 0, case .update(_, let names) = kind else { return true }
        return names.contains { columnCounts[CaseInsensitiveName($0)] != nil }
    }
}
