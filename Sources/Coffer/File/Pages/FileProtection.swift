internal import Foundation
internal import KeyMaterial
internal import SQLCipherBridge

/// The protection of a file's content, which determines how connections to it are opened.
enum FileProtection: Sendable {
    case plaintext
    case encrypted(KeyRing)

    /// Asks a key provider for its key once, and checks the key and the settings.
    static func encrypted(_ key: DatabaseKey, cipher: CipherSettings) throws(KeyError) -> FileProtection {
        let asked = try KeyRing(key: key, settings: cipher).resolve(keyIndex: 0)
        return .encrypted(try KeyRing(key: asked, settings: cipher))
    }

    var ring: KeyRing? {
        if case .encrypted(let ring) = self { ring } else { nil }
    }

    /// Opens a connection, and verifies that the key opens the file (invariant "Key first"). Apart from the
    /// usual effects of a first read, it does not roll back, checkpoint or write.
    ///
    /// - Parameter work: the implementation that encrypts and decrypts the connection's pages.
    /// - Throws: ``KeyError`` or ``EngineError``.
    func open(
        _ path: String, flags: EngineConnection.OpenFlags = .readWrite, locking: FileLocking = .shared,
        timeout: TimeInterval = 0,
        work: PageWork = .engine
    ) throws -> EngineConnection {
        // A killed run may have given the file a second name, with which it cannot be opened in WAL mode.
        if flags == .readWrite { Database.removeSecondNames(ofFileAt: path) }
        return try open(work: work) { () throws(EngineError) in
            let connection = try EngineConnection(path: path, flags: flags, locking: locking)
            connection.handle.busyTimeout(seconds: timeout)
            return connection
        }
    }

    private func open(work: PageWork = .engine, _ open: @escaping KeyRing.Open) throws -> EngineConnection {
        switch self {
        case .plaintext:
            let connection = try open()
            try connection.handle.verifyPlaintext()
            return connection
        case .encrypted(let ring):
            let keyed = try ring.openKeyed(work: work, open: open)
            // Sorting would write plaintext to the disk.
            try keyed.handle.execute("PRAGMA temp_store = MEMORY")
            return keyed.connection
        }
    }

    /// Opens a read-only connection to the bytes of a file whose name cannot be trusted, and verifies that
    /// the key opens it.
    func open(viewing bytes: any StoredBytes) throws -> EngineConnection {
        try open { () throws(EngineError) in try FileView.open(bytes) }
    }

    /// Opens a connection to the bytes of a new file, which writes without a journal.
    func open(writing bytes: any WritableBytes) throws -> EngineConnection {
        let connection = try open { () throws(EngineError) in try FileView.open(writing: bytes) }
        guard try connection.handle.firstText(trusted: "PRAGMA main.journal_mode = OFF") == "off" else {
            throw EngineError(code: EngineCode.error, message: "The copy cannot be written without a journal")
        }
        try connection.handle.execute("PRAGMA synchronous = OFF")
        return connection
    }

    /// Opens a connection that can write, like ``open(_:flags:locking:timeout:work:)``.
    ///
    /// SQLite silently falls back to a read-only connection if the system refuses to open the file for
    /// writing, even if it does so only once. So this tries twice.
    func openForWriting(
        _ path: String, locking: FileLocking = .shared, timeout: TimeInterval = 0, work: PageWork = .engine
    ) throws -> EngineConnection {
        for _ in 0..<2 {
            let connection = try open(path, locking: locking, timeout: timeout, work: work)
            if !connection.handle.isReadOnly(schema: "main") { return connection }
        }
        throw EngineError(code: EngineCode.readOnly, message: "The file cannot be opened for writing")
    }

    /// Returns true if a fresh connection can read the file. Unlike ``open(_:flags:locking:timeout:work:)``,
    /// it does not look for the reason of a failure.
    func opens(_ path: String) throws -> Bool { try opens(EngineConnection(path: path, flags: .readOnly)) }

    /// Returns true if a fresh connection can read the bytes of a file whose name cannot be trusted.
    func opens(viewing bytes: any StoredBytes) throws -> Bool { try opens(FileView.open(bytes)) }

    private func opens(_ connection: consuming EngineConnection) throws -> Bool {
        let handle = connection.handle
        switch self {
        case .plaintext:
            return try handle.canReadSchema()
        case .encrypted(let ring):
            let header = try FileHeader(handle)
            let material = try ring.freshMaterial(fileSalt: header.salt)
            return try handle.unlock(with: material, of: ring)
        }
    }

    /// Returns the key material for a file that starts with this salt; nil for plaintext.
    func material(fileSalt: [UInt8]) throws(KeyError) -> KeyRing.Material? {
        guard let ring else { return nil }
        if let known = ring.cachedMaterial(keyIndex: 0, fileSalt: fileSalt) { return known }
        return try ring.freshMaterial(fileSalt: fileSalt)
    }

    /// Returns the key of the file with this header; nil for plaintext.
    func key(of header: FileHeader) throws -> FileKey? {
        guard let material = try material(fileSalt: header.salt) else { return nil }
        return try FileKey(material, salt: material.salt ?? header.salt)
    }

    /// Returns the same protection without cached derived keys, so that a test of the key also tests its
    /// derivation.
    func withoutDerivedKeys() throws(KeyError) -> FileProtection {
        guard let ring else { return self }
        return .encrypted(try KeyRing(key: ring.keys[0], settings: ring.settings))
    }

    /// Returns true if both keys are the same secret, regardless of the salts that they may include.
    func hasSameSecret(as other: FileProtection) -> Bool {
        guard let mine = ring?.keys.first, let theirs = other.ring?.keys.first else { return false }
        return mine.hasSameSecret(as: theirs)
    }
}

/// The key and the salt that encrypt a file.
struct FileKey {
    let material: KeyRing.Material
    /// The salt of the file, or the one that the key includes.
    let salt: [UInt8]

    /// A public name for the key: a keyed hash of the key material and of the salt. Computing it requires the
    /// key.
    ///
    /// It reveals nothing else: guessing a passphrase from it is as hard as from the file itself.
    let id: String

    init(_ material: KeyRing.Material, salt: [UInt8]) throws(CryptographyFailure) {
        self.material = material
        self.salt = salt
        id = try FileKey.code(of: "Coffer key identifier 1", salt, material).prefix(8).hexadecimal
    }

    /// Returns the digest of content in the form in which it is reported and recorded: see
    /// ``DatabaseFile/RotationProof/contentDigest``.
    ///
    /// It is an HMAC of the content digest, keyed with the key of the new file, or with the key of the old
    /// file if the new one is plaintext. Equal content under the same key has the same HMAC. Without the key,
    /// a guess at the content cannot be tested.
    ///
    /// - Parameter digest: the digest of the content itself, as hexadecimal digits. It is returned unchanged
    ///   if neither file has a key.
    static func digest(_ digest: String, after: FileKey?, before: FileKey?) throws(CryptographyFailure)
        -> String
    {
        guard let key = after ?? before else { return digest }
        return try code(of: "Coffer content digest 1 \(digest)", [], key.material).hexadecimal
    }

    private static func code(of text: String, _ bytes: [UInt8], _ material: KeyRing.Material)
        throws(CryptographyFailure) -> [UInt8]
    {
        try KeyDerivation.hmac(key: material.secret.bytes, message: Array(text.utf8) + bytes, hash: .sha256)
    }
}
