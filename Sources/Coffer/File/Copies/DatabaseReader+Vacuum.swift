extension DatabaseReader {
    /// Makes a compact copy of the database in a new file, with the same key and cipher settings, but its own
    /// salt.
    ///
    /// The copy is one state of the database. It has the same tables, rows, row IDs, version numbers, text
    /// encoding, and auto-vacuum mode; its journal mode is `DELETE`. It gets its name after a fresh
    /// connection has read it and found the same content, and is readable by its owner only. If this method
    /// throws, no file is left.
    ///
    /// As for `VACUUM`, the connection must have the collations and functions that the schema uses. A salt
    /// that comes with the key is kept.
    ///
    ///     try queue.vacuum(into: compactPath)
    ///
    /// - Parameter filePath: a free path.
    /// - Throws: `SQLITE_ERROR` if the file exists already; `SQLITE_CANTOPEN` if the directory is not
    ///   writable; `SQLITE_BUSY` if another run is making the same file; `SQLITE_FULL` and other file errors;
    ///   ``EncryptionFailure/noKey`` for a database in memory without a key, unless
    ///   ``Configuration/allowsPlaintext`` is set.
    public func vacuum(into filePath: String) throws {
        try read { try $0.copyContent(into: filePath, protection: nil) }
    }

    /// Makes a compact copy as `vacuum(into:)` does, without blocking a thread while it waits.
    public func vacuum(into filePath: String) async throws {
        try await read { try $0.copyContent(into: filePath, protection: nil) }
    }

    /// Makes a compact copy as `vacuum(into:)` does, but with another key.
    ///
    /// - Parameters:
    ///   - filePath: a free path.
    ///   - key: the key of the copy.
    ///   - cipher: the format of the copy; nil for the format of this database, or for the default if this
    ///     database is not encrypted.
    public func vacuum(into filePath: String, key: DatabaseKey, cipher: CipherSettings? = nil) throws {
        try read {
            try $0.copyContent(into: filePath, protection: try $0.protection(key: key, cipher: cipher))
        }
    }

    /// Makes a compact copy as ``vacuum(into:key:cipher:)-(String,_,_)`` does, without blocking a thread
    /// while it waits.
    public func vacuum(into filePath: String, key: DatabaseKey, cipher: CipherSettings? = nil) async throws {
        try await read {
            try $0.copyContent(into: filePath, protection: try $0.protection(key: key, cipher: cipher))
        }
    }
}

extension Database {
    fileprivate func protection(key: DatabaseKey, cipher: CipherSettings?) throws -> FileProtection {
        do {
            return try .encrypted(
                key, cipher: cipher ?? (isEncrypted ? configuration.cipher : CipherSettings()))
        } catch {
            throw DatabaseError.publicError(error)
        }
    }

    /// - Parameter protection: nil for this database's own protection.
    fileprivate func copyContent(into path: String, protection: FileProtection?) throws {
        checkIsUsedInItsAccess()
        try checkIsOpen()
        do {
            let file = ContentFile(
                protection: try protection ?? ownProtection(),
                prepare: { try self.addCustomizations(to: $0) },
                progress: ProgressReport({ _ in try self.checkIsNotInterrupted() }, isCancellable: false))
            try file.make(from: handle, at: path)
        } catch let error as DatabaseFileError where error.reason == .exists {
            // The same error as SQLite's `VACUUM INTO`.
            throw DatabaseError(resultCode: .SQLITE_ERROR, message: "output file already exists: \(path)")
        } catch let error as DatabaseFileError {
            throw error.databaseError
        } catch {
            throw DatabaseError.publicError(error)
        }
    }

    private func ownProtection() throws -> FileProtection {
        if isEncrypted {
            guard let ring = keying.ring else { throw DatabaseError(encryptionFailure: .noKey) }
            return try .encrypted(
                ring.resolve(keyIndex: ring.usedKeyIndex ?? 0), cipher: configuration.cipher)
        }
        guard configuration.allowsPlaintext else { throw DatabaseError(encryptionFailure: .noKey) }
        return .plaintext
    }
}
