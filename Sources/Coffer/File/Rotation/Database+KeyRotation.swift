internal import SQLCipherBridge
internal import SystemCalls

extension Database {
    /// Rotates the key of the connection's file, and continues with the new key.
    ///
    /// - Precondition: no other connection of the writer is in use.
    func rotateKey(
        to key: DatabaseKey, options: DatabaseFile.RotationOptions, progress: ProgressReport
    ) throws -> DatabaseFile.RotationResult {
        checkIsUsedInItsAccess()
        let start = ContinuousClock.now
        try checkIsOpen()
        let file = try pathOfRotatableFile()
        // Progress reports check for the cancellation of the task. The accesses of a connection are also
        // cancelled when it is being closed.
        let progress = progress.noting { [sharedState] _ in
            if sharedState.isCancelled { throw CancellationError() }
        }
        return try describingFailures(file) {
            try checkLosesNothing()
            keying.keys.keyWillChange()
            let change: KeyChange
            do {
                change = try planKeyChange(to: key, of: file)
            } catch let error as DatabaseFileError where error.reason == .sameKey {
                return try completeRotation(options, since: start)
            }
            try endOwnStatements()
            return try undisturbed {
                switch options.method {
                case .copy:
                    return try rotateByCopy(change, options, progress, since: start)
                case .inPlace:
                    let (proof, isResumed) = try rekeyInPlace(change, progress) { proof in
                        try FileRotation.audit(proof, options, path: file, since: start)
                    }
                    return FileRotation.result(proof, isResumed: isResumed, options, since: start)
                }
            }
        }
    }

    /// Completes a rotation that failed when the file had its new key already.
    ///
    /// - Throws: `sameKey` if there is none.
    /// - Precondition: called in the access that found that the file has this key already, because the
    ///   connection may be closed between two accesses.
    func completeRotation(_ options: DatabaseFile.RotationOptions, since start: ContinuousClock.Instant)
        throws
        -> DatabaseFile.RotationResult
    {
        let file = try pathOfRotatableFile()
        return try describingFailures(file) {
            try endOwnStatements()
            let isCompleted = try undisturbed {
                try InPlaceNote.completeInterruptedRun(file, handle, currentProtection())
            }
            guard isCompleted else { throw DatabaseFileError(.sameKey, path: file) }
            return FileRotation.result(nil, isResumed: true, options, since: start)
        }
    }

    /// The keys before and after a rotation.
    struct KeyChange {
        let file: String
        let identity: FileIdentity
        let before: FileProtection
        let after: FileProtection
        let wanted: KeyRing
    }

    private func planKeyChange(to key: DatabaseKey, of file: String) throws -> KeyChange {
        let before = try currentProtection()
        let wanted = try keying.keys.makeRing(for: key)
        // The key of a keyring is the one that the file has.
        let key = try wanted.resolve(keyIndex: 0).resolved(at: file, fileSalt: FileHeader(handle).salt)
        let resolved = try KeyRing(key: key, settings: configuration.cipher)
        let after = FileProtection.encrypted(resolved)
        guard !before.hasSameSecret(as: after) else { throw DatabaseFileError(.sameKey, path: file) }
        guard let identity = FileIdentity(file) else { throw DatabaseError.fileMoved(file) }
        return KeyChange(file: file, identity: identity, before: before, after: after, wanted: wanted)
    }

