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

    /// Opens a connection, and proves that the key opens the file (I3). It does not roll back, checkpoint or write by itself, but for what every
    /// first read does.
    ///
    /// - Throws: ``KeyError`` or ``EngineError``.
    func open(
        _ path: String, flags: ConnectionHandle.OpenFlags = .readWrite, timeout: TimeInterval = 0
    ) throws -> ConnectionHandle {
        try open { () throws(EngineError) in
            let handle = try ConnectionHandle.open(path: path, flags: flags)
            handle.busyTimeout(milliseconds: CInt(clamping: Int((max(0, timeout) * 1000).rounded(.up))))
            return handle
        }
    }

    private func open(_ open: KeyRing.Open) throws -> ConnectionHandle {
        switch self {
        case .plaintext:
            let handle = try open()
            do {
                try KeyRing.verifyPlaintext(handle)
                return handle
            } catch {
                handle.closeProbe()
                throw error
            }
        case .encrypted(let ring):
            let handle = try ring.openKeyed(open: open).handle
            do {
                // Sorts would be on the disk in the clear.
                try handle.execute("PRAGMA temp_store = MEMORY")
                return handle
            } catch {
                handle.closeProbe()
                throw error
            }
        }
    }

    /// Opens a connection that can only read to the bytes of a file that has no name to trust, and proves that the key opens it.
    func open(viewing bytes: any StoredBytes) throws -> ConnectionHandle { try open { () throws(EngineError) in try FileView.open(bytes) } }

    /// Opens a connection to the bytes of a new file, which it writes without a journal.
    func open(writing bytes: any WritableBytes) throws -> ConnectionHandle {
        let handle = try open { () throws(EngineError) in try FileView.open(writing: bytes) }
        do {
            guard try handle.firstText(trusted: "PRAGMA main.journal_mode = OFF") == "off" else {
                throw EngineError(code: EngineCode.error, message: "The copy cannot be written without a journal")
            }
            try handle.execute("PRAGMA synchronous = OFF")
            return handle
        } catch {
            handle.closeProbe()
            throw error
        }
    }

    /// Opens a connection that can write, as ``open(_:flags:timeout:)`` does.
    ///
    /// SQLite answers with one that can only read when the system refuses to open the file for writing, be it only once.
    func openForWriting(_ path: String, timeout: TimeInterval = 0) throws -> ConnectionHandle {
        for _ in 0..<2 {
            let handle = try open(path, timeout: timeout)
            guard handle.isReadOnly(schema: "main") else { return handle }
            handle.closeProbe()
        }
        throw EngineError(code: EngineCode.readOnly, message: "The file cannot be opened for writing")
    }

    /// Whether a fresh connection can read the file. Unlike ``open(_:flags:timeout:)`` it does not look for the reason when it cannot.
    func opens(_ path: String) throws -> Bool { try opens(ConnectionHandle.open(path: path, flags: .readOnly)) }

    /// Whether a fresh connection can read the bytes of a file that has no name to trust.
    func opens(viewing bytes: any StoredBytes) throws -> Bool { try opens(FileView.open(bytes)) }

    private func opens(_ handle: ConnectionHandle) throws -> Bool {
        defer { handle.closeProbe() }
        switch self {
        case .plaintext:
            do throws(EngineError) {
                try handle.verifyKey()
                return true
            } catch {
                guard error.code & 0xff == EngineCode.notADatabase else { throw error }
                return false
            }
        case .encrypted(let ring):
            let header = try FileHeader(handle)
            let key = try ring.resolve(keyIndex: 0)
            let material = try ring.material(of: key, fileSalt: header.salt, settings: ring.settings)
            return try ring.unlock(handle, with: material, settings: ring.settings)
        }
    }

    /// What the pages of a file with these first bytes are encrypted with; nil for plaintext.
    func material(fileSalt: [UInt8]) throws(KeyError) -> KeyRing.Material? {
        guard let ring else { return nil }
        if let known = ring.cachedMaterial(keyIndex: 0, fileSalt: fileSalt) { return known }
        let material = try ring.material(of: ring.resolve(keyIndex: 0), fileSalt: fileSalt, settings: ring.settings)
        return material
    }

    /// Whether both keys are the same secret, whatever the salts that come with them.
    func hasSameSecret(as other: FileProtection) -> Bool {
        guard let mine = ring?.keys.first, let theirs = other.ring?.keys.first else { return false }
        return switch (mine.kind, theirs.kind) {
        case (.passphrase(let mine, _), .passphrase(let theirs, _)): mine.bytes == theirs.bytes
        case (.rawKey(let mine, _), .rawKey(let theirs, _)): mine.bytes == theirs.bytes
        default: false
        }
    }
}

/// Names for keys that give nothing away.
enum KeyIdentifier {
    /// A keyed hash of what encrypts a file and the file's salt: who knows the key can compute it, and nobody else.
    ///
    /// It is as hard to guess a passphrase from it as from the file itself.
    static func text(of material: KeyRing.Material, salt: [UInt8]) throws(CryptographyFailure) -> String {
        let message = Array("Coffer key identifier 1".utf8) + salt
        return try KeyDerivation.hmac(key: material.secret.bytes, message: message, hash: .sha256).prefix(8).hexadecimal
    }
}

extension Sequence where Element == UInt8 {
    /// Two lower-case digits for each byte. For bytes that are no secrets.
    var hexadecimal: String { map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
}
