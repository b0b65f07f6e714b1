internal import SQLCipherBridge
internal import SystemCalls

/// Compares a write-ahead log as running processes see it with what recovery would find in it.
///
/// Processes read a log through its index in shared memory. Recovery reads it by the checksums of its frames.
/// An engine with ``EngineFault/lostCommits`` writes frames without a checksum, which goes unnoticed until
/// the last process that has the database open ends without a checkpoint.
struct LogRecovery {
    let path: String

    /// The maximum number of comparisons of a log that others write to.
    private static let attempts = 5

    /// - Returns: nil if no visible process has the database open with a log. In that case, opening the index
    ///   would recover the log.
    init?(_ path: String) throws {
        let path = (try? SystemFile.resolved(path)) ?? path
        guard let file = try SystemFile.status(path),
            let log = try SystemFile.status(path + "-wal"), log.size > 0,
            try SystemFile.status(path + "-shm") != nil,
            try FileIdentity(path)?.isOpenInThisProcess == true || !FileUsers.others(of: file).isEmpty
        else { return nil }
        self.path = path
    }

    /// Returns the number of frames that the index counts, up to its last one, but that recovery would not
    /// find.
    func lostFrameCount(_ protection: FileProtection, timeout: Double) throws -> Int {
        for _ in 0..<LogRecovery.attempts {
            let pin = try PinnedState(path, protection, timeout: timeout)
            guard try pin.handle.firstText(trusted: "PRAGMA main.journal_mode") == "wal" else { return 0 }
            let count = try pin.state.frameCount - recoverableFrameCount(pin.state)
            // A fully checkpointed log may be restarted while it is read.
            if try count == 0 || pin.handle.logState().state == pin.state { return count }
        }
        throw DatabaseFileError(.busy([]), path: path)
    }

    /// Checkpoints the log, and truncates it.
    ///
    /// - Throws: `busy` if other connections need the log.
    func checkpoint(_ protection: FileProtection, timeout: Double) throws {
        let connection = try protection.openForWriting(path, timeout: timeout)
        let result = connection.handle.checkpoint(
            schema: "main", mode: Database.CheckpointMode.truncate.rawValue)
        guard result.code & 0xff != EngineCode.busy else { throw DatabaseFileError(.busy([]), path: path) }
        try connection.handle.check(result.code)
    }

    /// Returns the number of frames up to the end of the last transaction that recovery would find, among the
    /// frames in the index.
    private func recoverableFrameCount(_ state: LogState) throws -> Int {
        // Closing it drops no locks, because SQLite holds none on logs.
        let file = ReadFile(try FileDescriptor.open("\(path)-wal"))
        guard let log = try WriteAheadLog(read: { try file.read(at: $0, filling: &$1) }),
            log.salts == state.salt
        else { return 0 }
        var (count, committed) = (0, 0)
        var checksum: [UInt32] = []
        try log.forEachFrame(after: log.start) { frame, end in
            count += 1
            if frame.committedPageCount != nil { (committed, checksum) = (count, end.checksum) }
            return count < state.frameCount
        }
        guard committed == state.frameCount else { return committed }
        return checksum == state.checksum ? committed : 0
    }
}

extension DatabaseFile {
    /// Checkpoints commits that would be lost with the processes that use the database, and returns the
    /// number of their frames in the log.
    ///
    /// A program whose engine has ``EngineFault/lostCommits``, such as the shell of a distribution, can read
    /// its own commits, but recovery would not find them:
    /// ``Verification/Finding/unrecoverable(frameCount:)``. While one of these programs has the file open, a
    /// complete checkpoint saves the commits.
    ///
    ///     let savedCount = try file.healLog(key: key)
    ///
    /// - Parameters:
    ///   - key: nil for a file without encryption.
    ///   - options: the settings of the file, and the time to wait for other processes.
    /// - Returns: zero if there was nothing to save.
    /// - Throws: a ``DatabaseFileError``: `busy` if other connections kept reading an older state.
    public func healLog(
        key: DatabaseKey?, options: VerificationOptions = VerificationOptions()
    ) throws -> Int {
        try DatabaseFileError.translated(path) {
            guard let recovery = try LogRecovery(path) else { return 0 }
            let protection = try OpenedView(
                path, key: key, cipher: options.cipher, timeout: options.lockTimeout
            ).protection
            let count = try recovery.lostFrameCount(protection, timeout: options.lockTimeout)
            if count > 0 { try recovery.checkpoint(protection, timeout: options.lockTimeout) }
            return count
        }
    }
}
