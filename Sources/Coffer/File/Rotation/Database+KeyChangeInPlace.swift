internal import KeyMaterial
internal import SQLCipherBridge
internal import SystemCalls

// The protocol for a key change in place (invariant "Rekey is not trusted"). The engine's rekey returns OK
// even if it failed, and the next write can then destroy the file. So its result is ignored, the connection
// that ran it is closed at once, and fresh connections determine which key opens the file.
extension Database {
    /// Encrypts the file in place. It keeps its salt. Fresh connections then determine which key opens it.
    ///
    /// - Parameter audit: records the result before the note is removed.
    func rekeyInPlace(
        _ change: KeyChange, _ progress: ProgressReport, audit: (ReplacementProof) throws -> Void
    ) throws -> (proof: ReplacementProof, isResumed: Bool) {
        let (file, before, after) = (change.file, change.before, change.after)
        try checkKeyCanChange(in: after, file)
        let header = try FileHeader(handle)
        guard let oldMaterial = try before.material(fileSalt: header.salt),
            let material = try after.material(fileSalt: header.salt)
        else {
            throw DatabaseFileError(
                .unsupported("Only the key of an encrypted file can be rotated."), path: file)
        }
        let original = handle
        let synchronous = try handle.integer(pragma: "synchronous")
        let note = try InPlaceNote(file, journalMode: handle.journalMode(), salt: header.salt)
        let digest: (pageCount: Int, pageSize: Int, digest: String)
        do {
            try takeExclusively(file, before)
            digest = try PageDigest.compute(handle, before, path: file, progress: progress)
            try progress(.publishing, 0, of: 1)
            try checkIsExclusive(before)
        } catch {
            release(note, before, synchronous: synchronous)
            throw DatabaseFileError.publicError(error, path: file)
        }
        do {
            let rekeying = Rekeying(
                file: file, identity: change.identity, before: before, after: after, oldMaterial: oldMaterial,
                newMaterial: material, digest: digest.digest, locking: configuration.engineLocking,
                work: keying.keys.pageWork)
            try changeKey(to: change.wanted, note, rekeying)
        } catch let failure as FailureAfterPublishing {
            throw DatabaseFileError.published(failure.reason, path: file)
        } catch {
            // The connection was not replaced if the application holds a statement since.
            if !isClosed, handle == original { release(note, before, synchronous: synchronous) }
            throw error
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
            throw DatabaseFileError.published(error, path: file)
        }
        return (proof, note.wasLeft)
    }

    /// Changes the key of the file, and continues with a fresh connection.
    ///
    /// - Throws: the reason why the file keeps its old key, ``FailureAfterPublishing``, or `keyUnknown`.
    private func changeKey(to wanted: KeyRing, _ note: InPlaceNote, _ rekeying: Rekeying) throws {
        let former = keying.ring
        var failure: (any Error)?
        // The key that the file had when it was last read.
        var key = Rekeying.Key.old
        var version: FileVersion?
        do {
            try replaceHandle(
                of: rekeying.identity,
                working: { handle in
                    failure = rekeying.rekey(handle)
                    // Decides only if no fresh connection can be opened, for example because the process has
                    // too many open files.
                    key = rekeying.key(of: handle)
                    version = try? FileVersion(handle)
                },
                reopening: { [unowned self] reopening in
                    switch try rekeying.outcome(failure, version, reopening) {
                    case .newKey(let new):
                        (failure, key) = (nil, .new)
                        adopt(wanted, openedBy: rekeying.after, new.handle)
                        // Done before observers are attached, which would be notified of a commit.
                        try? note.restoreJournalMode(new.handle, rekeying.after)
                        return new
                    case .oldKey(let old, let reason):
                        (failure, key) = (reason, .old)
                        if let former { keying.adopt(former) }
                        return old
                    }
                })
        } catch {
            if error is FailureAfterPublishing { key = .new }
            let reason = (error as? FailureAfterPublishing)?.reason ?? error
            switch key {
            case .old: throw reason
            case .new:
                // The readers of a pool may be able to open the file before the writer is.
                if isClosed { keying.adopt(wanted) }
                throw FailureAfterPublishing(reason: reason)
            case .unknown:
                if isClosed, let former {
                    let both = try? KeyRing(
                        key: wanted.keys[0], previousKeys: former.keys, settings: former.settings)
                    if let both { keying.adopt(both) }
                }
                let words = "\(DatabaseFileError.publicError(reason, path: rekeying.file))"
                throw DatabaseFileError(.keyUnknown(words), path: rekeying.file)
            }
        }
        if let failure {
            try? note.restoreAndRemove(handle, rekeying.before)
            throw failure
        }
    }

