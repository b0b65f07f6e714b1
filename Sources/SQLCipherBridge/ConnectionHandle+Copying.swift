internal import CSQLCipher

// What copies need to know of, and to say to, a connection.
extension ConnectionHandle {
    /// The bytes at the end of each page that SQLite leaves to the codec: what the file has, or what the
    /// codec has asked for where that is more. Right only once the file was read.
    package var reservedBytesPerPage: Int {
        var count: CInt = -1
        let code = unsafe sqlite3_file_control(pointer, "main", SQLITE_FCNTL_RESERVE_BYTES, &count)
        return code == SQLITE_OK ? Int(count) : 0
    }

    /// Has a file that is still empty leave bytes at the end of each page, which are no content of it.
    package func reserve(bytesPerPage: Int) throws(EngineError) {
        var count = CInt(clamping: bytesPerPage)
        try check(unsafe sqlite3_file_control(pointer, "main", SQLITE_FCNTL_RESERVE_BYTES, &count))
        guard reservedBytesPerPage == bytesPerPage else {
            throw EngineError(
                code: SQLITE_MISUSE, message: "SQLite does not leave \(bytesPerPage) bytes of each page")
        }
    }

    /// Lets the connection create what a schema may contain, and nothing run on its own: no triggers, no
    /// checks, no foreign keys.
    package func acceptContentOfAnotherDatabase() throws(EngineError) {
        try acceptDefinitionsOfAnotherDatabase()
        try configure([(SQLITE_DBCONFIG_WRITABLE_SCHEMA, 1), (SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)])
        try execute("PRAGMA ignore_check_constraints = 1")
    }

    /// Lets the connection create what a schema may contain by the statements of a script, which may ask for
    /// more.
    package func acceptDefinitionsOfAnotherDatabase() throws(EngineError) {
        try configure([
            (SQLITE_DBCONFIG_DEFENSIVE, 0), (SQLITE_DBCONFIG_DQS_DDL, 1), (SQLITE_DBCONFIG_DQS_DML, 1),
            (SQLITE_DBCONFIG_ENABLE_FKEY, 0),
            (SQLITE_DBCONFIG_LEGACY_FILE_FORMAT, 0),
        ])
    }

    private func configure(_ options: [(option: CInt, value: CInt)]) throws(EngineError) {
        for (option, value) in options {
            try check(unsafe coffer_db_config_flag(pointer, option, value, nil))
        }
    }
}
