extension DatabaseWriter {
    /// Encrypts the database file with another key, while the database goes on: see ``DatabaseFile/rotate(from:to:options:progress:)`` for how.
    ///
    /// Accesses that run are waited for, others wait. Observers, functions, collations and the trace stay. In WAL mode the log is brought into
    /// the file before, and the mode is set again afterwards.
    ///
    /// A process that opens the file later needs the new key: give it both by ``Configuration/previousKeys``, or a provider.
    /// - Parameters:
    ///   - key: the new key. Only this one opens the file when the method returns.
    ///   - options: ``DatabaseFile/RotationOptions/cipher`` has no meaning here: the settings are those of the configuration.
    ///   - progress: hears of pages; throws to end the rotation.
    /// - Throws: a ``DatabaseFileError``: `busy` when statements, snapshots, other connections or processes have the file open. The old key goes
    ///   on working then, as after any other error that has ``DatabaseFileError/isPublished`` false.
    /// - Precondition: not called inside of an access of the same writer.
    @discardableResult
    @_disfavoredOverload
    public func rotateKey(
        to key: DatabaseKey, options: DatabaseFile.RotationOptions = DatabaseFile.RotationOptions(),
        progress: DatabaseFile.ProgressFunction? = nil
    ) throws -> DatabaseFile.RotationResult {
        try barrierWriteWithoutTransaction { db in
            try db.rotateKey(to: key, options: options, progress: ProgressReport(progress))
        }
    }

    /// Encrypts the database file with another key as ``rotateKey(to:options:progress:)-(_,_,_)`` does, without blocking a thread while it waits.
    ///
    /// - Throws: also `CancellationError` if the task is cancelled before the copy is in its place.
    @discardableResult
    public func rotateKey(
        to key: DatabaseKey, options: DatabaseFile.RotationOptions = DatabaseFile.RotationOptions(),
        progress: (@Sendable (DatabaseFile.Progress) throws -> Void)? = nil
    ) async throws -> DatabaseFile.RotationResult {
        try await barrierWriteWithoutTransaction { db in
            try db.rotateKey(to: key, options: options, progress: ProgressReport(progress))
        }
    }
}
