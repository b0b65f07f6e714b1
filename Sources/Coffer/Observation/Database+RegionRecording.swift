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
