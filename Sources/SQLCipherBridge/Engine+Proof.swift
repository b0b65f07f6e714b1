internal import CSQLCipher

extension EngineError {
    /// The code that answers to `sqlite3_*` is not the SQLCipher that this package was compiled for.
    package static let withoutCipher = EngineError(
        code: SQLITE_ERROR, message: "The SQLite library that answers in this process is not SQLCipher, or not the linked one")
}

extension Engine {
    /// Fails unless the linked engine is the SQLCipher of the headers. Checked once in a process, at the first connection (I2).
    ///
    /// A memory database lends itself, so that no file is touched before the proof. Two libraries can mix in one process: a foreign
    /// `sqlite3_open` with SQLCipher's `sqlite3_key` would corrupt memory, hence the order.
    package static func prove() throws(EngineError) {
        try proof.get()
    }

    private static let proof: Result<Void, EngineError> = {
        do throws(EngineError) {
            return .success(try proveOnce())
        } catch {
            return .failure(error)
        }
    }()

    private static func proveOnce() throws(EngineError) {
        // libcrypto would free its state when the process exits, while other threads may still write: they would crash.
        OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil)
        // SQLite would count its memory under one lock for all connections of the process, in each allocation, for nobody. Where somebody has
        // initialized it before, it goes on counting.
        _ = coffer_config_memory_statistics(0)
        guard sqliteVersionNumber == compiledSQLiteVersionNumber else { throw EngineError.withoutCipher }
        let connection: EngineConnection
        do throws(EngineError) {
            connection = try EngineConnection(name: ":memory:", flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY, fileSystem: nil)
        } catch {
            throw EngineError(code: error.code, message: "SQLCipher could not be initialized")
        }
        let handle = connection.handle
        guard let version = try handle.firstText(trusted: "PRAGMA cipher_version"), !version.isEmpty else {
            throw EngineError.withoutCipher
        }
        let text = "x'\(String(repeating: "00", count: 32))'"
        guard unsafe sqlite3_key(handle.pointer, text, CInt(text.utf8.count)) == SQLITE_OK,
            let provider = try handle.firstText(trusted: "PRAGMA cipher_provider"), !provider.isEmpty
        else { throw EngineError.withoutCipher }
        // The level is global, and the first key resets it, so that it is set after one: a wrong key would print to the standard error.
        try handle.execute("PRAGMA cipher_log_level = NONE")
    }
}
