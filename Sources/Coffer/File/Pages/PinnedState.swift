internal import SQLCipherBridge

/// A committed state of a database in WAL mode. A connection in a read transaction keeps it readable as long
/// as this value exists.
struct PinnedState: ~Copyable {
    let state: LogState
    let size: Size
    /// True if the whole state is in the database file, so that nothing in the log is needed. SQLite may then
    /// restart the log.
    let isInFile: Bool
    private let connection: EngineConnection

    /// The number of pages, and the page size in bytes.
    struct Size: Sendable {
        let pageCount: Int
        let pageSize: Int
    }

    /// The connection that pins the state. It must not be used for anything else.
    var handle: ConnectionHandle { connection.handle }

    /// Pins the last committed state.
    ///
    /// - Throws: `busy` if commits come faster than a transaction can begin.
    init(_ path: String, _ protection: FileProtection, timeout: Double) throws {
        let opened = try protection.open(path, flags: .readOnly, timeout: timeout)
        let reading = try PinnedState.beginReading(opened.handle, path)
        let pageSize = protection.ring?.settings.pageSize ?? reading.state.pageSize
        // A log without frames does not state the page count. All pages are then in the file, which no
        // checkpoint changes while the state is pinned. Both sizes may exceed the size of the database.
        let fileCount = try Int(opened.handle.fileSize() ?? 0) / max(1, pageSize)
        let storedCount = reading.state.frameCount == 0 ? fileCount : reading.state.pageCount
        size = Size(
            pageCount: min(storedCount, try Int(opened.handle.integer(pragma: "page_count"))),
            pageSize: pageSize)
        state = reading.state
        isInFile = reading.isInFile
        connection = consume opened
    }

    private static func beginReading(_ handle: ConnectionHandle, _ path: String) throws -> (
        state: LogState, isInFile: Bool
    ) {
        // The state that a transaction reads is known only if no other state was committed while it began.
        for _ in 0..<1000 {
            let before = try handle.logState().state
            try handle.execute("BEGIN")
            try handle.verifyKey()
            let after = try handle.logState()
            // The state was fully checkpointed when the transaction began, or has been since, without a new
            // commit. Otherwise SQLite keeps the log for this transaction.
            if before == after.state { return (before, after.backfilledCount == before.frameCount) }
            try handle.execute("ROLLBACK")
        }
        throw DatabaseFileError(.busy([]), path: path)
    }
}
