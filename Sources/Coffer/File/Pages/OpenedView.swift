internal import KeyMaterial
internal import SQLCipherBridge

/// A view of a database that leaves no trace on disk, with the protection that opens it.
final class OpenedView {
    let view: StoredView
    let protection: FileProtection
    /// The settings that open the file; for plaintext, the defaults of SQLCipher 4.
    let settings: CipherSettings
    /// Nil if the key is right but damage keeps the engine from opening the file.
    var handle: ConnectionHandle? {
        switch connection {
        case .some(let connection): connection.handle
        case nil: nil
        }
    }

    private let connection: EngineConnection?
    /// True if the salt is damaged, so that the MACs of pages cannot be checked.
    let isSaltDamaged: Bool
    /// The pages whose damage prevents the opening, as far as they are known.
    let damagedPages: [Int]

    /// - Parameters:
    ///   - key: nil for plaintext.
    ///   - cipher: nil to detect the format.
    /// - Throws: the reason, if the key does not open the file and no page verifies it.
    convenience init(_ path: String, key: DatabaseKey?, cipher: CipherSettings?, timeout: Double) throws {
        let key = key?.placed(at: path)
        let protection: FileProtection =
            if let key { try .encrypted(key, cipher: cipher ?? CipherSettings()) } else { .plaintext }
        try self.init(path, protection, findsFormat: cipher == nil, timeout: timeout)
    }

    /// - Parameters:
    ///   - protection: caches derived keys for later connections.
    ///   - findsFormat: true to also try other formats than the one of `protection`.
    init(_ path: String, _ protection: FileProtection, findsFormat: Bool = false, timeout: Double) throws {
        _ = try SystemFile.regularFile(path, followsLinks: true)
        let path = try SystemFile.resolved(path)
        guard let first = protection.ring else {
            view = try StoredView(path, pageSize: nil, timeout: timeout)
            self.protection = .plaintext
            settings = CipherSettings()
            isSaltDamaged = false
            damagedPages = [1]
            connection = try OpenedView.openPlaintext(view)
            return
        }
        var settings = first.settings
        var protection = protection
        var view = try StoredView(path, pageSize: settings.pageSize, timeout: timeout)
        var connection: EngineConnection?
        var isSaltDamaged = false
        var damagedPages = [1]
        // The first attempt may detect another format, with which the second one succeeds.
        for isFirst in [true, false] {
            guard case .encrypted(let ring) = protection else { break }
            do {
                try OpenedView.checkSideFile(view, protection, ring.settings)
                connection = .some(try protection.open(viewing: view))
                break
            } catch KeyError.encryption(let failure, let code) {
                if isFirst && findsFormat, let found = failure.foundSettings {
                    settings = found
                    protection = .encrypted(try KeyRing(key: ring.keys[0], settings: settings))
                    view = try StoredView(path, pageSize: settings.pageSize, timeout: timeout)
                    continue
                }
                switch failure {
                case .damaged(let pages):
                    damagedPages = pages
                    isSaltDamaged = try OpenedView.isSaltDamaged(view, protection, settings)
                default:
                    throw KeyError.encryption(failure, code: code)
                }
                break
            }
        }
        self.view = view
        self.protection = protection
        self.settings = settings
        self.connection = connection
        self.isSaltDamaged = isSaltDamaged
        self.damagedPages = damagedPages
    }

    private static func checkSideFile(
        _ view: StoredView, _ protection: FileProtection, _ settings: CipherSettings
    ) throws {
        guard let sideFile = view.sideFilePath,
            let material = try protection.material(fileSalt: view.fileSalt)
        else { return }
        if case .foreign(let isFileWhole) = try view.verdictOnSideFile(material, settings) {
            throw KeyError.failure(.foreignSideFile(path: sideFile, isFileWhole: isFileWhole))
        }
    }

    private static func openPlaintext(_ view: StoredView) throws -> EngineConnection? {
        let connection = try FileView.open(view)
        do throws(KeyError) {
            try connection.handle.verifyPlaintext()
            return connection
        } catch {
            guard case .damaged = error.failure else {
                if case .engine(let error) = error, error.primaryCode == EngineCode.corrupt { return nil }
                throw error
            }
            return nil
        }
    }

    /// Returns true if the key is right, but no page is authentic under the salt of the file.
    private static func isSaltDamaged(
        _ view: StoredView, _ protection: FileProtection, _ settings: CipherSettings
    ) throws -> Bool {
        guard settings.usesHMAC, let material = try protection.material(fileSalt: view.fileSalt) else {
            return false
        }
        let connection = try FileView.open(view)
        return try connection.handle.damagedPages(material, settings) == nil
    }
}

extension EncryptionFailure {
    /// The settings with which the key opens the file.
    var foundSettings: CipherSettings? {
        switch self {
        case .olderFormat(let format), .newerFormat(let format): .sqlcipher(format: format)
        case .otherSettings(let settings): settings
        default: nil
        }
    }
}
