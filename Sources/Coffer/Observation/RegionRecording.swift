/// What the statements of a connection read while a recording runs.
struct RegionRecording {
    /// Nil outside of recordings.
    private var region: DatabaseRegion?

    /// What the statement that began last could read with any arguments.
    private var lastFacts = DatabaseRegion()

    var isRunning: Bool { region != nil }

    /// What was read so far.
    var recordedRegion: DatabaseRegion { region ?? DatabaseRegion() }

    /// Begins a recording, and returns the one that it is a part of.
    mutating func begin() -> RegionRecording {
        let outer = self
        region = DatabaseRegion()
        return outer
    }

    /// Ends a recording, and goes on with the outer one, to which it adds what it has read.
    mutating func end(in outer: RegionRecording) { region = outer.region.map { $0.union(recordedRegion) } }

    mutating func add(_ region: DatabaseRegion) { self.region?.formUnion(region) }

    /// - Parameters:
    ///   - region: what the statement reads with its arguments.
    ///   - facts: what it could read with any arguments.
    mutating func executionWillBegin(reading region: DatabaseRegion, of facts: DatabaseRegion) {
        lastFacts = facts
        add(region)
    }

    /// Adds a column that the running statement reads, unless it was known to read it: SQLite has compiled
    /// the statement again, in its first step, so that no other statement has begun since.
    mutating func statementAlsoReads(_ column: String, of table: String) {
        guard isRunning else { return }
        let region =
            column.isEmpty ? DatabaseRegion(table: table) : DatabaseRegion(table: table, columns: [column])
        if lastFacts.union(region) != lastFacts { add(region) }
    }
}

extension Database {
    /// Runs `body`, and finds out what it reads.
    func recordingRegion<T>(_ body: () throws -> T) rethrows -> (T, DatabaseRegion) {
        let outer = recording.begin()
        defer { recording.end(in: outer) }
        let result = try body()
        return (result, recording.recordedRegion)
    }

    /// Has the observation whose value is being fetched observe a region, although the fetch does not read
    /// it.
    ///
    /// It has no effect outside of the function of ``ValueObservation/tracking(_:)`` and
    /// ``ValueObservation/trackingConstantRegion(_:)``. Where the region is not of interest, it is not
    /// evaluated.
    /// - Throws: errors of finding out what the region is.
    public func registerAccess(to region: @autoclosure () -> any DatabaseRegionConvertible) throws {
        checkIsUsedInItsAccess()
        guard recording.isRunning else { return }
        let region = try region().databaseRegion(self)
        recording.add(region)
    }

    /// Follows what statements do that SQLite compiles again in the middle of an execution, so that no change
    /// is missed in that execution.
    func followRecompilations() {
        inspector.recompilation = { [unowned self] recompiled in
            switch recompiled {
            case .change(let kind):
                return !kind.tableName.isSQLiteInternalTableName
                    && observerNotifier.statementMayAlsoChange(kind)
            case .read(let column, let table):
                if !table.isSQLiteInternalTableName { recording.statementAlsoReads(column, of: table) }
                return false
            }
        }
    }
}
