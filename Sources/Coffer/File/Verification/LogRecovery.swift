internal import Foundation
internal import SQLCipherBridge

/// Compares a write-ahead log as the processes that use it see it with what recovery would find in it.
///
/// Processes read a log by its index, in shared memory, and recovery by the checksums of its frames. An
/// engine with ``EngineFault/lostCommits`` writes frames without a checksum: everything works, until the last
/// process that has the database open ends without a checkpoint.
struct LogRecovery {
    let path: String

    /// How often a log that others write to is looked at again.
    private static let attempts = 5

    /// - Returns: nil where no process that can be seen has the database open with a log. Whoever opened the
    ///   index then would recover the log.
    init?(_ path: String) throws {
        let path = (try? SystemFile.resolved(path)) ?? path
        guard let file = try SystemFile.status(path),
            let log = try SystemFile.status(path + "-wal"), log.size > 0,
            try SystemFile.status(path + "-shm") != nil,
            FileIdentity(path)?.isOpenInThisProcess == true || !FileUsers.others(of: file).isEmpty
        else { return nil }
        self.path = path
    }

    /// How many frames the index counts, up to the last one, that recovery would not find.
    func lostFrameCount(_ protection: FileProtection, timeout: Double) throws -> Int {
        for _ in 0..<LogRecovery.attempts {
            let pin = try PinnedState(path, protection, timeout: timeout)
            guard try pin.handle.firstText(trusted: "PRAGMA main.journal_mode") == "wal" else { return 0 }
            let count = try pin.state.frameCount - recoverableFrameCount(pin.state)
            // A log that is wholly in the file may be begun anew while it is read.
            if try count == 0 || pin.handle.logState().state == pin.state { return count }
        }
        throw DatabaseFileError(.busy([]), path: path)
    }

    /// Brings the log into the file and begins it anew.
    ///
    /// - Throws: `busy` if other connections need the log.
    func checkpoint(_ protection: FileProtection, timeout: Double) throws {
        let connection = try protection.openForWriting(path, timeout: timeout)
        let result = connection.handle.checkpoint(
            schema: "main", mode: Database.CheckpointMode.truncate.rawValue)
        guard result.code & 0xff != EngineCode.busy else { throw DatabaseFileError(.busy([]), path: path) }
        try connection.handle.check(result.code)
    }

    /// The frames up to the end of the last transaction that recovery would find, of those in the index.
    private func recoverableFrameCount(_ state: LogState) throws -> Int {
        let file = try FileDescriptor.open("\(path)-wal")
        let bytes = try LogBytes(file)
        guard let log = try WriteAheadLog(read: bytes.read), log.salts == state.salt else { return 0 }
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

/// The descriptor of a log: to close it takes no lock, as SQLite has none on logs.
private final class LogBytes {
    private let file: FileDescriptor

    init(_ file: consuming FileDescriptor) throws { self.file = file }

    func read(at offset: Int64, into target: inout [UInt8]) throws -> Int {
        var span = target.mutableSpan
        return try file.read(at: offset, into: &span)
    }
}

extension DatabaseFile {
    /// Brings commits into the file that would be lost with the processes that use it, and reports how many
    /// frames of the log they have.
    ///
    /// A program with an engine that has ``EngineFault/lostCommits``, such as the shell of a distribution,
    /// reads what it has committed, and recovery would not:
    /// ``Verification/Finding/unrecoverable(frameCount:)``. While one of these programs has the file open, a
    /// complete checkpoint saves the commits.
    ///
    ///     let savedCount = try file.healLog(key: key)
    ///
    /// - Parameters:
    ///   - key: nil for a file without encryption.
    ///   - options: the settings of the file, and how long to wait for others.
    /// - Returns: zero if there was nothing to heal.
    /// - Throws: a ``DatabaseFileError``: `busy` if others read an older state all the time.
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
