internal import Dispatch

extension DatabaseWriter {
    /// Encrypts the database file with another key, while the database goes on: see
    /// ``DatabaseFile/rotate(from:to:options:progress:)`` for how.
    ///
    /// Accesses that run are waited for, others wait. Observers, functions, collations and the trace stay. In
    /// WAL mode the log is brought into the file before, and the mode is set again afterwards.
    ///
    /// With ``DatabaseFile/RotationOptions/whileInUse``, accesses of a pool go on while the copy is made and
    /// proved, and wait only for its last part.
    ///
    /// A process that opens the file later needs the new key: give it both by ``Configuration/previousKeys``,
    /// or a provider.
    ///
    ///     try queue.rotateKey(to: next)
    ///
    /// - Parameters:
    ///   - key: the new key. Only this one opens the file when the method returns.
    ///   - options: ``DatabaseFile/RotationOptions/cipher`` has no meaning here: the settings are those of
    ///     the configuration.
    ///   - progress: called with the pages that were done; throws to end the rotation. It must not use the
    ///     database, whose accesses may wait at that moment.
    /// - Throws: a ``DatabaseFileError``: `outpaced` when more is written than
    ///   ``DatabaseFile/RotationOptions/whileInUse`` allows, which only a pool in WAL mode can have; `busy`
    ///   when statements, snapshots, other connections or processes have the file open. The old key goes on
    ///   working then, as after any other error that has ``DatabaseFileError/isPublished`` false.
    /// - Precondition: not called inside of an access of the same writer.
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
    /// - Parameters:
    ///   - key: the new key.
    ///   - options: how it is done.
    ///   - progress: called with the pages that were done; throws to end the rotation.
    /// - Throws: also `CancellationError` if the task is cancelled before the copy is in its place.
    @discardableResult
    public func rotateKey(
        to key: DatabaseKey, options: DatabaseFile.RotationOptions = DatabaseFile.RotationOptions(),
        progress: (@Sendable (DatabaseFile.Progress) throws -> Void)? = nil
    ) async throws -> DatabaseFile.RotationResult {
        if let rotation = try LiveRotation(self, to: key, options) {
            return try await Task.onThread { signal in
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

extension Task where Success == Never, Failure == Never {
    /// Does long work on a thread of its own, and not on one of those that tasks share.
    ///
    /// - Parameter body: looks at the signal now and then, which is set when the task is cancelled.
    fileprivate static func onThread<Value: Sendable>(
        _ body: @escaping @Sendable (StopSignal) throws -> Value
    ) async throws -> Value {
        let signal = StopSignal()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                DispatchQueue(label: "Coffer.LiveRotation").async {
                    continuation.resume(with: Result { try body(signal) })
                }
            }
        } onCancel: {
            signal.set()
        }
    }
}
