internal import SQLCipherBridge

/// Makes a new file with the content of an open database, in any format and under any key, and proves it before it gets its name.
struct ContentFile {
    let protection: FileProtection

    /// The size of the pages, where no cipher settings say it.
    var plaintextPageSize: Int64 = 4096

    /// Whether pages are copied as they are, free ones included. The layouts have to be the same.
    var copiesPages = false

    /// Adds the functions and collations that the schema needs.
    let prepare: (ConnectionHandle) throws -> Void

    /// Called now and then, with pages done and all pages; throws to end, which leaves nothing behind.
    let progress: (DatabaseFile.Progress.Phase, Int, Int) throws -> Void

    /// What is known of a file that was made.
    struct Made {
        var fingerprint: ContentFingerprint
        var pageCount: Int
        var pageSize: Int
        /// Nil for plaintext.
        var salt: [UInt8]?
        var keyID: String?
        /// What encrypts it; nil for plaintext.
        var material: KeyRing.Material?
    }

    /// - Parameter source: a connection that can read. Its functions and collations are those that `prepare` adds.
    @discardableResult
    func make(from source: ConnectionHandle, at path: String) throws -> Made {
        let file = try NewDatabaseFile.begin(path: path, isPlaintext: protection.ring == nil)
        // One state from the first page to the last comparison.
        let made = try source.withReadTransaction {
            let pageCount = try Int(source.integer(pragma: "page_count"))
            let fingerprint = try write(file.file, from: source, pageCount: pageCount, path: path)
            try FailPoint.copied.pass(path)
            let made = try verify(file.file, against: fingerprint, pageCount: pageCount, path: path)
            try FailPoint.verified.pass(path)
            return made
        }
        try progress(.publishing, 0, 1)
        try file.published()
        return made
    }

    // MARK: - Writing

    private func write(
        _ file: HeldFile, from source: ConnectionHandle, pageCount: Int, path: String
    ) throws -> ContentFingerprint {
        // Whatever goes wrong, the file is removed: it needs neither a journal nor order on the disk before it is published.
        let connection = try protection.open(writing: file)
        let handle = connection.handle
        do {
            if copiesPages {
                try copyPages(from: source, to: handle)
                return try ContentFingerprint(of: source) { try progress(.verifying, 0, pageCount) }
            }
            return try ContentFile.copyContent(
                from: source, to: handle, pageSize: protection.ring == nil ? plaintextPageSize : nil, prepare: prepare,
                progress: { _, done, total in try reportCopying(done, total) })
        } catch {
            throw ContentFile.isFull(error, systemError: handle.lastSystemError) ? DatabaseFileError(.diskFull, path: path) : error
        }
    }

    private func reportCopying(_ done: Int, _ total: Int) throws {
        try FailPoint.copying.pass("")
        try progress(.copying, done, total)
    }

    /// Copies the content into an empty database that has its key.
    static func copyContent(
        from source: ConnectionHandle, to destination: ConnectionHandle, pageSize: Int64?, prepare: (ConnectionHandle) throws -> Void,
        progress: (DatabaseFile.Progress.Phase, Int, Int) throws -> Void
    ) throws -> ContentFingerprint {
        if let pageSize { try destination.execute(trusted: "PRAGMA page_size = \(pageSize)") }
        try prepare(destination)
        let total = try Int(source.integer(pragma: "page_count") - source.integer(pragma: "freelist_count"))
        return try withoutActuallyEscaping(progress) { progress in
            var done = 0
            let copy = ContentCopy(source: source, destination: destination) {
                done = min(total, max(done, Int(try destination.integer(pragma: "page_count"))))
                try progress(.copying, done, total)
            }
            return try copy.run { try progress(.copying, done, total) }
        }
    }

    private func copyPages(from source: ConnectionHandle, to handle: ConnectionHandle) throws {
        let backup = try BackupHandle(from: source, to: handle)
        while true {
            let result = backup.step(pages: 256)
            let total = backup.totalPageCount
            try reportCopying(total - backup.remainingPageCount, total)
            switch result {
            case .more: continue
            case .failed(let code): throw EngineError(code: code, message: handle.lastErrorMessage)
            case .done: break
            }
            break
        }
        try backup.finish()
    }

    /// SQLite tells a full disk from other errors of the disk, but not the limit of a user or of a process.
    static func isFull(_ error: any Error, systemError: CInt) -> Bool {
        guard let error = error as? EngineError else { return false }
        return error.primaryCode == EngineCode.full || error.primaryCode == EngineCode.ioError && SystemFile.isOutOfSpace(systemError)
    }

    // MARK: - Proof

    /// Opens the file as anybody will, with a key that is derived anew, and reads everything.
    private func verify(_ file: HeldFile, against fingerprint: ContentFingerprint, pageCount: Int, path: String) throws -> Made {
        let connection = try protection.withoutDerivedKeys().open(viewing: file)
        let handle = connection.handle
        let header = try FileHeader(handle, count: 32)
        if let settings = protection.ring?.settings {
            guard !header.isPlaintext(plaintextHeaderSize: settings.plaintextHeaderSize) else {
                throw DatabaseFileError(.copyRejected("it is not encrypted"), path: path)
            }
            if settings.usesHMAC, let finding = try handle.firstText(trusted: "PRAGMA cipher_integrity_check") {
                throw DatabaseFileError(.copyRejected(finding), path: path)
            }
        }
        try prepare(handle)
        try progress(.verifying, 0, pageCount)
        var rows = 0
        let copy = try ContentFingerprint(of: handle) {
            rows += ContentFingerprint.rowsBetweenCheckpoints
            try progress(.verifying, min(pageCount, pageCount * rows / max(1, fingerprint.rowCount)), pageCount)
        }
        if let difference = fingerprint.difference(from: copy) {
            throw DatabaseFileError(.copyRejected("it differs in \(difference)"), path: path)
        }
        try progress(.verifying, pageCount, pageCount)
        try LenientStructureCheck(handle).run()
        let material = try protection.material(fileSalt: header.salt)
        let salt = material.map { $0.salt ?? header.salt }
        return Made(
            fingerprint: copy, pageCount: try Int(handle.integer(pragma: "page_count")),
            pageSize: try Int(handle.integer(pragma: "page_size")), salt: salt,
            keyID: try material.map { try KeyIdentifier.text(of: $0, salt: salt ?? []) }, material: material)
    }
}

extension FileProtection {
    /// The same with nothing derived yet, so that a key is proved, and not what was derived from it before.
    func withoutDerivedKeys() throws(KeyError) -> FileProtection {
        guard let ring else { return self }
        return .encrypted(try KeyRing(key: ring.keys[0], settings: ring.settings))
    }
}
