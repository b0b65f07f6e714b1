internal import CSQLCipher
internal import Glibc
package import KeyMaterial

// Use sqlite3_key, never sqlite3_key_v2: with an unknown schema name, sqlite3_key_v2 acts on the main
// database.
extension ConnectionHandle {
    /// Sets a raw key of 32 bytes, before any other use of the connection (invariant "Key first").
    ///
    /// - Parameters:
    ///   - salt: 16 bytes, or nil to let SQLCipher read the salt from the file on first use, or generate one
    ///     for a new file.
    ///   - work: the implementation of the cryptographic work of the connection.
    package func setKey(rawKey: borrowing SecretBytes, salt: [UInt8]?, work: PageWork = .engine)
        throws(EngineError)
    {
        guard rawKey.count == 32, salt == nil || salt?.count == 16 else {
            throw EngineError(code: SQLITE_MISUSE, message: "A raw key has 32 bytes, and its salt has 16")
        }
        try setKey(text: ConnectionHandle.keyText(rawKey: rawKey, salt: salt ?? []), work: work)
    }

    /// Returns a raw key in the only form that SQLCipher accepts: x'<64 digits>' or x'<64 digits><32
    /// digits>'.
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

    /// Re-encrypts the file with a raw key of 32 bytes and its current salt.
    ///
    /// The result is not reliable, neither success nor failure (invariant "Rekey is not trusted"). In either
    /// case, close the connection immediately without any other use, and find out with a new connection which
    /// key opens the file.
    package func rekey(rawKey: borrowing SecretBytes) throws(EngineError) {
        guard rawKey.count == 32 else {
            throw EngineError(code: SQLITE_MISUSE, message: "A raw key has 32 bytes")
        }
        let text = ConnectionHandle.keyText(rawKey: rawKey, salt: [])
        // If a page cannot be written, SQLCipher rolls the transaction back, and may return `SQLITE_OK`.
        errno = 0
        let code = text.withUnsafeBytes { unsafe sqlite3_rekey(pointer, $0.baseAddress, CInt($0.count)) }
        let cause = errno
        if let error = EngineError.full(code == SQLITE_OK ? SQLITE_IOERR : code, systemError: cause) {
            throw error
        }
        guard code == SQLITE_OK else {
            throw EngineError(code: code, message: "SQLCipher could not write the file with the new key")
        }
    }

    /// Sets a key in SQLCipher's own format: a passphrase, or the text of a raw key. The key is only derived
    /// on first use.
    package func setKey(text: borrowing SecretBytes, work: PageWork = .engine) throws(EngineError) {
        // SQLCipher would return an error and continue in plaintext.
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

    /// Throws an error unless the main database has a codec with the requested settings (invariant "Verified
    /// engine").
    ///
    /// - Parameter settings: lines that the result of `PRAGMA cipher_settings` must contain, in any order.
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

    /// Verifies the key by reading the schema: `sqlite3_key` itself verifies nothing. Any key passes for an
    /// empty file.
    package func verifyKey() throws(EngineError) {
        _ = try firstText(trusted: "SELECT count(*) FROM sqlite_master")
    }

    /// Writes page 1 of an empty file, so that its salt and key are fixed before other connections rely on
    /// them.
    ///
    /// Throws `SQLITE_NOTADB` if another connection has written the file first with another key or salt.
    /// Reopen the file in this case.
    package func claimEmptyFile() throws(EngineError) {
        // This fails if the file now has content that this connection cannot read.
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