    private func checkKeyCanChange(in after: FileProtection, _ file: String) throws {
        if case .rawKey(_, .some) = after.ring?.keys.first?.kind {
            throw DatabaseFileError(
                .unsupported(
                    "A key change in place keeps the salt of the file. Give a raw key without a salt."),
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
                    "The key of a file of the SQLCipher 2 beta cannot be changed in place. Upgrade the file."
                ), path: file)
        }
    }

    /// Moves all content into the database file, and takes the exclusive lock on it. The lock outlives
    /// transactions: no other connection reads or writes before the connection that changes the key is
    /// closed.
    ///
    /// The journal is truncated at the end of a transaction. In the mode DELETE, SQLite would keep its
    /// content as long as it keeps the lock.
    private func takeExclusively(_ file: String, _ before: FileProtection) throws {
        guard try handle.firstText(trusted: "PRAGMA main.journal_mode = TRUNCATE") == "truncate" else {
            throw EngineError.busy("Another connection has the database open in WAL mode")
        }
        try FailPoint.journalLeft.pass(file)
        // In a transaction of its own: SQLite keeps the number of pages as long as it keeps the lock.
        try handle.execute("BEGIN EXCLUSIVE")
        try checkIsExclusive(before)
        try handle.cutOffBehindDatabase(before)
        try handle.execute("COMMIT")
        guard try handle.firstText(trusted: "PRAGMA main.locking_mode = EXCLUSIVE") == "exclusive" else {
            throw EngineError.misuse("The lock on the file cannot be kept")
        }
        try handle.execute("BEGIN EXCLUSIVE")
        try checkIsExclusive(before)
        try handle.execute("COMMIT")
        try handle.execute("PRAGMA synchronous = EXTRA")
    }

    /// Throws `SQLITE_BUSY` if the connection does not hold the exclusive lock, or the file is in WAL mode:
    /// another connection may have set that mode before the lock was taken.
    private func checkIsExclusive(_ before: FileProtection) throws {
        guard try handle.fileLockLevel() == .exclusive, try handle.isFile(in: .delete, before) else {
            throw EngineError.busy("Another connection has set the WAL mode of the database")
        }
    }

    /// Releases the lock of ``takeExclusively(_:_:)``, and restores the journal mode and `synchronous`. The
    /// note stays for the next run if this fails.
    private func release(_ note: InPlaceNote, _ before: FileProtection, synchronous: Int64) {
        if !handle.isAutocommit { try? handle.execute("ROLLBACK") }
        try? handle.execute(trusted: "PRAGMA main.synchronous = \(synchronous)")
        _ = try? handle.firstText(trusted: "PRAGMA main.locking_mode = NORMAL")
        try? note.restoreAndRemove(handle, before)
        // The lock is released by the next transaction.
        try? handle.verifyKey()
    }
}

/// A key change by the engine's rekey, whose outcome is decided by the key that opens the file afterwards.
private struct Rekeying {
    let file: String
    let identity: FileIdentity
    let before: FileProtection
    let after: FileProtection
    let oldMaterial: KeyRing.Material
    let newMaterial: KeyRing.Material
    /// The digest of the content before the change.
    let digest: String
    let locking: FileLocking
    let work: PageWork

    /// A fresh connection, under the key that opens the file.
    enum Outcome: ~Copyable {
        case newKey(EngineConnection)
        case oldKey(EngineConnection, reason: any Error)
    }

    /// Lets the engine encrypt all pages with the new key.
    ///
    /// - Returns: the error, which does not decide the outcome.
    func rekey(_ handle: ConnectionHandle) -> (any Error)? {
        let result = Result { try handle.rekey(rawKey: newMaterial.secret.bytes) }
        do {
            try FailPoint.rekeyed.pass(file)
            try result.get()
            return nil
        } catch {
            return error
        }
    }

    enum Key {
        case old, new
        /// The file could not be read.
        case unknown
    }

