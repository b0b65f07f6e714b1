internal import CSQLCipher
package import KeyMaterial

// sqlite3_key only, never sqlite3_key_v2: an unknown schema name given to that one acts on the main database.
extension ConnectionHandle {
    /// Gives the connection a raw key of 32 bytes, before anything else runs on it (I3).
    ///
    /// - Parameters:
    ///   - salt: 16 bytes, or nil to let SQLCipher read the file's own salt at the first use, or make one for
    ///     a new file.
    ///   - work: who does the cryptographic work of the connection.
    package func setKey(rawKey: borrowing SecretBytes, salt: [UInt8]?, work: PageWork = .engine)
        throws(EngineError)
    {
        guard rawKey.count == 32, salt == nil || salt?.count == 16 else {
            throw EngineError(code: SQLITE_MISUSE, message: "A raw key has 32 bytes, and its salt 16")
        }
        try setKey(text: ConnectionHandle.keyText(rawKey: rawKey, salt: salt ?? []), work: work)
    }

    /// The only form of a raw key that SQLCipher knows: x'<64 digits>' or x'<64 digits><32 digits>'.
    package static func keyText(rawKey: borrowing SecretBytes, salt: [UInt8]) -> SecretBytes {
        var text = SecretBytes(count: 3 + 2 * (32 + salt.count))
        text.withUnsafeMutableBytes { text in
            unsafe text[0] = UInt8(ascii: "x")
            unsafe text[1] = UInt8(ascii: "'")
            rawKey.withUnsafeBytes { key in
                unsafe SecretHex.write(key, to: UnsafeMutableRawBufferPointer(rebasing: text[2..<66]))
            }
            unsafe salt.withUnsafeBytes { salt in
                unsafe SecretHex.write(salt, to: UnsafeMutableRawBufferPointer(rebasing: text[66...]))
            }
            unsafe text[text.count - 1] = UInt8(ascii: "'")
        }
        return text
    }

    /// Encrypts the file anew with a raw key of 32 bytes and the salt that it has.
    ///
    /// The engine's answer is not to be trusted, neither a good nor a bad one (I6): whatever this does, close
    /// the connection at once, without any other use, and find out on a fresh one which key opens the file.
    package func rekey(rawKey: borrowing SecretBytes) throws(EngineError) {
        guard rawKey.count == 32 else {
            throw EngineError(code: SQLITE_MISUSE, message: "A raw key has 32 bytes")
        }
        let text = ConnectionHandle.keyText(rawKey: rawKey, salt: [])
        let code = text.withUnsafeBytes { unsafe sqlite3_rekey(pointer, $0.baseAddress, CInt($0.count)) }
        guard code == SQLITE_OK else {
            throw EngineError(code: code, message: "SQLCipher could not write the file with the new key")
        }
    }

    /// Gives the connection a key in SQLCipher's own terms: a passphrase, or the text of a raw key. Nothing
    /// is derived before the first use.
    package func setKey(text: borrowing SecretBytes, work: PageWork = .engine) throws(EngineError) {
        // SQLCipher would answer an error and go on in plaintext.
        guard !text.isEmpty else { throw EngineError(code: SQLITE_MISUSE, message: "The key is empty") }
        guard let count = CInt(exactly: text.count) else {
            throw EngineError(code: SQLITE_TOOBIG, message: "The key is too long")
        }
        let code = text.withUnsafeBytes { text in
            work.whileKeying { unsafe sqlite3_key(pointer, text.baseAddress, count) }
        }
        guard code == SQLITE_OK else {
            throw EngineError(code: code, message: "SQLCipher did not accept the key")
        }
    }

    /// Fails unless a codec is attached to the main database and works with the settings that were asked for
    /// (I2).
    ///
    /// - Parameter settings: the lines that `PRAGMA cipher_settings` must give, in any order.
    package func proveCodec(settings: [String]) throws(EngineError) {
        guard let provider = try firstText(trusted: "PRAGMA cipher_provider"), !provider.isEmpty else {
            throw EngineError.withoutCipher
        }
        let actual = try Set(column(trusted: "PRAGMA cipher_settings"))
        guard actual.isSuperset(of: settings) else {
            let refused = settings.filter { !actual.contains($0) }.joined(separator: " ")
            throw EngineError(code: SQLITE_MISUSE, message: "SQLCipher did not accept: \(refused)")
        }
    }

    /// Reads the schema, which is what checks the key: `sqlite3_key` checks nothing. On an empty file every
    /// key passes.
    package func verifyKey() throws(EngineError) {
        _ = try firstText(trusted: "SELECT count(*) FROM sqlite_master")
    }

    /// Writes page 1 of a file that is still empty, so that the file has its salt, and belongs to its key,
    /// before anybody relies on it.
    ///
    /// Fails with `SQLITE_NOTADB` when another connection was faster with another key or salt: open anew
    /// then.
    package func claimEmptyFile() throws(EngineError) {
        // Fails when the file has content by now that this connection cannot read.
        try execute("BEGIN IMMEDIATE")
        do throws(EngineError) {
            if try fileSize() == 0 {
                let version = try firstText(trusted: "PRAGMA user_version") ?? "0"
                try execute(trusted: "PRAGMA user_version = \(Int32(version) ?? 0)")
            }
            try execute("COMMIT")
        } catch {
            if !isAutocommit { _ = unsafe sqlite3_exec(pointer, "ROLLBACK", nil, nil, nil) }
            throw error
        }
    }
}
