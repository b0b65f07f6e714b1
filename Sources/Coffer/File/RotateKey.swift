extension DatabaseQueue {
    /// Encrypts the database file with another key, while the queue goes on: see ``DatabaseFile/rotate(from:to:options:progress:)`` for how.
    ///
    /// Accesses that run are waited for, others wait. Observers, functions, collations and the trace stay. In WAL mode the log is brought into
    /// the file before, and the mode is set again afterwards.
    /// - Parameters:
    ///   - key: the new key. Only this one opens the file when the method returns.
    ///   - options: ``DatabaseFile/RotationOptions/cipher`` is of no meaning here: the settings are those of the configuration.
    ///   - progress: hears of pages; throws to end the rotation.
    /// - Throws: a ``DatabaseFileError``: `busy` when statements, snapshots, other connections or processes have the file open. The old key goes
    ///   on working then, as after any other error that has ``DatabaseFileError/isPublished`` false.
    @discardableResult
    public func rotateKey(
        to key: DatabaseKey, options: DatabaseFile.RotationOptions = DatabaseFile.RotationOptions(),
        progress: DatabaseFile.ProgressFunction? = nil
    ) throws -> DatabaseFile.RotationResult {
        throw DatabaseFileError(.unsupported("Not there yet."), path: path)
    }
}

extension DatabasePool {
    /// Encrypts the database file with another key, while the pool goes on: see ``DatabaseQueue/rotateKey(to:options:progress:)``.
    @discardableResult
    public func rotateKey(
        to key: DatabaseKey, options: DatabaseFile.RotationOptions = DatabaseFile.RotationOptions(),
        progress: DatabaseFile.ProgressFunction? = nil
    ) throws -> DatabaseFile.RotationResult {
        throw DatabaseFileError(.unsupported("Not there yet."), path: path)
    }
}
