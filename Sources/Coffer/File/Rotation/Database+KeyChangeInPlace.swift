internal import KeyMaterial
internal import SQLCipherBridge

// The protocol for a change of the key in place (I6). The engine's rekey answers OK when it failed, and the
// next write can then destroy the file. So its answer is not believed, the connection that did it is closed
// at once, and fresh connections show which key opens the file.
extension Database {
    /// Encrypts the file in its place. It keeps its salt. Fresh connections show afterwards which key opens
    /// it.
    ///
    /// - Parameter audit: records the result, before the note is removed.
    func rekeyInPlace(
        _ file: String, _ before: FileProtection, _ after: FileProtection, _ wanted: KeyRing,
        _ progress: ProgressReport,
        audit: (ReplacementProof) throws -> Void
    ) throws -> (proof: ReplacementProof, isResumed: Bool) {
        try checkKeyCanChange(in: after, file)
        let header = try FileHeader(handle)
        guard let oldMaterial = try before.material(fileSalt: header.salt),
            let material = try after.material(fileSalt: header.salt)
        else {
            throw DatabaseFileError(
                .unsupported("Only the key of an encrypted file can be rotated."), path: file)
        }
        try endOwnStatements()
        let original = handle
        observerNotifier.removeHooks()
        defer {
            if !isClosed && handle == original { observerNotifier.move(to: handle, inspector: inspector) }
        }
        let note = try InPlaceNote(file, journalMode: handle.journalMode(), salt: header.salt)
        let digest: (pageCount: Int, pageSize: Int, digest: String)
        do {
            try leaveWAL(file, before)
            digest = try PageDigest.compute(handle, before, path: file, progress: progress)
            try progress(.publishing, 0, of: 1)
        } catch {
            try? note.restoreAndRemove(handle, before)
            throw error
        }
        var hasNewKey = false
        do {
            try rekey(file, before, after, wanted, material, digest: digest.digest, note, &hasNewKey)
        } catch {
            throw hasNewKey ? published(error, file) : error
        }
        let proof = try ReplacementProof(
            pageCount: digest.pageCount, pageSize: digest.pageSize,
            keyBefore: FileKey(oldMaterial, salt: header.salt),
            keyAfter: FileKey(material, salt: header.salt), ProvedContent(digest: digest.digest))
        do {
            try note.restoreJournalMode(handle, after)
            try FailPoint.reopened.pass(file)
            try audit(proof)
            try note.remove()
        } catch {
            throw published(error, file)
        }
        return (proof, note.wasLeft)
    }

    /// An error after the file got its new key.
    private func published(_ error: any Error, _ file: String) -> any Error {
        guard var failure = DatabaseFileError.publicError(error, path: file) as? DatabaseFileError else {
            return error
        }
        failure.isPublished = true
        return failure
    }

    private func rekey(
        _ file: String, _ before: FileProtection, _ after: FileProtection, _ wanted: KeyRing,
        _ material: KeyRing.Material, digest: String,
        _ note: InPlaceNote, _ hasNewKey: inout Bool
    ) throws {
        var failure: (any Error)?
        // Also where the content was found to be another one: the old key is of no use any more.
        var isOpenWithNewKey = false
        defer { hasNewKey = isOpenWithNewKey }
        try replaceHandle(
            working: { handle in
                do throws(EngineError) {
                    try handle.rekey(rawKey: material.secret.bytes)
                } catch {
                    failure = error
                }
                do throws(DatabaseFileError) {
                    try FailPoint.rekeyed.pass(file)
                } catch {
                    failure = error
                }
            },
            reopening: {
                func openNew() throws -> EngineConnection {
                    let new = try openAndVerify(file, after, digest: digest) { isOpenWithNewKey = true }
                    adopt(wanted, openedBy: after, new.handle)
                    // Before the observers are there, which would be notified of a commit.
                    try? note.restoreJournalMode(new.handle, after)
                    failure = nil
                    return new
                }
                var reason: any Error
                do {
                    return try openNew()
                } catch {
                    reason = error
                }
                do {
                    let old = try before.openForWriting(
                        file, locking: configuration.engineLocking, work: keying.keys.pageWork)
                    // The engine has rolled its work back, and has not said why.
                    if Database.isOfFormerKey(reason) { reason = Database.takenBack(file) }
                    failure = failure ?? reason
                    return old
                } catch {
                    failure = failure ?? reason
                    // Neither of the keys? It may have been a fault that passes. If not, the diagnosis of the
                    // old key is what the user has to know.
                    guard let new = try? openNew() else { throw isOpenWithNewKey ? reason : error }
                    return new
                }
            })
        if let failure {
            // With an error there is the old key.
            try? note.restoreAndRemove(handle, before)
            throw failure
        }
    }