    /// Returns the key of the bytes of the file, which are read through the connection that has changed the
    /// key. A journal with content has the bytes from before the change, and would restore them.
    func key(of handle: ConnectionHandle) -> Key {
        func opens(_ ring: KeyRing?, _ material: KeyRing.Material) throws -> Bool {
            guard let ring else { return false }
            let view = try FileView.open(ConnectionBytes(handle))
            return try view.handle.unlock(with: material, of: ring)
        }
        do {
            guard try SystemFile.status("\(file)-journal")?.size ?? 0 == 0 else { return .old }
            if try opens(after.ring, newMaterial) { return .new }
            return try opens(before.ring, oldMaterial) ? .old : .unknown
        } catch {
            return .unknown
        }
    }

    /// Opens the file with the key that it has now.
    ///
    /// - Parameters:
    ///   - failure: the error of ``rekey(_:)``.
    ///   - version: the version of the file after the change; nil if it could not be read.
    /// - Throws: the reason why neither key opens the file, or ``FailureAfterPublishing`` if the new key
    ///   opens it but its content differs.
    func outcome(_ failure: (any Error)?, _ version: FileVersion?, _ reopening: Database.Reopening) throws
        -> Outcome
    {
        var hasNewKey = false
        func openNew() throws -> EngineConnection {
            var new = try after.openForWriting(file, locking: locking)
            hasNewKey = true
            new.checkpointsAtEnd = true
            try verify(new.handle, version, reopening)
            return new
        }
        let reason: any Error
        do {
            return .newKey(try openNew())
        } catch {
            reason = error
        }
        do {
            let old = try before.openForWriting(file, locking: locking, work: work)
            // The engine may have rolled its work back without reporting a reason.
            return .oldKey(old, reason: failure ?? (isOfFormerKey(reason) ? takenBack : reason))
        } catch {
            // Neither key opens the file. The fault may be temporary, so the new key is tried again. If that
            // fails too, the user needs the diagnosis for the old key.
            guard let new = try? openNew() else {
                throw hasNewKey ? FailureAfterPublishing(reason: reason) : error
            }
            return .newKey(new)
        }
    }

    /// Verifies the authenticity of each page, and the content if no other connection has written since. At
    /// first also the structure, which may have been damaged before.
    private func verify(_ handle: ConnectionHandle, _ version: FileVersion?, _ reopening: Database.Reopening)
        throws
    {
        // The caller cannot cancel these checks: the file already has its new key.
        let silent = ProgressReport(nil, isCancellable: false)
        // Other processes may have the new key. In rollback mode, a transaction keeps them from writing.
        try handle.execute("BEGIN")
        try handle.verifyKey()
        let found = try PageDigest.compute(handle, after, path: file, progress: silent)
        guard try found.digest == digest || FileVersion(handle) != version else {
            throw DatabaseFileError(
                .engine(
                    .SQLITE_IOERR, "The file has its new key, but not the content from before the change"),
                path: file)
        }
        guard
            try reopening == .later
                || StructureCheck.quick.findings(handle, progress: silent).damage.isEmpty
        else {
            throw DatabaseFileError(.damaged(pages: []), path: file)
        }
        try handle.execute("COMMIT")
    }

    /// Returns true if the file, or the journal that completes it, has the former key.
    private func isOfFormerKey(_ error: any Error) -> Bool {
        switch error {
        case KeyError.encryption(.wrongKey, _),
            KeyError.encryption(.foreignSideFile(path: _, isFileWhole: false), _):
            true
        default: false
        }
    }

    private var takenBack: DatabaseFileError {
        let words =
            "The pages could not be written with the new key, for example because the disk is full. The file "
            + "is unchanged and still has its old key"
        return DatabaseFileError(.engine(.SQLITE_IOERR, words), path: file)
    }
}

/// The stored bytes by which SQLite itself recognizes that another connection has written: the change counter
/// and the next fields. Encrypted, they are different after each transaction.
private struct FileVersion: Equatable {
    private let bytes: [UInt8]

    init(_ handle: ConnectionHandle) throws(EngineError) { bytes = try handle.readFile(at: 24, count: 16) }
}

extension ConnectionHandle {
    /// Truncates the file after the last page of a database whose header states its page count.
    ///
    /// SQLite ignores the extra bytes, but the engine's rekey treats them as pages, and fails. The connection
    /// must hold the exclusive lock, and have no log.
    fileprivate func cutOffBehindDatabase(_ protection: FileProtection) throws {
        let pages = try PageFile(self, protection)
        guard pages.excess > 0, pages.declaredPageCount == pages.pageCount else { return }
        try truncateFile(to: Int64(pages.pageCount) * Int64(pages.pageSize))
    }
}
