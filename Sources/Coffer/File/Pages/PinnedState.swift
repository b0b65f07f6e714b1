internal import SQLCipherBridge

/// A committed state of a database in WAL mode that SQLite keeps readable until the end of this value, by a
/// connection that reads.
struct PinnedState: ~Copyable {
    let state: LogState
    let size: Size
    /// Whether all of it is in the database file, so that nothing of the log is needed. SQLite may begin the
    /// log anew then.
    let isInFile: Bool
    private let connection: EngineConnection

    /// How many pages there are, and of how many bytes.
    struct Size: Sendable {
        let pageCount: Int
        let pageSize: Int
    }

    /// Of a connection that reads the state. It must not be used for anything else.
    var handle: ConnectionHandle { connection.handle }

    /// Pins the last committed state.
    ///
    /// - Throws: `busy` when commits come faster than a transaction begins.
    init(_ path: String, _ protection: FileProtection, timeout: Double) throws {
        let opened = try protection.open(path, flags: .readOnly, timeout: timeout)
        let reading = try PinnedState.beginReading(opened.handle, path)
        let pageSize = protection.ring?.settings.pageSize ?? reading.state.pageSize
        // Without a frame, the log does not know, and everything is in the file, which stays as it is. Both
        // may be longer than the database.
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
        // Which state a transaction reads is known if no other one was committed while it began.
        for _ in 0..<1000 {
            let before = try handle.logState().state
            try handle.execute("BEGIN")
            try handle.verifyKey()
            let after = try handle.logState()
            // It was in the file when the transaction began, or has come there without a change of the state.
            // Otherwise SQLite keeps the log for it.
            if before == after.state { return (before, after.backfilledCount == before.frameCount) }
            try handle.execute("ROLLBACK")
        }
        throw DatabaseFileError(.busy([]), path: path)
    }
}
