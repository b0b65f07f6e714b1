internal import SQLCipherBridge

/// One committed state of an encrypted file. Its stored pages are read without the engine, while others
/// continue to use the database.
final class StoredState {
    /// A connection that reads this state.
    let connection: ConnectionHandle

    /// The path of the database file.
    let path: String

    /// The stored pages, including the ones in the log.
    let bytes: any StoredBytes
    let pages: PageFile

    /// Opens the same pages on another thread, given a connection to the file.
    let open: @Sendable (ConnectionHandle) throws -> PageFile

    /// Nil in rollback mode.
    private let pin: PinnedState?

    /// Creates the state that a connection reads in its transaction, for a file in rollback mode. The
    /// transaction's lock keeps the pages from changing.
    ///
    /// Nil in WAL mode, and if the connection reads other content than the file has.
    init?(in source: ConnectionHandle, _ protection: FileProtection) throws {
        let bytes = try ConnectionBytes(source)
        let pages = try PageFile(bytes, protection)
        guard try pages.header()?.journalMode == .delete,
            try Int64(pages.pageCount) == source.integer(pragma: "page_count")
        else { return nil }
        guard let path = source.filename(schema: "main"), !path.isEmpty else { return nil }
        connection = source
        self.path = path
        self.bytes = bytes
        self.pages = pages
        open = { try PageFile($0, protection) }
        pin = nil
    }

    /// Pins the last committed state of a file in WAL mode.
    ///
    /// - Throws: `busy` if commits come faster than a transaction can begin.
    init(pinning path: String, _ protection: FileProtection, timeout: Double) throws {
        let path = try SystemFile.resolved(path)
        let pin = try PinnedState(path, protection, timeout: timeout)
        let history = try LogHistory(path: path)
        if !pin.isInFile { _ = try history.advance(to: pin.state) }
        let (size, contents) = (pin.size, history.contents(of: pin))
        connection = pin.handle
        self.path = path
        bytes = PinnedBytes(pin.handle, size, contents)
        pages = try PageFile(bytes, protection)
        open = { try PageFile(PinnedBytes($0, size, contents), protection) }
        self.pin = consume pin
    }
}
