extension DatabaseWriter {
    /// The old form of ``asyncBarrierWriteWithoutTransaction(_:)-(_)``, which cannot say that there is no
    /// access.
    ///
    /// On a closed database, `updates` runs all the same, and each of its statements throws `SQLITE_MISUSE`.
    @available(*, deprecated, message: "Take a Result<Database, any Error> as the argument of the function.")
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
