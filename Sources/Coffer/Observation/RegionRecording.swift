/// The region that a connection's statements read during a recording.
struct RegionRecording {
    /// Nil outside recordings.
    private var region: DatabaseRegion?

    /// The region that the last started statement could read with any arguments.
    private var lastFacts = DatabaseRegion()

    var isRunning: Bool { region != nil }

    /// The region that was read so far.
    var recordedRegion: DatabaseRegion { region ?? DatabaseRegion() }

    /// Begins a recording, and returns the enclosing one.
    mutating func begin() -> RegionRecording {
        let outer = self
        region = DatabaseRegion()
        return outer
    }

    /// Ends a recording, and continues the enclosing one, to which it adds its region.
    mutating func end(in outer: RegionRecording) { region = outer.region.map { $0.union(recordedRegion) } }

    mutating func add(_ region: DatabaseRegion) { self.region?.formUnion(region) }

    /// - Parameters:
    ///   - region: the region that the statement reads with its arguments.
    ///   - facts: the region that it could read with any arguments.
    mutating func executionWillBegin(reading region: DatabaseRegion, of facts: DatabaseRegion) {
        lastFacts = facts
        add(region)
    }

    /// Adds a column that the running statement reads, unless it is already known. SQLite reports it when it
    /// compiles the statement again in its first step, so no other statement has started since.
    mutating func statementAlsoReads(_ column: String, of table: String) {
        guard isRunning else { return }
        let region =
            column.isEmpty ? DatabaseRegion(table: table) : DatabaseRegion(table: table, columns: [column])
        if lastFacts.union(region) != lastFacts { add(region) }
    }
}

extension Database {
    /// Runs `body`, and returns its result and the region that it reads.
    func recordingRegion<T>(_ body: () throws -> T) rethrows -> (T, DatabaseRegion) {
        let outer = recording.begin()
        defer { recording.end(in: outer) }
        let result = try body()
        return (result, recording.recordedRegion)
    }

    /// Adds a region to those of the observation whose value is being fetched, although the fetch does not
    /// read it.
    ///
    /// It has no effect outside the function of ``ValueObservation/tracking(_:)`` and
    /// ``ValueObservation/trackingConstantRegion(_:)``. The region is evaluated only if it is needed.
    ///
    /// - Throws: errors of determining the region.
    public func registerAccess(to region: @autoclosure () -> any DatabaseRegionConvertible) throws {
        checkIsUsedInItsAccess()
        guard recording.isRunning else { return }
        let region = try region().databaseRegion(self)
        recording.add(region)
    }

    /// Tracks the operations of statements that SQLite compiles again during an execution, so that no change
    /// in that execution is missed.
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
