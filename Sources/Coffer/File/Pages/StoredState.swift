internal import SQLCipherBridge

/// One committed state of an encrypted file, whose stored pages are read without the engine while others go
/// on.
final class StoredState {
    /// A connection that reads this state.
    let connection: ConnectionHandle

    /// Of the database file.
    let path: String

    /// The stored pages, those of the log in their places.
    let bytes: any StoredBytes
    let pages: PageFile

    /// Opens the same pages for another thread, by a connection to the file.
    let open: @Sendable (ConnectionHandle) throws -> PageFile

    /// Nil in rollback mode.
    private let pin: PinnedState?

    /// The state that a connection reads in its transaction, of a file in rollback mode: nobody changes pages
    /// meanwhile.
    ///
    /// Nil in WAL mode, and where the connection reads something else than the file has.
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

    /// The last committed state of a file in WAL mode.
    ///
    /// - Throws: `busy` when commits come faster than a transaction begins.
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
