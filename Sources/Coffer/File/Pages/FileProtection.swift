internal import Foundation
internal import KeyMaterial
internal import SQLCipherBridge

/// How the content of a file is protected, and thereby how a connection to it is opened.
enum FileProtection: Sendable {
    case plaintext
    case encrypted(KeyRing)

    /// Asks a provider for its key, once, and checks the key and the settings.
    static func encrypted(_ key: DatabaseKey, cipher: CipherSettings) throws(KeyError) -> FileProtection {
        let asked = try KeyRing(key: key, settings: cipher).resolve(keyIndex: 0)
        return .encrypted(try KeyRing(key: asked, settings: cipher))
    }

    var ring: KeyRing? {
        if case .encrypted(let ring) = self { ring } else { nil }
    }

    /// Opens a connection, and proves that the key opens the file (I3). It does not roll back, checkpoint or
    /// write by itself, but for what every first read does.
    ///
    /// - Parameter work: who does the cryptographic work of the connection.
    /// - Throws: ``KeyError`` or ``EngineError``.
    func open(
        _ path: String, flags: EngineConnection.OpenFlags = .readWrite, locking: FileLocking = .shared,
        timeout: TimeInterval = 0,
        work: PageWork = .engine
    ) throws -> EngineConnection {
        try open(work: work) { () throws(EngineError) in
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
            // Sorts would be on the disk in the clear.
            try keyed.handle.execute("PRAGMA temp_store = MEMORY")
            return keyed.connection
        }
    }

    /// Opens a connection that can only read to the bytes of a file that has no name to trust, and proves
    /// that the key opens it.
    func open(viewing bytes: any StoredBytes) throws -> EngineConnection {
        try open { () throws(EngineError) in try FileView.open(bytes) }
    }

    /// Opens a connection to the bytes of a new file, which it writes without a journal.
    func open(writing bytes: any WritableBytes) throws -> EngineConnection {
        let connection = try open { () throws(EngineError) in try FileView.open(writing: bytes) }
        guard try connection.handle.firstText(trusted: "PRAGMA main.journal_mode = OFF") == "off" else {
            throw EngineError(code: EngineCode.error, message: "The copy cannot be written without a journal")
        }
        try connection.handle.execute("PRAGMA synchronous = OFF")
        return connection
    }

    /// Opens a connection that can write, as ``open(_:flags:locking:timeout:work:)`` does.
    ///
    /// SQLite answers with one that can only read when the system refuses to open the file for writing, be it
    /// only once.
    func openForWriting(
        _ path: String, locking: FileLocking = .shared, timeout: TimeInterval = 0, work: PageWork = .engine
    ) throws -> EngineConnection {
        for _ in 0..<2 {
            let connection = try open(path, locking: locking, timeout: timeout, work: work)
            if !connection.handle.isReadOnly(schema: "main") { return connection }
        }
        throw EngineError(code: EngineCode.readOnly, message: "The file cannot be opened for writing")
    }

    /// Whether a fresh connection can read the file. Unlike ``open(_:flags:locking:timeout:work:)`` it does
    /// not look for the reason when it cannot.
    func opens(_ path: String) throws -> Bool { try opens(EngineConnection(path: path, flags: .readOnly)) }

    /// Whether a fresh connection can read the bytes of a file that has no name to trust.
    func opens(viewing bytes: any StoredBytes) throws -> Bool { try opens(FileView.open(bytes)) }

    private func opens(_ connection: consuming EngineConnection) throws -> Bool {
        let handle = connection.handle
        switch self {
        case .plaintext:
            return try handle.canReadSchema()
        case .encrypted(let ring):
            let header = try FileHeader(handle)
            let material = try ring.freshMaterial(fileSalt: header.salt)
            return try ring.unlock(handle, with: material, settings: ring.settings)
        }
    }

    /// What the pages of a file with these first bytes are encrypted with; nil for plaintext.
    func material(fileSalt: [UInt8]) throws(KeyError) -> KeyRing.Material? {
        guard let ring else { return nil }
        if let known = ring.cachedMaterial(keyIndex: 0, fileSalt: fileSalt) { return known }
        return try ring.freshMaterial(fileSalt: fileSalt)
    }

    /// What encrypts a file that begins with this; nil for plaintext.
    func key(of header: FileHeader) throws -> FileKey? {
        guard let material = try material(fileSalt: header.salt) else { return nil }
        return try FileKey(material, salt: material.salt ?? header.salt)
    }

    /// The same with nothing derived yet, so that a key is proved, and not what was derived from it before.
    func withoutDerivedKeys() throws(KeyError) -> FileProtection {
        guard let ring else { return self }
        return .encrypted(try KeyRing(key: ring.keys[0], settings: ring.settings))
    }

    /// Whether both keys are the same secret, whatever the salts that come with them.
    func hasSameSecret(as other: FileProtection) -> Bool {
        guard let mine = ring?.keys.first, let theirs = other.ring?.keys.first else { return false }
        return mine.hasSameSecret(as: theirs)
    }
}

/// What encrypts a file.
struct FileKey {
    let material: KeyRing.Material
    /// The one of the file, or the one that comes with the key.
    let salt: [UInt8]

    /// A name that gives nothing away: a keyed hash of what encrypts the file and of the salt. Only those who
    /// know the key can compute it.
    ///
    /// It is as hard to guess a passphrase from it as from the file itself.
    let id: String

    init(_ material: KeyRing.Material, salt: [UInt8]) throws(CryptographyFailure) {
        self.material = material
        self.salt = salt
        id = try FileKey.code(of: "Coffer key identifier 1", salt, material).prefix(8).hexadecimal
    }

    /// The digest of content as it is reported and recorded: see
    /// ``DatabaseFile/RotationProof/contentDigest``.
    ///
    /// It is an authentication code over the digest of the content, with what encrypts the file after the
    /// work; or before it, where the result is plaintext. Equal contents under the same key have equal codes,
    /// and without the key nobody can try contents out.
    ///
    /// - Parameter digest: of the content itself, as hexadecimal digits. It is returned as it is where no key
    ///   protects the content at all.
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