    private func describingFailures<Result>(_ file: String, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
            // Statements of the application are active.
            var user = FileUsers.thisProcess
            user.command = error.message.map { "this process: \($0)" } ?? user.command
            throw DatabaseFileError(.busy([user]), path: file)
        } catch {
            let error = DatabaseFileError.publicError(error, path: file)
            let isInterruption = (error as? any InterruptibleError)?.isInterruptionError ?? false
            if isInterruption && sharedState.isCancelled { throw CancellationError() }
            throw error
        }
    }

    private func pathOfRotatableFile() throws -> String {
        func refuse(_ words: String) -> DatabaseFileError {
            DatabaseFileError(.unsupported(words), path: path)
        }
        guard isEncrypted, !path.isEmpty, path != ":memory:", let file = handle.filename(schema: "main"),
            !file.isEmpty
        else {
            throw refuse("Only the key of an encrypted file can be rotated.")
        }
        guard handle.fileIdentity(schema: "main") == FileIdentity(file) else {
            throw refuse("The path of the file is not valid UTF-8.")
        }
        guard !isReadingOnly else { throw refuse("The connection is read-only.") }
        try filePlace?.check(handle)
        guard !isInsideTransaction else { throw refuse("The key cannot be rotated inside a transaction.") }
        return file
    }

    /// Refuses if the connection has temporary tables or attached databases, which its replacement would not
    /// have.
    private func checkLosesNothing() throws {
        let attached: [String]
        let temporary: [String]
        do {
            // Number 0 is the main database, and number 1 the temporary one.
            attached = try handle.column(trusted: "SELECT name FROM pragma_database_list WHERE seq > 1")
            temporary = try handle.column(
                trusted:
                    "SELECT type || ' ' || name FROM sqlite_temp_master WHERE name NOT LIKE 'sqlite\\_%' "
                    + "ESCAPE '\\'"
            )
        } catch {
            throw DatabaseError(error)
        }
        guard attached.isEmpty else {
            let names = attached.joined(separator: ", ")
            throw DatabaseFileError(
                .unsupported(
                    "The connection has attached databases (\(names)). Detach them before the rotation."),
                path: path)
        }
        guard temporary.isEmpty else {
            let names = temporary.joined(separator: ", ")
            throw DatabaseFileError(
                .unsupported(
                    "The connection has temporary objects (\(names)), which would be lost. Drop them before "
                        + "the rotation."
                ),
                path: path)
        }
    }

    /// Returns the file's current protection; nil if a key would have to be derived or requested, or if the
    /// application set it by SQL.
    func knownProtection() throws -> FileProtection? {
        guard isEncrypted else { return .plaintext }
        guard let ring = keying.ring else { return nil }
        let salt = try FileHeader(handle).salt
        guard ring.cachedMaterial(keyIndex: ring.usedKeyIndex ?? 0, fileSalt: salt) != nil else { return nil }
        return try currentProtection()
    }

    /// Returns the file's current protection, with a single key that is not requested again.
    private func currentProtection() throws -> FileProtection {
        guard let ring = keying.ring else { throw DatabaseError(encryptionFailure: .noKey) }
        let salt = try FileHeader(handle).salt
        let index = ring.usedKeyIndex ?? 0
        let material = ring.cachedMaterial(keyIndex: index, fileSalt: salt)
        let key =
            if ring.keys[index].isProvider, let material {
                // The provider may already return the new key only.
                DatabaseKey(.rawKey(material.secret, salt: material.isBoundToFileSalt ? nil : material.salt))
            } else {
                ring.keys[index]
            }
        let single = try KeyRing(key: key, settings: ring.settings)
        if let material { single.remember(material, keyIndex: 0, fileSalt: salt) }
        return .encrypted(single)
    }

    private func rotateByCopy(
        _ change: KeyChange, _ options: DatabaseFile.RotationOptions, _ progress: ProgressReport,
        since start: ContinuousClock.Instant
    ) throws -> DatabaseFile.RotationResult {
        var job = FileRotation.job(
            FileChange(path: change.file, before: change.before, after: change.after), options)
        job.audit = { proof in try FileRotation.audit(proof, options, path: change.file, since: start) }
        job.lentConnection = handle
        job.resume = { new in try self.resume(new, change) }
        let result = try FileReplacement(job, progress: progress).run()
        return FileRotation.result(result.proof, isResumed: result.isResumed, options, since: start)
    }

    /// Runs the part of a rotation that leaves the WAL mode, without interruptions, which could prevent the
    /// mode from being restored, and without the observers' hooks: its transactions are not reported to
    /// observers.
    ///
    /// If it fails, the mode may not have been restored, for example because the disk is full. Then each
    /// access tries to restore it.
    ///
    /// - Precondition: the connection has no active statements.
    private func undisturbed<Result>(_ body: () throws -> Result) throws -> Result {
        let original = handle
        let mode = try handle.journalMode()
        observerNotifier.removeHooks()
        defer {
            if !isClosed && handle == original { observerNotifier.move(to: handle, inspector: inspector) }
        }
        do {
            return try withoutInterruption(body)
        } catch {
            if mode == .wal { unfinishedJournalMode = .left }
            throw error
        }
    }

    /// Begins a rotation while the database is in use. It makes the same checks as the end of the rotation,
    /// so that it fails early.
    func planLiveKeyChange(to key: DatabaseKey) throws -> KeyChange {
        try checkIsOpen()
        let file = try pathOfRotatableFile()
        return try describingFailures(file) {
            try checkLosesNothing()
            guard try handle.journalMode() == .wal else {
                throw DatabaseFileError(
                    .unsupported(
                        "The key can only be rotated while the database is in use if the database is in "
                            + "WAL mode."),
                    path: file)
            }
            try endOwnStatements()
            return try planKeyChange(to: key, of: file)
        }
    }

    /// Completes a rotation during which the database was in use.
    ///
    /// - Precondition: no other connection of the pool is in use.
    /// - Parameter replace: puts the copy in the place of the file; called with this connection, and with a
    ///   function that continues with the new file.
    func completeLiveRotation<Result>(
        _ change: KeyChange,
        _ replace: (ConnectionHandle, _ resume: @escaping (ReplacementJob.NewFile) throws -> Void) throws
            -> Result
    ) throws -> Result {
        checkIsUsedInItsAccess()
        try checkIsOpen()
        guard try pathOfRotatableFile() == change.file else {
            throw DatabaseFileError(.unsafeFile(.replaced), path: change.file)
        }
        return try describingFailures(change.file) {
            try checkLosesNothing()
            keying.keys.keyWillChange()
            guard try currentProtection().hasSameSecret(as: change.before) else {
                throw DatabaseFileError(.busy([]), path: change.file)
            }
            try endOwnStatements()
            return try undisturbed {
                let original = handle
                do {
                    return try replace(handle) { new in try self.resume(new, change) }
                } catch {
                    if !isClosed && handle == original { releaseKeptLock(change) }
                    throw error
                }
            }
        }
    }

    /// Replaces the connection if it still has an exclusive lock on the file. If SQLite fails to leave the
    /// WAL mode under that lock, for example because of an I/O error, it keeps the lock until the connection
    /// is closed. If the file cannot be opened again yet, the next access tries it.
    private func releaseKeptLock(_ change: KeyChange) {
        guard (try? handle.fileLockLevel()) == .exclusive else { return }
        try? replaceHandle(
            of: change.identity,
            working: { old in
                if !old.isAutocommit { try? old.execute("ROLLBACK") }
            },
            reopening: { [unowned self] reopening in
                try change.before.openForWriting(
                    change.file, locking: configuration.engineLocking, timeout: reopening.patience,
                    work: keying.keys.pageWork)
            })
    }

    private func resume(_ new: ReplacementJob.NewFile, _ change: KeyChange) throws {
        let (file, after, wanted, journalMode) = (change.file, change.after, change.wanted, new.journalMode)
        do {
            try replaceHandle(
                of: new.identity,
                working: { old in
                    if !old.isAutocommit { try? old.execute("ROLLBACK") }
                },
                reopening: { [unowned self] reopening in
                    // Another process may be the first to open the new file, and may be switching it to WAL
                    // mode.
                    let deadline = Deadline(after: reopening.patience)
                    let opened = try deadline.retryingWhileBusy {
                        try after.openForWriting(
                            file, locking: configuration.engineLocking, timeout: reopening.patience,
                            work: keying.keys.pageWork)
                    }
                    adopt(wanted, openedBy: after, opened.handle)
                    // Done before observers are attached, which would be notified of a commit.
                    try? deadline.retryingWhileBusy { try opened.handle.restore(journalMode, after) }
                    return opened
                })
        } catch {
            if isClosed {
                // The readers of a pool may be able to open the file before the writer is.
                keying.adopt(wanted)
                try? keying.keys.checkFile(at: path, isDecisive: true)
            }
            throw error
        }
        try handle.restore(journalMode, after)
        try FailPoint.reopened.pass(file)
    }

    /// Makes this connection and later ones use the new key, with its derived key material.
    func adopt(_ wanted: KeyRing, openedBy after: FileProtection, _ new: ConnectionHandle) {
        if let salt = try? FileHeader(new).salt, let material = try? after.material(fileSalt: salt) {
            wanted.remember(material, keyIndex: 0, fileSalt: salt)
        }
        keying.adopt(wanted)
    }
}