    /// Whether the file, or the journal that makes it whole, has the key that it had before.
    private static func isOfFormerKey(_ error: any Error) -> Bool {
        switch error {
        case KeyError.encryption(.wrongKey, _),
            KeyError.encryption(.foreignSideFile(path: _, isFileWhole: false), _):
            true
        default: false
        }
    }

    private static func takenBack(_ file: String) -> DatabaseFileError {
        let words =
            "The pages could not be written with the new key, as when the disk is full: the file is as it "
            + "was, with its old key"
        return DatabaseFileError(.engine(.SQLITE_IOERR, words), path: file)
    }

    private func checkKeyCanChange(in after: FileProtection, _ file: String) throws {
        if case .rawKey(_, .some) = after.ring?.keys.first?.kind {
            throw DatabaseFileError(
                .unsupported(
                    "A key change in place keeps the salt of the file: give a raw key without a salt."),
                path: file)
        }
        guard configuration.cipher.plaintextHeaderSize == 0 else {
            throw DatabaseFileError(
                .unsupported("The key of a file with a plaintext header cannot be changed in place."),
                path: file)
        }
        guard configuration.cipher.hmacSaltMask == PageCipher.Layout.engineSaltMask else {
            throw DatabaseFileError(
                .unsupported(
                    "The key of a file of the beta of SQLCipher 2 cannot be changed in place: upgrade the "
                        + "file."
                ), path: file)
        }
    }

    /// Puts everything into the database file, and proves that no other connection has the WAL or a lock.
    private func leaveWAL(_ file: String, _ before: FileProtection) throws {
        do {
            try handle.changeJournalMode(to: .delete, before)
            try FailPoint.journalLeft.pass(file)
            try handle.execute("BEGIN EXCLUSIVE")
            try handle.cutOffBehindDatabase(before)
            try handle.execute("COMMIT")
            try handle.execute("PRAGMA synchronous = EXTRA")
        } catch {
            throw DatabaseFileError.publicError(error, path: file)
        }
    }

    /// A fresh connection that has proved the key, the authenticity of each page, the content, and the
    /// structure.
    ///
    /// - Parameter didOpen: called when the new key has opened the file.
    private func openAndVerify(
        _ file: String, _ after: FileProtection, digest: String, didOpen: () -> Void
    ) throws -> EngineConnection {
        var connection = try after.openForWriting(file, locking: configuration.engineLocking)
        didOpen()
        connection.checkpointsAtEnd = true
        // What is begun now is not ended by the caller: the file has its new key.
        let silent = ProgressReport(nil, isCancellable: false)
        let found = try PageDigest.compute(connection.handle, after, path: file, progress: silent)
        guard found.digest == digest else {
            throw DatabaseFileError(.copyRejected("the content of the file is another one"), path: file)
        }
        guard try StructureCheck.quick.findings(connection.handle, progress: silent).damage.isEmpty else {
            throw DatabaseFileError(.damaged(pages: []), path: file)
        }
        return connection
    }
}

extension ConnectionHandle {
    /// Cuts off the bytes behind the last page of a database whose header says how many pages there are.
    ///
    /// SQLite reads none of them, but the engine's rekey takes them for pages, and fails. The connection has
    /// the exclusive lock, and no log.
    fileprivate func cutOffBehindDatabase(_ protection: FileProtection) throws {
        let pages = try PageFile(self, protection)
        guard pages.excess > 0, pages.declaredPageCount == pages.pageCount else { return }
        try truncateFile(to: Int64(pages.pageCount) * Int64(pages.pageSize))
    }
}
