internal import KeyMaterial
internal import SQLCipherBridge

/// Makes a new file with the content of an open database, in any format and under any key, and proves it before it gets its name.
struct ContentFile {
    /// How the new file is protected.
    enum Protection {
        case encrypted(DatabaseKey, CipherSettings)

        /// Not at all, with pages of a size. Whoever asks for it has been asked whether that is meant.
        case plaintext(pageSize: Int64)
    }

    let protection: Protection

    /// Adds the functions and collations that the schema needs.
    let prepare: (ConnectionHandle) throws -> Void

    /// Called now and then; throws to end, which leaves nothing behind.
    let checkpoint: () throws -> Void

    /// - Parameter source: a connection that can read, whose content is that of one moment.
    /// - Returns: the digest of the source, which that of the new file is equal to.
    @discardableResult
    func make(from source: ConnectionHandle, at path: String) throws -> ContentFingerprint {
        let file = try NewDatabaseFile(path: path)
        do {
            let digest = try write(file, from: source)
            try verify(file, against: digest)
            try file.publish()
            return digest
        } catch {
            file.discard()
            throw error
        }
    }

    private func write(_ file: NewDatabaseFile, from source: ConnectionHandle) throws -> ContentFingerprint {
        let handle = try open(file.temporaryPath)
        defer { handle.closeEventually() }
        // Whatever goes wrong, the file is removed: it needs neither a journal nor order on the disk before it is published.
        _ = try handle.firstText(trusted: "PRAGMA journal_mode = OFF")
        try handle.execute("PRAGMA synchronous = OFF")
        try prepare(handle)
        return try ContentCopy(source: source, destination: handle, checkpoint: checkpoint).runWatched()
    }

    /// Opens the file as anybody will, and reads everything.
    private func verify(_ file: NewDatabaseFile, against digest: ContentFingerprint) throws {
        let handle = try open(file.temporaryPath)
        defer { handle.closeEventually() }
        if case .encrypted(_, let settings) = protection {
            guard try FileHeader(handle, count: 32).isPlaintext(plaintextHeaderSize: settings.plaintextHeaderSize) == false else {
                throw EngineError(code: EngineCode.error, message: "The copy is not encrypted")
            }
            if settings.usesHMAC, let finding = try handle.firstText(trusted: "PRAGMA cipher_integrity_check") {
                throw EngineError(code: EngineCode.corrupt, message: "The copy is damaged: \(finding)")
            }
        }
        try prepare(handle)
        let copy = try ContentFingerprint(of: handle, checkpoint: checkpoint)
        if let difference = digest.difference(from: copy) {
            throw EngineError(code: EngineCode.corrupt, message: "The copy differs from the database in \(difference)")
        }
        try LenientStructureCheck(handle).run()
    }

    private func open(_ path: String) throws -> ConnectionHandle {
        let open: KeyRing.Open = { () throws(EngineError) in try ConnectionHandle.open(path: path, flags: .readWrite) }
        switch protection {
        case .encrypted(let key, let settings):
            // A ring of its own, so that the key is proved, not what was derived from it before.
            let handle = try KeyRing(key: key, settings: settings).openKeyed(open: open).handle
            try handle.execute("PRAGMA temp_store = MEMORY")
            return handle
        case .plaintext(let pageSize):
            let handle = try open()
            do {
                try handle.execute(trusted: "PRAGMA page_size = \(pageSize)")
                return handle
            } catch {
                handle.closeEventually()
                throw error
            }
        }
    }
}

extension ContentCopy {
    /// Copies everything, and asks the checkpoint also in the middle of long statements of the destination.
    func runWatched() throws -> ContentFingerprint {
        var reason: (any Error)?
        let watch = ProgressHandler(destination, every: 20_000) {
            do {
                try checkpoint()
                return true
            } catch {
                reason = error
                return false
            }
        }
        defer { watch.remove(from: destination) }
        do {
            return try run()
        } catch {
            throw reason ?? error
        }
    }
}
