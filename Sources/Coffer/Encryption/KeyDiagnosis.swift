internal import SQLCipherBridge

extension KeyedOpening {
    /// Finds the reason why no key opens the file, because `SQLITE_NOTADB` does not say. Uses new connections
    /// that change nothing.
    ///
    /// The checks run from the certain to the likely: the stored bytes, the other formats, common settings,
    /// single pages that verify the key, and finally the key. A passphrase costs at most eight derivations,
    /// four of which have 64,000 rounds or more.
    mutating func reasonOfRefusal() throws(KeyError) -> KeyError {
        let header = try probe(headerCount: FileHeader.longestPage).header
        let own = ring.settings
        if header.isPlaintext(plaintextHeaderSize: own.plaintextHeaderSize) {
            return .failure(.plaintextFile)
        }
        guard let size = header.size, size >= 512 else { return .failure(.notADatabase) }
        let ownFormat = own.format ?? 4
        for keyIndex in ring.keys.indices {
            for format in CipherSettings.formats.reversed()
            where CipherSettings.sqlcipher(format: format) != own {
                guard try opens(.sqlcipher(format: format), keyIndex, header) else { continue }
                return .failure(format < ownFormat ? .olderFormat(format) : .newerFormat(format))
            }
            for other in CipherSettings.unusualFormats where other != own {
                if try opens(other, keyIndex, header) { return .failure(.otherSettings(other)) }
            }
        }
        for keyIndex in ring.keys.indices {
            if let other = try commonSettings(keyIndex, header), other != own.ofFile,
                try opens(other, keyIndex, header)
            {
                return .failure(.otherSettings(other))
            }
        }
        for keyIndex in ring.keys.indices where own.usesHMAC {
            let material = try material(keyIndex, fileSalt: header.salt, settings: own)
            let probe = try self.probe()
            if let pages = try probe.handle.damagedPages(material, own) {
                // Another process has replaced the file, or completed its first page, since it was refused.
                if pages.isEmpty, try opens(own, keyIndex, probe.header) { return .engine(.fileMoved) }
                return .failure(.damaged(pages: pages))
            }
            // A raw key decrypts pages under any salt, but authenticates them only under the right one.
            if material.salt == nil,
                try probe.handle.hasDatabaseHeader(material, fileSalt: header.salt, own)
            {
                return .failure(.damaged(pages: [1]))
            }
        }
        // The file is encrypted after its header, and no key without a salt can be tried.
        if header.hasSQLiteMagic, own.plaintextHeaderSize == 0,
            answers.values.allSatisfy({ $0.salt == nil && !$0.isLocated })
        {
            return .failure(.invalidCipherSettings(.plaintextHeaderWithoutSalt))
        }
        // A complete file may have smaller pages than the configuration says.
        let isCutOff = size < own.pageSize && !size.isMultiple(of: Int64(FileHeader.shortestEncryptedPage))
        if isCutOff || header.cannotBeEncrypted(plaintextHeaderSize: own.plaintextHeaderSize) {
            return .failure(.notADatabase)
        }
        return .failure(ring.usedKeyIndex == nil ? .wrongKey : .keyRotated)
    }

    /// Returns common settings that are not the defaults of a format: see ``CipherSearch``.
    private mutating func commonSettings(_ keyIndex: Int, _ header: FileHeader) throws(KeyError)
        -> CipherSettings?
    {
        // Calls a provider if it has not been called yet.
        _ = try material(keyIndex, fileSalt: header.salt, settings: ring.settings)
        guard let key = answers[keyIndex], !key.isLocated else { return nil }
        let ring = ring
        return try CipherSearch(header).settings(for: key, own: ring.settings) {
            settings throws(KeyError) in
            try ring.derive(from: key, fileSalt: header.salt, settings: settings)
        }
    }

    private mutating func opens(_ settings: CipherSettings, _ keyIndex: Int, _ header: FileHeader)
        throws(KeyError) -> Bool
    {
        let material = try material(keyIndex, fileSalt: header.salt, settings: settings)
        let probe = try self.probe()
        // Pages without MACs are never rejected: SQLite would treat random bytes as a header, and one in
        // hundreds of such headers would make it create a write-ahead log next to the file.
        if !settings.usesHMAC {
            guard try probe.handle.hasDatabaseHeader(material, fileSalt: header.salt, settings) else {
                return false
            }
        }
        do throws(KeyError) {
            return try probe.handle.unlock(with: material, of: ring, settings: settings)
        } catch {
            // Page 1 was decrypted, so the format is right, but the file is damaged, or the engine cannot use
            // its mask.
            switch error.failure {
            case .damaged, .foreignSideFile, .sideFileOfAnotherUser, MaskedSalt.refusal: return true
            default: return false
            }
        }
    }
}

