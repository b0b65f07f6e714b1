extension DatabasePools {
    /// The outcome of the rotation of one database: see ``DatabasePools/rotateAll(_:options:didEnd:)``.
    public struct RotationOutcome: Sendable {
        /// The name of the database.
        public let name: String

        /// The result, or the error, after which the database still has its former key unless
        /// ``DatabaseFileError/isPublished`` is true. ``DatabaseFile/RotationResult/isChanged`` is false if
        /// the database had the new key already.
        public let result: Result<DatabaseFile.RotationResult, any Error>
    }

    /// Encrypts databases with the keys that their configurations have now, one after the other, while all of
    /// them are in use.
    ///
    /// Make the closure for configurations return the new keys, with the former ones in
    /// ``Configuration/previousKeys``, and call this method. A database that has its new key already is
    /// skipped, so if the process ends before all are done, call it again.
    ///
    /// ```swift
    /// let outcomes = try await tenants.rotateAll(options: options)
    /// let failed = outcomes.filter { outcome in (try? outcome.result.get()) == nil }.map(\.name)
    /// ```
    ///
    /// The rotation of a database waits like any other use for one of the databases that may be open.
    ///
    /// - Parameters:
    ///   - names: the databases; nil for all that are in the folder.
    ///   - options: the options of each rotation. Set ``DatabaseFile/RotationOptions/whileInUse`` so that
    ///     accesses do not wait.
    ///   - didEnd: called after each database. It throws to end the work.
    /// - Returns: the outcomes in the order of the databases. An error of one does not end the work.
    /// - Throws: the error of `didEnd`; `CancellationError` if the task is cancelled; ``DatabaseFileError``
    ///   if the folder cannot be read.
    public func rotateAll(
        _ names: [String]? = nil, options: DatabaseFile.RotationOptions = DatabaseFile.RotationOptions(),
        didEnd: (@Sendable (RotationOutcome) throws -> Void)? = nil
    ) async throws -> [RotationOutcome] {
        let names = if let names { names } else { try await self.names() }
        var outcomes: [RotationOutcome] = []
        for name in names {
            try Task.checkCancellation()
            let result: Result<DatabaseFile.RotationResult, any Error>
            do {
                result = .success(try await rotate(name, options))
            } catch is CancellationError {
                throw CancellationError()
            } catch {
                result = .failure(error)
            }
            let outcome = RotationOutcome(name: name, result: result)
            outcomes.append(outcome)
            try didEnd?(outcome)
        }
        return outcomes
    }

    private func rotate(_ name: String, _ options: DatabaseFile.RotationOptions) async throws
        -> DatabaseFile.RotationResult
    {
        let opener = opener
        return try await withPool(name) { pool in
            let key = try await BlockingWork.run("Coffer.Rotation") { _ in try opener.key(of: name) }
            do {
                return try await pool.rotateKey(to: key, options: options)
            } catch let error as DatabaseFileError where error.reason == .sameKey {
                return DatabaseFile.RotationResult(isChanged: false, isResumed: false, duration: 0)
            }
        }
    }
}
