internal import KeyMaterial
internal import SQLCipherBridge

extension ConnectionHandle {
    /// Sets the key, and reads the schema. Returns false if the key does not open the file; the connection is
    /// then unusable.
    ///
    /// - Parameters:
    ///   - ring: the owner of the key. Its connections do not repeat checks of each other.
    ///   - settings: nil for the ring's.
    func unlock(
        with material: KeyRing.Material, of ring: KeyRing, settings: CipherSettings? = nil,
        work: PageWork = .engine
    ) throws(KeyError) -> Bool {
        let settings = settings ?? ring.settings
        let masked = try MaskedSalt(material, settings, self)
        do throws(EngineError) {
            try setKey(rawKey: material.secret.bytes, salt: masked?.given ?? material.salt, work: work)
            try settings.apply(to: self)
        } catch {
            guard error.code == EngineCode.misuse, let words = error.message else { throw KeyError(error) }
            throw .failure(.invalidCipherSettings(.refused(words)))
        }
        let watch = SideFileWatch(material, settings)
        watchSideFiles(owner: ring, report: { watch.refuse(ofAnotherUser: $0) }) {
            watch.mayUse($0, $1, of: $2)
        }
        do throws(EngineError) {
            try verifyKey()
        } catch {
            if error.code == EngineCode.refusedSideFile { return try watch.explainRefusal(self) }
            if error.code == EngineCode.cantOpen, let failure = EncryptionFailure(otherNameOf: self) {
                throw .failure(failure)
            }
            // SQLCipher reads the salt itself, and uses a random one if that fails.
            do throws(EngineError) { try ReadFailure.check() } catch { throw KeyError(error) }
            switch error.primaryCode {
            // The code depends on which page is not authentic, and on the plaintext header.
            case EngineCode.notADatabase, EngineCode.noMemory, EngineCode.error: return false
            case EngineCode.corrupt:
                guard let pages = try damagedPagesUnderRightKey(material, settings) else { return false }
                throw .encryption(.damaged(pages: pages), code: error.code)
            default: throw KeyError(error)
            }
        }
        try masked?.settle(on: self)
        return true
    }

    /// Returns the damaged pages of a file whose page 1 the engine calls corrupt; nil if the key is wrong.
    private func damagedPagesUnderRightKey(_ material: KeyRing.Material, _ settings: CipherSettings)
        throws(KeyError) -> [Int]?
    {
        // Without MACs, the structure of page 1 must confirm the key.
        guard settings.usesHMAC else { return try hasRootOfSchema(material, settings) ? [] : nil }
        let pages = try damagedPages(material, settings)
        // The engine has decrypted page 1, so the key is right. But since SQLCipher 4.19, this is also its
        // answer to a wrong key if it finds a header in the clear.
        return settings.plaintextHeaderSize > 0 ? pages : pages ?? []
    }

    /// Sets a random key, which is not kept, on a connection to an in-memory database, so that encrypted
    /// databases can be copied into it. SQLCipher refuses copies between encrypted and plaintext databases,
    /// in memory too.
    func setRandomKey(_ settings: CipherSettings) throws(KeyError) {
        let secret = try SecretBytes.randomOfKey(count: 32)
        do throws(EngineError) {
            try setKey(rawKey: secret, salt: nil)
            try settings.apply(to: self)
            try verifyKey()
        } catch {
            throw KeyError(error)
        }
    }
}

/// Opens files whose HMAC key was derived with a different salt mask than SQLCipher uses today: those of the
/// beta of SQLCipher 2.
///
/// The engine combines each byte of the file's salt with a mask by exclusive or, and derives the HMAC key
/// from the result. The mask is a variable of the whole process, which other connections read whenever they
/// derive their keys, so Coffer never changes it. Instead, it keys the connection with a salt that the
/// engine's mask turns into the right one. Once the keys are derived, it gives the connection the salt of the
/// file, which the connection writes to page 1. Both the keys and the salt belong to this connection only.
///
/// Since version 4.7, SQLCipher ignores a salt that is set after the first page was read or written. With an
/// engine of this kind, these files are refused.
struct MaskedSalt {
    /// The salt at the start of the file, or the one that will be written there.
    private let stored: [UInt8]

    /// The salt that the connection is keyed with.
    let given: [UInt8]

    private let isFileEmpty: Bool

    /// SQLCipher 4.7, the first engine that ignores the salt, contains this version of SQLite.
    private static let firstRefusingSQLite: CInt = 3_049_001

    /// The refusal of an engine that cannot open files of another mask.
    static let refusal = EncryptionFailure.invalidCipherSettings(
        .refused(
            "SQLCipher since version 4.7 cannot use files with another hmacSaltMask than 0x3a, because it "
                + "ignores cipher_salt after the first use of the key. Upgrade the file once with SQLCipher "
                + "4.5 or 4.6"))

    /// - Returns: nil if the engine's own mask is the right one.
    init?(_ material: KeyRing.Material, _ settings: CipherSettings, _ handle: ConnectionHandle)
        throws(KeyError)
    {
        let difference = settings.hmacSaltMask ^ PageCipher.Layout.engineSaltMask
        guard settings.usesHMAC, difference != 0 else { return nil }
        let header = try FileHeader.read(handle)
        if let salt = material.salt {
            stored = salt
        } else if !header.salt.isEmpty {
            stored = header.salt
        } else {
            stored = try SystemRandomness.bytesOfKey(count: 16)
        }
        given = stored.map { $0 ^ difference }
        isFileEmpty = header.isEmptyFile
    }

    /// Gives the connection the salt of the file. Call it after the key is verified and before anything is
    /// written.
    ///
    /// - Throws: ``refusal`` if the engine ignores the salt.
    func settle(on handle: ConnectionHandle) throws(KeyError) {
        do throws(EngineError) {
            if try accepts(handle) { return }
        } catch {
            throw KeyError(error)
        }
        throw .failure(MaskedSalt.refusal)
    }

    private func accepts(_ handle: ConnectionHandle) throws(EngineError) -> Bool {
        // No key is in use yet, so every engine would accept the salt of an empty file. One that ignores it
        // later could not open the file again.
        if isFileEmpty, Engine.sqliteVersionNumber >= MaskedSalt.firstRefusingSQLite { return false }
        // Keys are derived when the first page is read or written. An empty file has no page to read, and its
        // first page would be written with the salt that the connection was keyed with. The integrity check
        // derives the keys first.
        if isFileEmpty { try handle.execute("PRAGMA cipher_integrity_check") }
        // The engine returns the salt that was given with the key only after it has used it.
        guard try handle.firstText(trusted: "PRAGMA cipher_salt") == given.hexadecimal else {
            throw EngineError.misuse("SQLCipher did not derive its keys when it was expected to")
        }
        try handle.execute(trusted: "PRAGMA cipher_salt = \"x'\(stored.hexadecimal)'\"")
        return try handle.firstText(trusted: "PRAGMA cipher_salt") == stored.hexadecimal
    }
}
