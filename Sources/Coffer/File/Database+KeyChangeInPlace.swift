internal import KeyMaterial
internal import SQLCipherBridge

// The protocol for a change of the key in place (I6). The engine's rekey answers OK when it failed, and the next write can then destroy the
// file. So its answer is not believed, the connection that did it is closed at once, and fresh connections tell which key opens the file.
extension Database {
    /// Encrypts the file in its place. It keeps its salt. Fresh connections tell afterwards which key opens it.
    func rekeyInPlace(
        _ file: String, _ before: FileProtection, _ after: FileProtection, _ wanted: KeyRing, _ progress: ProgressReport
    ) throws -> ReplacementProof {
        try checkKeyCanChange(in: after, file)
        let header = try KeyRing.header(of: handle)
        guard let oldMaterial = try before.material(fileSalt: header.salt), let material = try after.material(fileSalt: header.salt) else {
            throw DatabaseFileError(.unsupported("Only the key of an encrypted file can be rotated."), path: file)
        }
        try endOwnStatements()
        let original = handle
        observationBroker.removeHooks()
        defer { if !isClosed && handle == original { observationBroker.move(to: handle, authorizer: authorizer) } }
        let mode = try leaveWAL(file)
        let digest: (pageCount: Int, pageSize: Int, digest: String)
        do {
            digest = try PageDigest.compute(handle, before, path: file, progress: progress)
            try progress(.publishing, 0, of: 1)
        } catch {
            if mode == "wal" { _ = try? handle.firstText(trusted: "PRAGMA main.journal_mode = WAL") }
            throw error
        }
        var failure: (any Error)?
        try replaceHandle(
            working: { handle in
                do throws(EngineError) {
                    try handle.rekey(rawKey: material.secret.bytes)
                } catch {
                    failure = error
                }
            },
            reopening: {
                do {
                    let new = try openAndVerify(file, after, digest: digest.digest, progress)
                    adopt(wanted, openedBy: after, new)
                    if mode == "wal" { _ = try? new.firstText(trusted: "PRAGMA main.journal_mode = WAL") }
                    failure = nil
                    return new
                } catch {
                    if failure == nil { failure = error }
                    // The old key must open it now. If it does not, its own diagnosis is what the user has to know.
                    return try before.open(file)
                }
            })
        if mode == "wal" { _ = try handle.firstText(trusted: "PRAGMA main.journal_mode = WAL") }
        if let failure { throw failure }
        return try ReplacementProof(
            pageCount: digest.pageCount, pageSize: digest.pageSize, saltBefore: header.salt, saltAfter: header.salt,
            oldKeyID: KeyIdentifier.text(of: oldMaterial, salt: header.salt), newKeyID: KeyIdentifier.text(of: material, salt: header.salt),
            contentDigest: digest.digest)
    }

    private func checkKeyCanChange(in after: FileProtection, _ file: String) throws {
        if case .rawKey(_, .some) = after.ring?.keys.first?.kind {
            throw DatabaseFileError(
                .unsupported("A key change in place keeps the salt of the file: give a raw key without a salt."), path: file)
        }
        guard configuration.cipher.plaintextHeaderSize == 0 else {
            throw DatabaseFileError(
                .unsupported("The key of a file with a plaintext header cannot be changed in place."), path: file)
        }
    }

    /// Puts everything into the database file, and proves that nobody else has the WAL or a lock. Answers the mode that was left.
    private func leaveWAL(_ file: String) throws -> String {
        let mode = try journalMode() ?? "delete"
        do {
            if mode == "wal" {
                let answer = try handle.firstText(trusted: "PRAGMA main.journal_mode = DELETE")
                guard answer == "delete" else {
                    throw EngineError(code: EngineCode.busy, message: "Another connection has the database open: close it first.")
                }
            }
            try handle.execute("BEGIN EXCLUSIVE")
            try handle.execute("COMMIT")
            try handle.execute("PRAGMA synchronous = EXTRA")
        } catch {
            if mode == "wal" { _ = try? handle.firstText(trusted: "PRAGMA main.journal_mode = WAL") }
            throw DatabaseFileError.publicError(error, path: file)
        }
        return mode
    }

    /// A fresh connection that has proved the key, the authenticity of each page, the content, and the structure.
    private func openAndVerify(
        _ file: String, _ after: FileProtection, digest: String, _ progress: ProgressReport
    ) throws -> ConnectionHandle {
        let handle = try after.open(file)
        do {
            // What is begun now is not ended by the caller: the file has its new key.
            let silent = ProgressReport(nil, isCancellable: false)
            let found = try PageDigest.compute(handle, after, path: file, progress: silent)
            guard found.digest == digest else {
                throw DatabaseFileError(.copyRejected("the content of the file is another one"), path: file)
            }
            guard try StructureCheck.findings(handle, .quick, progress: silent).isEmpty else {
                throw DatabaseFileError(.damaged(pages: []), path: file)
            }
            return handle
        } catch {
            handle.closeEventually()
            throw error
        }
    }
}
