/// An index of the watchers that a change may concern, so that not every watcher has to be checked. Makes
/// decisions only (invariant "Pure state machines").
///
/// Watchers are added and removed more often than anything else. The cost depends only on the size of their
/// own region, not on the number of other watchers.
struct RegionIndex: Sendable {
    typealias ID = RegionWatchState.ID

    /// The watched parts of one table.
    fileprivate struct Table {
        var ids: Set<ID> = []

        /// The number of watchers of all columns, and the number for each other column. Most updates change
        /// only columns that are not watched.
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

    /// Undoes an insertion of the same region.
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

    /// Returns the watchers with any region in the table of such changes; none if the changed columns are not
    /// watched.
    ///
    /// Some of them may watch other columns of the table.
    func candidates(for kind: DatabaseEventKind) -> Set<ID> {
        guard let table = tables[CaseInsensitiveName(kind.tableName)], table.isConcerned(by: kind) else {
            return fullDatabaseIDs
        }
        return table.ids.union(fullDatabaseIDs)
    }
}

extension RegionIndex.Table {
    /// - Parameter columns: nil for all columns.
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
