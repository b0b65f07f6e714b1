internal import KeyMaterial
internal import SQLCipherBridge

/// The way into files whose key for HMAC was derived with another salt than SQLCipher derives it with today: those of the beta of SQLCipher 2.
///
/// The engine derives it from the salt of the file, each byte of which it combines with a mask by exclusive or. The mask is a variable of the whole
/// process, which other connections read whenever they derive their keys, so it is never changed. Instead, the connection is keyed with a salt that
/// the engine's mask turns into the right one. As soon as the keys are there, the connection gets the salt of the file, which it writes to page 1.
/// Both are its own.
struct MaskedSalt {
    /// What stands, or will stand, at the start of the file.
    private let stored: [UInt8]

    /// What the connection is keyed with.
    let given: [UInt8]

    private let isFileEmpty: Bool

    /// - Returns: nil where the engine derives the key by itself.
    init?(_ material: KeyRing.Material, _ settings: CipherSettings, _ handle: ConnectionHandle) throws(KeyError) {
        let difference = settings.hmacSaltMask ^ PageCipher.Layout.engineSaltMask
        guard settings.usesHMAC, difference != 0 else { return nil }
        let header = try FileHeader.read(handle)
        if let salt = material.salt {
            stored = salt
        } else if !header.salt.isEmpty {
            stored = header.salt
        } else {
            do throws(RandomnessFailure) {
                stored = try SystemRandomness.bytes(count: 16)
            } catch {
                throw .failure(.invalidKey(.noRandomness))
            }
        }
        given = stored.map { $0 ^ difference }
        isFileEmpty = header.isEmptyFile
    }

    /// Gives the connection the salt of the file. Call it once the key is proved, before anything is written.
    func settle(on handle: ConnectionHandle) throws(EngineError) {
        // Keys are derived when the first page is read or written. An empty file has none to read, and its first page would be written with the
        // salt that the connection was keyed with, but a look at the codes of its pages derives the keys first.
        if isFileEmpty { try handle.execute("PRAGMA cipher_integrity_check") }
        // The engine answers the salt that it was given with the key only after it has used it.
        guard try handle.firstText(trusted: "PRAGMA cipher_salt") == given.hexadecimal else {
            throw EngineError(code: EngineCode.misuse, message: "SQLCipher did not derive its keys when it was expected to")
        }
        try handle.execute(trusted: "PRAGMA cipher_salt = \"x'\(stored.hexadecimal)'\"")
        guard try handle.firstText(trusted: "PRAGMA cipher_salt") == stored.hexadecimal else {
            throw EngineError(code: EngineCode.misuse, message: "SQLCipher did not accept the salt of the file")
        }
    }
}