// MARK: - Stored pages

extension ConnectionHandle {
    /// Returns true if page 1, whether or not it is authentic, decrypts to a database header. Of 10^12 pages
    /// of random bytes, about one passes.
    fileprivate func hasDatabaseHeader(
        _ material: KeyRing.Material, fileSalt: [UInt8], _ settings: CipherSettings
    ) throws(KeyError) -> Bool {
        guard let page = try? readFile(at: 0, count: settings.pageSize), page.count == settings.pageSize
        else { return false }
        return try cryptographically { () throws(CryptographyFailure) in
            let cipher = try material.cipher(settings, fileSalt: fileSalt)
            let header = try DatabaseHeader(cipher.decrypt(page, number: 1))
            return header?.isPlausible == true && header?.pageSize == settings.pageSize
        }
    }

    /// Returns the sampled pages that are incomplete or not authentic, if at least one other page is
    /// authentic; nil if no page is authentic, or pages have no MACs.
    func damagedPages(_ material: KeyRing.Material, _ settings: CipherSettings) throws(KeyError) -> [Int]? {
        guard settings.usesHMAC else { return nil }
        let header = try FileHeader.read(self)
        guard let size = header.size else { return nil }
        var pageCount = (Int(size) + settings.pageSize - 1) / settings.pageSize
        var damaged: [Int] = []
        var isProved = false
        do throws(CryptographyFailure) {
            let cipher = try material.cipher(settings, fileSalt: header.salt)
            // A file may be longer than its database.
            if let page = try? readFile(at: 0, count: settings.pageSize),
                try cipher.authenticates(page, number: 1),
                let stated = try DatabaseHeader(cipher.decrypt(page, number: 1))?.pageCount
            {
                pageCount = min(pageCount, stated)
            }
            for number in PageCipher.Layout.sample(of: pageCount) {
                let offset = Int64(number - 1) * Int64(settings.pageSize)
                guard let page = try? readFile(at: offset, count: settings.pageSize) else { continue }
                if try cipher.authenticates(page, number: number) {
                    isProved = true
                } else {
                    damaged.append(number)
                }
            }
        } catch {
            throw KeyError(error)
        }
        return isProved ? damaged : nil
    }

    /// Returns true if page 1, which has no MAC, decrypts to the start of a schema's root page. A plaintext
    /// header does not verify a key.
    func hasRootOfSchema(_ material: KeyRing.Material, _ settings: CipherSettings) throws(KeyError) -> Bool {
        do {
            let page = try readFile(at: 0, count: settings.pageSize)
            guard page.count == settings.pageSize else { return false }
            let cipher = try material.cipher(settings, fileSalt: Array(page[..<16]))
            return DatabaseHeader.precedesRootOfSchema(
                try cipher.decrypt(page, number: 1), pageSize: settings.pageSize)
        } catch let error as EngineError {
            throw KeyError(error)
        } catch {
            throw .engine(EngineError(code: EngineCode.error, message: "\(error)"))
        }
    }
}

// MARK: - Without a key

extension ConnectionHandle {
    /// Reads the schema of a file through a connection without a key.
    ///
    /// - Throws: the typed reason if the file is encrypted or is not a database.
    func verifyPlaintext() throws(KeyError) {
        try refuseEncryptedFile()
        do throws(EngineError) {
            if try canReadSchema() { return }
        } catch {
            throw KeyError(error)
        }
        throw try FileHeader.read(self, count: FileHeader.longestPage).reasonWithoutKey
    }

    /// Throws if the file looks encrypted, before the engine examines it without a key: the engine would play
    /// back a journal, which may belong to another file.
    func refuseEncryptedFile() throws(KeyError) {
        let header = try FileHeader.read(self)
        // The first transaction of a new file may leave zeros.
        guard let size = header.size, size >= 512, !header.hasSQLiteMagic,
            header.start.contains(where: { $0 != 0 })
        else { return }
        throw try FileHeader.read(self, count: FileHeader.longestPage).reasonWithoutKey
    }
}

extension ConnectionHandle {
    /// Returns true if the connection, with its key or without one, can read the schema.
    ///
    /// - Throws: errors that are unrelated to the key.
    func canReadSchema() throws(EngineError) -> Bool {
        do throws(EngineError) {
            try verifyKey()
            return true
        } catch {
            guard error.primaryCode == EngineCode.notADatabase else { throw error }
            return false
        }
    }
}

extension FileHeader {
    /// The reason why a connection without a key cannot read the file.
    var reasonWithoutKey: KeyError {
        if hasSQLiteMagic { return .failure(.damaged(pages: [1])) }
        return .failure(cannotBeEncrypted(plaintextHeaderSize: 0) ? .notADatabase : .noKey)
    }
}
