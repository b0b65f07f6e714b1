extension DatabaseWriter {
    /// The former variant of ``asyncBarrierWriteWithoutTransaction(_:)-(_)``, which cannot report an error.
    ///
    /// On a closed database, `updates` runs anyway, and each of its statements throws `SQLITE_MISUSE`.
    @available(*, deprecated, message: "Declare the argument of the function as Result<Database, any Error>.")
    @_disfavoredOverload
    public func asyncBarrierWriteWithoutTransaction(_ updates: @escaping @Sendable (Database) -> Void) {
        asyncBarrierWriteWithoutTransaction { (result: Result<Database, any Error>) in
            switch result {
            case .success(let db): updates(db)
            case .failure: self.asyncWriteWithoutTransaction(updates)
            }
        }
    }
}
