internal import KeyMaterial
internal import SQLCipherBridge

extension KeyRing {
    /// Finds out why no key opens a file (`SQLITE_NOTADB` does not tell), on fresh connections that change nothing.
    ///
    /// From the certain to the likely: the stored bytes, the other formats, single pages that prove the key, and only then the key.
    func diagnose(memo: inout KeyMemo, open: Open) throws(KeyError) -> KeyError {
        let header = try header(open: open)
        if header.isPlaintext(plaintextHeaderSize: settings.plaintextHeaderSize) { return .failure(.plaintextFile) }
        guard let size = header.size, size >= 512 else { return .failure(.notADatabase) }
        for keyIndex in keys.indices {
            for format in (1...4).reversed() where CipherSettings.sqlcipher(format: format) != settings {
                let other = CipherSettings.sqlcipher(format: format)
                guard try opens(other, keyIndex: keyIndex, header: header, memo: &memo, open: open) else { continue }
                return .failure(format < ownFormat ? .olderFormat(format) : .newerFormat(format))
            }
            for other in CipherSettings.unusualFormats where other != settings {
                guard try opens(other, keyIndex: keyIndex, header: header, memo: &memo, open: open) else { continue }
                return .failure(.otherSettings(other))
            }
        }
        for keyIndex in keys.indices where settings.usesHMAC {
            let material = try memo.material(keyIndex: keyIndex, fileSalt: header.salt, settings: settings, ring: self)
            let handle = try KeyRing.fresh(open)
            defer { handle.closeProbe() }
            let pages = try KeyRing.damagedPages(handle, material: material, settings: settings)
            if let pages { return .failure(.damaged(pages: pages)) }
        }
        if header.cannotBeEncrypted(plaintextHeaderSize: settings.plaintextHeaderSize) { return .failure(.notADatabase) }
        return .failure(usedKeyIndex == nil ? .wrongKey : .keyRotated)
    }

    private func header(open: Open) throws(KeyError) -> FileHeader {
        let handle = try KeyRing.fresh(open)
        defer { handle.closeProbe() }
        return try KeyRing.header(of: handle, count: 65536)
    }

    /// Why a connection without a key cannot read a file.
    static func diagnoseWithoutKey(_ header: FileHeader) -> KeyError {
        if header.hasSQLiteMagic { return .failure(.damaged(pages: [1])) }
        return .failure(header.cannotBeEncrypted(plaintextHeaderSize: 0) ? .notADatabase : .noKey)
    }

    /// The format that the settings are, or 4 for those that are none.
    private var ownFormat: Int {
        (1...4).first { CipherSettings.sqlcipher(format: $0) == settings } ?? 4
    }

    private func opens(
        _ settings: CipherSettings, keyIndex: Int, header: FileHeader, memo: inout KeyMemo, open: Open
    ) throws(KeyError) -> Bool {
        let material = try memo.material(keyIndex: keyIndex, fileSalt: header.salt, settings: settings, ring: self)
        let handle = try KeyRing.fresh(open)
        defer { handle.closeProbe() }
        // Pages without codes are never rejected: SQLite would take random bytes for a header, and one in hundreds of them asks for a
        // write-ahead log, which it would make beside the file.
        if !settings.usesHMAC {
            guard try KeyRing.decryptsHeader(handle, material: material, fileSalt: header.salt, settings: settings) else { return false }
        }
        do throws(KeyError) {
            return try unlock(handle, with: material, settings: settings)
        } catch {
            // Damaged, but decrypted: the format is right.
            switch error.failure {
            case .damaged, .foreignSideFile, .sideFileOfAnotherUser: return true
            default: return false
            }
        }
    }

    /// Whether the first page of a file without codes contains what all database headers have in common.
    private static func decryptsHeader(
        _ handle: ConnectionHandle, material: Material, fileSalt: [UInt8], settings: CipherSettings
    ) throws(KeyError) -> Bool {
        guard let page = try? handle.readFile(at: 0, count: settings.pageSize), page.count == settings.pageSize else { return false }
        do throws(CryptographyFailure) {
            let cipher = try PageCipher(
                key: material.secret.bytes, salt: material.salt ?? fileSalt,
                layout: PageCipher.Layout(
                    pageSize: settings.pageSize, hmac: nil, kdf: settings.kdfAlgorithm.bridged,
                    hmacKeyIterations: settings.hmacKeyIterations, plaintextHeaderSize: 0))
            let content = try cipher.decrypt(page, number: 1)
            // The fractions of a page that payloads may fill: see <https://www.sqlite.org/fileformat.html>, "The Database Header".
            return content[21...23] == [64, 32, 32]
        } catch {
            throw .engine(EngineError(code: EngineCode.error, message: "\(error.function) failed"))
        }
    }

    /// The sampled pages that are not authentic or not complete, when at least one other page is authentic; nil when none is, or pages
    /// carry no code.
    static func damagedPages(
        _ handle: ConnectionHandle, material: Material, settings: CipherSettings
    ) throws(KeyError) -> [Int]? {
        let header = try header(of: handle)
        guard settings.usesHMAC, let size = header.size else { return nil }
        let pageCount = (Int(size) + settings.pageSize - 1) / settings.pageSize
        var damaged: [Int] = []
        var isProved = false
        do throws(CryptographyFailure) {
            let cipher = try PageCipher(
                key: material.secret.bytes, salt: material.salt ?? header.salt, layout: PageCipher.Layout(settings))
            for number in sample(of: pageCount) {
                let offset = Int64(number - 1) * Int64(settings.pageSize)
                guard let page = try? handle.readFile(at: offset, count: settings.pageSize) else { continue }
                if try cipher.authenticates(page, number: number) { isProved = true } else { damaged.append(number) }
            }
        } catch {
            throw .engine(EngineError(code: EngineCode.error, message: "\(error.function) failed"))
        }
        return isProved ? damaged : nil
    }

    /// The first pages, the last, and some between: enough to find an intact one unless nearly all are damaged.
    private static func sample(of pageCount: Int) -> [Int] {
        guard pageCount > 16 else { return Array(1..<max(0, pageCount) + 1) }
        return Array(1...8) + (1...8).map { 8 + (pageCount - 8) * $0 / 8 }
    }
}
