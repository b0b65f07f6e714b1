internal import SQLCipherBridge
internal import SystemCalls

/// The transactions behind a damaged frame of a write-ahead log, or behind its damaged header. SQLite does
/// not read them, and the next checkpoint or commit deletes them.
struct UnreadCommits {
    /// At least two. A crash during a commit can leave the end of one transaction behind an incomplete frame.
    let count: Int

    /// - Returns: nil if there are none, or another connection has the database open: it may be writing to
    ///   the log, and reads it through its index.
    init?(of path: String) throws {
        let path = try SystemFile.resolved(path)
        guard let file = try SystemFile.status(path), let log = try SystemFile.status("\(path)-wal"),
            log.isRegular, log.size > 32, !file.identity.isOpenInThisProcess
        else { return nil }
        let content = ReadFile(try FileDescriptor.open("\(path)-wal"))
        let found =
            try WriteAheadLog.damaged { try content.read(at: $0, filling: &$1) }?.commitsBehindDamage() ?? 0
        // Only afterwards, because a connection may have been opened meanwhile.
        guard found > 1, try FileUsers.others(of: file).isEmpty,
            try SystemFile.status("\(path)-wal") == log
        else { return nil }
        count = found
    }

    /// Throws before an operation that would delete such transactions.
    static func check(_ path: String) throws {
        guard let commits = try UnreadCommits(of: path) else { return }
        throw DatabaseFileError(.damagedLog(commitCount: commits.count), path: path)
    }
}
