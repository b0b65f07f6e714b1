public import Foundation
internal import KeyMaterial
internal import SQLCipherBridge

// The protocol for a change of the key in place (I6). The engine's rekey answers OK when it failed, and the next write can then destroy the
// file. So its answer is not believed, the connection that did it is closed at once, and fresh connections tell which key opens the file.
extension Database {
    /// Encrypts the database file with another passphrase. The connection goes on with it.
    ///
    /// The whole file is written anew, which takes about a second for 100 MB. It must not be in use: a pool has to call this in
    /// `barrierWriteWithoutTransaction`, without live snapshots. Text like `x'...'` with 64 hexadecimal digits is a raw key, as in
    /// SQLCipher.
    ///
    /// When this method returns, the new passphrase was proved: a fresh connection has opened the file with it and checked each page.
    /// When it throws, the old one still opens the file, unless the error says otherwise; a kill in the middle leaves it so too.
    /// - Throws: `SQLITE_MISUSE` inside of a transaction and for databases that are not encrypted files; `SQLITE_BUSY` if other
    ///   connections or statements are alive; `SQLITE_FULL` and other errors of the file.
    public func changePassphrase(_ passphrase: String) throws {
        try changeKey(to: DatabaseKey(sqlCipherText: SecretBytes(utf8: passphrase)))
    }

    /// Encrypts the database file with another passphrase, given as bytes: see ``changePassphrase(_:)-(String)``.
    public func changePassphrase(_ passphrase: Data) throws {
        try changeKey(to: DatabaseKey(sqlCipherText: SecretBytes(passphrase)))
    }

    private func changeKey(to key: DatabaseKey) throws {
        checkIsUsedInItsAccess()
        try checkKeyCanChange(to: key)
        keys.keyWillChange()
        let oldRing = try lastRing()
        do {
            let newRing = try keys.makeRing(for: key)
            let header = try KeyRing.header(of: handle)
            let material = try newRing.material(of: newRing.resolve(keyIndex: 0), fileSalt: header.salt, settings: configuration.cipher)
            let wasWAL = try leaveWAL()
            var failure: (any Error)?
            try replaceHandle(
                working: { handle in
                    do throws(EngineError) {
                        try handle.rekey(rawKey: material.secret.bytes)
                    } catch {
                        failure = DatabaseError(error)
                    }
                },
                reopening: {
                    do {
                        let new = try openAndVerify(with: newRing)
                        keys.replaceConfigured(with: newRing)
                        currentRing = newRing
                        failure = nil
                        return new
                    } catch {
                        if failure == nil { failure = error }
                        // The old key must open it now. If it does not, its own diagnosis is what the user has to know.
                        return try oldRing.openKeyed(open: openFresh).handle
                    }
                })
            if wasWAL { try handle.execute("PRAGMA journal_mode = WAL") }
            if let failure { throw failure }
        } catch {
            throw DatabaseError.publicError(error)
        }
    }

    private func checkKeyCanChange(to key: DatabaseKey) throws {
        guard !isClosed else { throw DatabaseError.connectionIsClosed() }
        guard isEncrypted, !path.isEmpty, path != ":memory:", !configuration.readonly, readOnlyDepth == 0 else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE, message: "The key can be changed only of an encrypted file that the connection can write to.")
        }
        guard !isInsideTransaction else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE, message: "The key cannot be changed inside of a transaction: SQLCipher would commit it.")
        }
        if case .rawKey(_, .some) = key.kind {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE, message: "A key change in place keeps the salt of the file: give a raw key without a salt.")
        }
        guard configuration.cipher.plaintextHeaderSize == 0 else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE, message: "The key of a file with a plaintext header cannot be changed in place.")
        }
    }

    private func lastRing() throws -> KeyRing {
        guard let ring = currentRing ?? keys.configured else { throw DatabaseError(encryptionFailure: .noKey) }
        return ring
    }

    /// Puts everything into the database file, and proves that nobody else has the WAL or a lock.
    private func leaveWAL() throws -> Bool {
        let isWAL = try journalMode() == "wal"
        try endOwnStatements()
        do {
            if isWAL {
                let mode = try handle.firstText(trusted: "PRAGMA journal_mode = DELETE")
                guard mode == "delete" else {
                    throw EngineError(code: EngineCode.busy, message: "Another connection has the database open: close it first.")
                }
            }
            try handle.execute("BEGIN EXCLUSIVE")
            try handle.execute("COMMIT")
            try handle.execute("PRAGMA synchronous = EXTRA")
        } catch {
            if isWAL { _ = try? handle.firstText(trusted: "PRAGMA journal_mode = WAL") }
            throw DatabaseError.publicError(error)
        }
        return isWAL
    }

    private func openFresh() throws(EngineError) -> ConnectionHandle {
        try ConnectionHandle.open(path: path, flags: .readWrite)
    }

    /// A fresh connection that has proved the key, the authenticity of each page, and the structure.
    private func openAndVerify(with ring: KeyRing) throws -> ConnectionHandle {
        let handle = try ring.openKeyed(open: openFresh).handle
        do {
            if let finding = try handle.firstText(trusted: "PRAGMA cipher_integrity_check") {
                throw EngineError(code: EngineCode.notADatabase, message: "The file is damaged: \(finding)")
            }
            let structure = try handle.firstText(trusted: "PRAGMA quick_check(1)")
            guard structure == "ok" else {
                throw EngineError(code: EngineCode.corrupt, message: "The file is damaged: \(structure ?? "no answer")")
            }
            return handle
        } catch {
            handle.closeEventually()
            throw error
        }
    }
}
