extension DatabaseWriter {
    /// Removes the free pages of the database file and brings the pages of each table together: `VACUUM`.
    ///
    /// It keeps the key and the cipher settings. The new content is made in memory, which needs as much of it
    /// as the content is large.
    /// - Throws: `SQLITE_BUSY` and `SQLITE_LOCKED` if others use the database; the error of a statement.
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
    /// access runs meanwhile; snapshots of a pool keep what they see. Erased content may remain in free parts
    /// of the disk, and in the WAL file as long as a snapshot needs it.
    /// - Throws: `SQLITE_BUSY` if another connection uses the database; the database is as it was then.
    public func erase() throws {
        try barrierWriteWithoutTransaction { try $0.eraseContent() }
    }

    /// Erases the database as `erase()` does, without blocking a thread while it waits.
    public func erase() async throws {
        try await barrierWriteWithoutTransaction { try $0.eraseContent() }
    }
}
