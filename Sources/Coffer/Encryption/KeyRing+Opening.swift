internal import KeyMaterial
internal import SQLCipherBridge

/// A connection that has its key and can read and write.
struct KeyedConnection {
    let handle: ConnectionHandle

    /// Whether the file was empty, so that its salt is still to be written: call ``ConnectionHandle/claimEmptyFile()`` before anybody relies
    /// on the file, and after the pragmas that must come first (auto_vacuum, encoding). On `SQLITE_NOTADB` another connection was faster:
    /// close, and open anew.
    let isFileEmpty: Bool
}

// Decryption errors stick to a connection, so that each try gets a connection of its own. Whatever is not handed out is closed.
extension KeyRing {
    typealias Open = () throws(EngineError) -> ConnectionHandle

    /// Opens a connection and makes it able to read and write: key, cipher settings, proof of the codec, proof of the key (I3).
    ///
    /// The keys are tried in order. When none opens the file and its salt changed meanwhile (two processes created it at once, or another
    /// one rotated the key), they are tried again. A provider is asked only when nothing that it answered before opens the file.
    ///
    /// - Parameter open: opens a connection with its busy handling, and runs nothing on it.
    /// - Throws: the typed reason when no key opens the file; the engine's error when there is another one, such as `SQLITE_BUSY`.
    func openKeyed(open: Open) throws(KeyError) -> KeyedConnection {
        var memo = KeyMemo()
        var triedSalt: [UInt8]?
        var refusal: KeyError?
        // More rounds would not help: the salt changes once when somebody creates the file or rotates its key.
        for _ in 0..<3 {
            let first = try KeyRing.fresh(open)
            let salt: [UInt8]
            do throws(KeyError) {
                salt = try KeyRing.header(of: first).salt
            } catch {
                first.closeProbe()
                throw error
            }
            guard salt != triedSalt else {
                first.closeProbe()
                break
            }
            triedSalt = salt
            memo = KeyMemo()
            for (position, keyIndex) in candidates(forSalt: salt).enumerated() {
                let handle = position == 0 ? first : try KeyRing.fresh(open)
                do throws(KeyError) {
                    if let connection = try tryKey(keyIndex, on: handle, memo: &memo, open: open) { return connection }
                } catch {
                    // A journal may belong to the key that the file had before.
                    guard case .foreignSideFile = error.failure else { throw error }
                    refusal = refusal ?? error
                }
            }
        }
        if let refusal { throw refusal }
        throw try diagnose(memo: &memo, open: open)
    }

    /// A keyed connection, or nil when the key does not open the file. Closes `handle` unless it hands it out.
    private func tryKey(
        _ keyIndex: Int, on handle: ConnectionHandle, memo: inout KeyMemo, open: Open
    ) throws(KeyError) -> KeyedConnection? {
        var handle = handle
        var isHandedOut = false
        defer { if !isHandedOut { handle.closeProbe() } }

        // Each connection's own view of the file: it may have changed since the last one.
        let header = try KeyRing.header(of: handle)
        var material = cachedMaterial(keyIndex: keyIndex, fileSalt: header.salt)
        if let cached = material, try !unlock(handle, with: cached, settings: settings) {
            discardMaterial(keyIndex: keyIndex, fileSalt: header.salt)
            guard keys[keyIndex].isProvider else { return nil }
            handle.closeProbe()
            isHandedOut = true
            handle = try KeyRing.fresh(open)
            isHandedOut = false
            material = nil
        }
        if material == nil {
            let asked = try memo.material(
                keyIndex: keyIndex, fileSalt: header.salt, settings: settings, path: handle.filename(schema: "main"), ring: self)
            guard try unlock(handle, with: asked, settings: settings) else { return nil }
            material = asked
        }
        if let material { remember(material, keyIndex: keyIndex, fileSalt: header.salt) }
        isHandedOut = true
        return KeyedConnection(handle: handle, isFileEmpty: header.isEmptyFile)
    }

    /// Keys a connection, and reads the schema. Answers false when the key does not open the file; the connection is of no use then.
    func unlock(_ handle: ConnectionHandle, with material: Material, settings: CipherSettings) throws(KeyError) -> Bool {
        let masked = try MaskedSalt(material, settings, handle)
        do throws(EngineError) {
            try handle.setKey(rawKey: material.secret.bytes, salt: masked?.given ?? material.salt)
            try settings.apply(to: handle)
        } catch {
            guard error.code == EngineCode.misuse, let words = error.message else { throw KeyError(error) }
            throw .failure(.invalidCipherSettings(.refused(words)))
        }
        let watch = SideFileWatch(material, settings)
        handle.watchSideFiles(owner: self, report: { watch.refuse(ofAnotherUser: $0) }) { watch.mayUse($0, $1, of: $2) }
        do throws(EngineError) {
            try handle.verifyKey()
            try masked?.settle(on: handle)
            return true
        } catch {
            if error.code == EngineCode.refusedSideFile { return try watch.explainRefusal(handle) }
            switch error.code & 0xff {
            // Which of them comes depends on the page that is not authentic, and on the plaintext header.
            case EngineCode.notADatabase, EngineCode.noMemory, EngineCode.error: return false
            // Page 1 was decrypted, so that the key is right.
            case EngineCode.corrupt:
                let pages = try KeyRing.damagedPages(handle, material: material, settings: settings) ?? []
                throw .encryption(.damaged(pages: pages), code: error.code)
            default: throw KeyError(error)
            }
        }
    }

    // MARK: - Memory

    /// Keys a connection to a database in memory with a random key that nobody knows, so that encrypted databases can be copied into it:
    /// SQLCipher refuses copies between encrypted and plaintext databases, in memory too.
    static func keyMemoryConnection(_ handle: ConnectionHandle, settings: CipherSettings) throws(KeyError) {
        let secret: SecretBytes
        do throws(RandomnessFailure) {
            secret = try SecretBytes.random(count: 32)
        } catch {
            throw .failure(.invalidKey(.noRandomness))
        }
        do throws(EngineError) {
            try handle.setKey(rawKey: secret, salt: nil)
            try settings.apply(to: handle)
            try handle.verifyKey()
        } catch {
            throw KeyError(error)
        }
    }

    // MARK: - Connections for a moment

    static func fresh(_ open: Open) throws(KeyError) -> ConnectionHandle {
        try engine(open)
    }

    static func header(of handle: ConnectionHandle, count: Int = 16) throws(KeyError) -> FileHeader {
        try engine { () throws(EngineError) in try FileHeader(handle, count: count) }
    }

    static func engine<Result>(_ body: () throws(EngineError) -> Result) throws(KeyError) -> Result {
        do throws(EngineError) { return try body() } catch { throw KeyError(error) }
    }
}
