internal import SQLCipherBridge
internal import SystemCalls

/// The transactions after a damaged frame of a write-ahead log, or after its damaged header. SQLite does not
/// read them, and the next checkpoint or commit deletes them.
enum UnreadCommits {
    /// Returns the number of these transactions. A single one does not count: a crash during its commit may
    /// have left its end after an incomplete frame.
    ///
    /// - Returns: zero if another connection has the database open. It may be writing to the log, and reads
    ///   it through its index.
    static func count(_ path: String) throws -> Int {
        let path = try SystemFile.resolved(path)
        guard let file = try SystemFile.status(path), let log = try SystemFile.status("\(path)-wal"),
            log.isRegular, log.size > 32, !file.identity.isOpenInThisProcess
        else { return 0 }
        let content = ReadFile(try FileDescriptor.open("\(path)-wal"))
        let count =
            try WriteAheadLog.damaged { try content.read(at: $0, filling: &$1) }?.commitsBehindDamage() ?? 0
        // Only afterwards, because a connection may have been opened in the meantime.
        guard count > 1, try FileUsers.others(of: file).isEmpty,
            try SystemFile.status("\(path)-wal") == log
        else { return 0 }
        return count
    }
}
