internal import CSQLCipher

// Settings and properties of a connection that copies a database.
extension ConnectionHandle {
    /// The number of bytes that SQLite reserves for the codec at the end of each page: the number in the
    /// file, or the number that the codec has requested if it is larger. Correct only after the file was
    /// read.
    package var reservedBytesPerPage: Int {
        var count: CInt = -1
        let code = unsafe sqlite3_file_control(pointer, "main", SQLITE_FCNTL_RESERVE_BYTES, &count)
        return code == SQLITE_OK ? Int(count) : 0
    }

    /// Reserves bytes at the end of each page of an empty file, which SQLite does not use for content.
    package func reserve(bytesPerPage: Int) throws(EngineError) {
        var count = CInt(clamping: bytesPerPage)
        try check(unsafe sqlite3_file_control(pointer, "main", SQLITE_FCNTL_RESERVE_BYTES, &count))
        guard reservedBytesPerPage == bytesPerPage else {
            throw EngineError(
                code: SQLITE_MISUSE, message: "SQLite does not reserve \(bytesPerPage) bytes of each page")
        }
    }

    /// Allows the connection to create everything that a schema may contain, without side effects: no
    /// triggers, no checks, no foreign keys.
    package func acceptContentOfAnotherDatabase() throws(EngineError) {
        try acceptDefinitionsOfAnotherDatabase()
        try set(.writableSchema, true)
        try set(.triggers, false)
        try execute("PRAGMA ignore_check_constraints = 1")
    }

    /// Allows the connection to create everything that a schema may contain, from the statements of a script,
    /// which may enable further settings itself.
    package func acceptDefinitionsOfAnotherDatabase() throws(EngineError) {
        try set(.defensive, false)
        try set(.doubleQuotedStringsInDDL, true)
        try set(.doubleQuotedStringsInDML, true)
        try set(.foreignKeys, false)
        try set(.legacyFileFormat, false)
    }
}
