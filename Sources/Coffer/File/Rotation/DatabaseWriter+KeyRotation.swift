extension DatabaseWriter {
    /// Encrypts the database file with another key while the database stays open. See
    /// ``DatabaseFile/rotate(from:to:options:progress:)`` for the steps.
    ///
    /// The rotation waits for current accesses, and later accesses wait for the rotation. Observers,
    /// functions, collations, and the trace stay. In WAL mode the log is checkpointed first, and the mode is
    /// set again afterwards.
    ///
    /// With ``DatabaseFile/RotationOptions/whileInUse``, accesses of a pool continue while the copy is made
    /// and proved, and wait only for its last part.
    ///
    /// A process that opens the file later needs the new key: give it both keys with
    /// ``Configuration/previousKeys``, or a provider.
    ///
    ///     try queue.rotateKey(to: next)
    ///
    /// - Parameters:
    ///   - key: the new key. Only this key opens the file when the method returns.
    ///   - options: ``DatabaseFile/RotationOptions/cipher`` is ignored here: the configuration's settings
    ///     apply.
    ///   - progress: called with the number of completed pages; throws to end the rotation. It must not use
    ///     the database, whose accesses may be waiting.
    /// - Throws: a ``DatabaseFileError``: `outpaced` if more is written than
    ///   ``DatabaseFile/RotationOptions/whileInUse`` allows, which only applies to a pool in WAL mode; `busy`
    ///   if statements, snapshots, other connections, or processes have the file open. The old key then
    ///   remains valid, as after any other error whose ``DatabaseFileError/isPublished`` is false. If the
    ///   file could not be opened again afterwards, for example because the process has too many open files,
    ///   accesses throw `SQLITE_CANTOPEN` until one of them can open it.
    /// - Precondition: not called inside an access of the same writer.
    @discardableResult
    @_disfavoredOverload
    public func rotateKey(
        to key: DatabaseKey, options: DatabaseFile.RotationOptions = DatabaseFile.RotationOptions(),
        progress: DatabaseFile.ProgressFunction? = nil
    ) throws -> DatabaseFile.RotationResult {
        if let rotation = try LiveRotation(self, to: key, options) {
            return try rotation.perform(ProgressReport(progress))
        }
        return try barrierWriteWithoutTransaction { db in
            try withoutNewSnapshots {
                try db.rotateKey(to: key, options: options, progress: ProgressReport(progress))
            }
        }
    }

    /// Encrypts the database file with another key as `rotateKey(to:options:progress:)` does, without
    /// blocking a thread while it waits.
    ///
    /// - Parameter progress: called with the number of completed pages; throws to end the rotation.
    /// - Throws: also `CancellationError` if the task is canceled before the copy is in its place.
    @discardableResult
    public func rotateKey(
        to key: DatabaseKey, options: DatabaseFile.RotationOptions = DatabaseFile.RotationOptions(),
        progress: (@Sendable (DatabaseFile.Progress) throws -> Void)? = nil
    ) async throws -> DatabaseFile.RotationResult {
        if let rotation = try LiveRotation(self, to: key, options) {
            return try await BlockingWork.run("Coffer.LiveRotation") { signal in
                let progress = ProgressReport({ step in
                    try signal.check()
                    try progress?(step)
                })
                return try rotation.perform(progress)
            }
        }
        return try await barrierWriteWithoutTransaction { db in
            try withoutNewSnapshots {
                try db.rotateKey(to: key, options: options, progress: ProgressReport(progress))
            }
        }
    }
}

extension DatabaseWriter {
    /// - Precondition: called with exclusive access.
    fileprivate func withoutNewSnapshots<T>(_ body: () throws -> T) rethrows -> T {
        guard let pool = ((self as? AnyDatabaseWriter)?.base ?? self) as? DatabasePool else {
            return try body()
        }
        return try pool.snapshotGate.whileClosed(body)
    }
}
