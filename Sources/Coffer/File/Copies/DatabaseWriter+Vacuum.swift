extension DatabaseWriter {
    /// Removes the free pages of the database file and makes the pages of each table contiguous, by `VACUUM`.
    ///
    /// The key and the cipher settings are kept. The new content is built in memory, and needs as much memory
    /// as its size.
    ///
    /// - Throws: `SQLITE_BUSY` and `SQLITE_LOCKED` if the database is in use elsewhere; the error of a
    ///   statement.
    public func vacuum() throws {
        try writeWithoutTransaction { try $0.execute(sql: "VACUUM") }
    }

    /// Vacuums the database as `vacuum()` does, without blocking a thread while it waits.
    public func vacuum() async throws {
        try await writeWithoutTransaction { try $0.execute(sql: "VACUUM") }
    }

    /// Removes all content of the database: tables, indexes, views, triggers, virtual tables, and its version
    /// numbers.
    ///
    /// The key and the cipher settings stay, and the file remains a valid, encrypted database. No other
    /// access runs at the same time; snapshots of a pool keep their content. Erased content may remain in
    /// free areas of the disk, and in the WAL file as long as a snapshot needs it.
    ///
    /// - Throws: `SQLITE_BUSY` if another connection uses the database, which then stays unchanged.
    public func erase() throws {
        try barrierWriteWithoutTransaction { try $0.eraseContent() }
    }

    /// Erases the database as `erase()` does, without blocking a thread while it waits.
    public func erase() async throws {
        try await barrierWriteWithoutTransaction { try $0.eraseContent() }
    }
}
