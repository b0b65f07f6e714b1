extension Database {
    /// Runs `body`, and finds out what it reads.
    func recordingRegion<T>(_ body: () throws -> T) rethrows -> (T, DatabaseRegion) {
        let outer = recordedRegion
        recordedRegion = DatabaseRegion()
        defer {
            // A recording inside of another one is a part of it.
            recordedRegion = outer.map { $0.union(recordedRegion ?? DatabaseRegion()) }
        }
        let result = try body()
        return (result, recordedRegion ?? DatabaseRegion())
    }

    /// Has the observation whose value is being fetched observe a region, although the fetch does not read it.
    ///
    /// It has no effect outside of the function of ``ValueObservation/tracking(_:)`` and
    /// ``ValueObservation/trackingConstantRegion(_:)``. Where the region is not of interest, it is not evaluated.
    /// - Throws: errors of finding out what the region is.
    public func registerAccess(to region: @autoclosure () -> any DatabaseRegionConvertible) throws {
        checkIsUsedInItsAccess()
        guard recordedRegion != nil else { return }
        let region = try region().databaseRegion(self)
        recordedRegion?.formUnion(region)
    }
}

extension Database {
    /// Follows what statements do that SQLite compiles again in the middle of an execution, so that no change is missed in that execution.
    func followRecompilations() {
        authorizer.recompilation = { [unowned self] recompiled in
            switch recompiled {
            case .change(let kind):
                return !kind.tableName.isSQLiteInternalTableName && observationBroker.statementMayAlsoChange(kind)
            case .read(let column, let table):
                if !table.isSQLiteInternalTableName { record(column, of: table) }
                return false
            }
        }
    }

    /// Adds a column to the region that is recorded, unless the statement was known to read it. What is compiled again is in its first step, so
    /// that no other statement has begun since.
    private func record(_ column: String, of table: String) {
        guard recordedRegion != nil else { return }
        let region = column.isEmpty ? DatabaseRegion(table: table) : DatabaseRegion(table: table, columns: [column])
        guard lastRecordedFacts.union(region) != lastRecordedFacts else { return }
        recordedRegion?.formUnion(region)
    }
}
