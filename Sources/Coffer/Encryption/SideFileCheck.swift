internal import KeyMaterial
internal import SQLCipherBridge

/// Decides whether a rollback journal or a write-ahead log belongs to an encrypted file: whether all that the
/// engine would take from it is authentic under the key of the file.
///
/// The codes of pages cover content and number. What they do not cover is checked against what they do: the
/// salt in front of page 1 against that of the file, and the number of pages to which the engine would cut or
/// extend the file against the one in the header on page 1.
struct SideFileCheck {
    enum Verdict: Equatable {
        /// It may be used: it belongs to the file, or the engine would take nothing from it.
        case harmless
        /// The key is right, and it does not belong to the file. A file is whole when each of its pages is
        /// authentic.
        case foreign(isFileWhole: Bool)
        /// Nothing proves the key, neither in the file nor beside it.
        case unproved
    }

    private let cipher: PageCipher
    private let database: any StoredBytes
    private let pageSize: Int
    private let salt: [UInt8]

    /// What was found of the records or frames that the engine would use.
    private struct Findings {
        var hasAuthenticPage = false
        var isSuspicious = false
        /// The stored bytes of page 1 as they would be used last.
        var firstPage: [UInt8]?

        mutating func form(_ other: Findings) {
            hasAuthenticPage = hasAuthenticPage || other.hasAuthenticPage
            isSuspicious = isSuspicious || other.isSuspicious
            firstPage = other.firstPage ?? firstPage
        }
    }

    /// - Parameter database: the stored bytes of the file itself.
    init(_ material: KeyRing.Material, _ settings: CipherSettings, database: any StoredBytes) throws {
        self.database = database
        pageSize = settings.pageSize
        salt = try database.read(at: 0, count: 16)
        let salt = material.salt ?? (salt.count == 16 ? salt : [UInt8](repeating: 0, count: 16))
        cipher = try PageCipher(key: material.secret.bytes, salt: salt, layout: PageCipher.Layout(settings))
    }

    /// - Throws: ``EngineError`` and ``CryptographyFailure``.
    func verdict(on kind: SideFile, _ bytes: any StoredBytes) throws -> Verdict {
        switch kind {
        case .journal: return try verdict(onJournal: bytes)
        case .log:
            // Others may write meanwhile: only what does not change under our eyes is evidence against it.
            for _ in 0..<SideFileCheck.attempts {
                let before = try (
                    database.read(at: 0, count: pageSize), bytes.read(at: 0, count: 32), bytes.size
                )
                let verdict = try verdict(onLog: bytes)
                if verdict == .harmless { return verdict }
                if try before == (
                    database.read(at: 0, count: pageSize), bytes.read(at: 0, count: 32), bytes.size
                ) {
                    return verdict
                }
            }
            return try verdict(onLog: bytes)
        }
    }

    private static let attempts = 20

    // MARK: - Journals

    private func verdict(onJournal bytes: any StoredBytes) throws -> Verdict {
        // Whether there is a common journal is what the engine asks in a moment, when it may be another
        // answer: the records are judged in any case.
        let journal = try RollbackJournal(
            defaultPageSize: pageSize, size: bytes.size, read: { try bytes.read(at: $0, filling: &$1) },
            exists: { _ in true })
        guard let journal else { return .harmless }
        var findings = Findings()
        findings.isSuspicious =
            journal.pageSize != pageSize
            || journal.commonName.map { !SideFileCheck.isCommonJournal($0) } ?? false
        if journal.pageSize == pageSize {
            try journal.forEachRecord { page, _, content in
                findings.form(try judge(content, page))
            }
        }
        if journal.pageCount == 0 {
            if !findings.isSuspicious, try mayBeUnfinished() { return .harmless }
            findings.isSuspicious = true
        }
        return try verdict(findings, pageCount: journal.pageCount)
    }

    /// Whether a path looks like that of a journal that several files have in common. SQLite removes it after
    /// it has played back a journal that names it: it must not be any file.
    private static func isCommonJournal(_ path: [UInt8]) -> Bool {
        let suffix = Array(path.suffix(12))
        let digits = suffix.dropFirst(3)
        return suffix.starts(with: Array("-mj".utf8)) && digits.count == 9
            && digits.allSatisfy { (0x30...0x39).contains($0) || (0x41...0x46).contains($0) }
    }

    /// Whether a file may be what an interrupted first transaction has left, which a journal makes empty
    /// again: it is no complete database of more than a page.
    private func mayBeUnfinished() throws -> Bool {
        guard database.size > Int64(pageSize) else { return true }
        let page = try firstPageOfFile()
        if page.allSatisfy({ $0 == 0 }) { return true }
        guard try isAuthentic(page[...], 1), let count = try statedPageCount(page) else { return false }
        return database.size < Int64(count) * Int64(pageSize)
    }

    // MARK: - Logs

    /// Of each page, the engine takes the last frame before the last commit, to read it and to bring it into
    /// the file. What is in earlier frames is used by nobody, and codes cost more than all the rest: only
    /// those of the last frames are looked at, and the frames are read a second time.
    private func verdict(onLog bytes: any StoredBytes) throws -> Verdict {
        guard let log = try WriteAheadLog(read: { try bytes.read(at: $0, filling: &$1) }) else {
            return .harmless
        }
        let content = try CommittedLog(log)
        guard let pageCount = content.pageCount else { return .harmless }
        var findings = Findings()
        guard log.isOfKnownVersion, log.pageSize == pageSize else {
            findings.isSuspicious = true
            return try verdict(findings, pageCount: pageCount)
        }
        var frame = [UInt8](repeating: 0, count: pageSize)
        for (page, offset) in content.offsets.sorted(by: { $0.value < $1.value }) {
            let count = try bytes.read(at: offset, filling: &frame)
            findings.form(try judge(frame.prefix(count), page))
            // The rest would not change the verdict.
            if findings.isSuspicious && findings.hasAuthenticPage { break }
        }
        return try verdict(findings, pageCount: pageCount)
    }

    // MARK: - Both

    private func verdict(_ findings: Findings, pageCount: Int) throws -> Verdict {
        if !findings.isSuspicious, try isPlausible(pageCount, findings.firstPage) { return .harmless }
        let file = try stateOfFile(isKeyProved: findings.hasAuthenticPage)
        guard file.hasAuthenticPage || findings.hasAuthenticPage else { return .unproved }
        return .foreign(isFileWhole: file.isWhole)
    }

    private func judge(_ content: ArraySlice<UInt8>, _ page: Int) throws -> Findings {
        var findings = Findings()
        let isAuthentic = try isAuthentic(content, page)
        findings.hasAuthenticPage = isAuthentic && provesKey(page)
        findings.isSuspicious = !isAuthentic
        if page == 1 {
            findings.firstPage = Array(content)
            if try !hasStartOfFile(content) { findings.isSuspicious = true }
        }
        return findings
    }

    /// Whether what the codes do not cover at the start of page 1 is as in the file: the salt, or what does
    /// not change in a plaintext header.
    private func hasStartOfFile(_ page: ArraySlice<UInt8>) throws -> Bool {
        let clearSize = cipher.layout.plaintextHeaderSize
        guard clearSize > 0 else { return page.prefix(16).elementsEqual(salt) }
        let start = try database.read(at: 0, count: 24)
        guard start.count == 24, clearSize >= 24 else { return page.prefix(16).elementsEqual(salt) }
        // Bytes 18 and 19 hold the journal mode.
        return page.prefix(18).elementsEqual(start.prefix(18))
            && page.prefix(24).suffix(4).elementsEqual(start.suffix(4))
    }

    /// Whether the engine may give the file this number of pages.
    private func isPlausible(_ pageCount: Int, _ firstPage: [UInt8]?) throws -> Bool {
        let page = try firstPage ?? firstPageOfFile()
        guard try isAuthentic(page[...], 1) else { return false }
        // Versions of SQLite before 3.7 do not keep the number.
        guard let stated = try statedPageCount(page) else { return pageCount > 0 }
        // A file may have pages behind its end.
        return pageCount == stated
            || pageCount > stated && pageCount <= Int((database.size + Int64(pageSize) - 1) / Int64(pageSize))
    }

    /// The number of pages that the database header states.
    private func statedPageCount(_ page: [UInt8]) throws(CryptographyFailure) -> Int? {
        try DatabaseHeader(cipher.decrypt(page, number: 1))?.pageCount
    }

    private func firstPageOfFile() throws -> [UInt8] { try database.read(at: 0, count: pageSize) }

    private func stateOfFile(isKeyProved: Bool) throws -> (hasAuthenticPage: Bool, isWhole: Bool) {
        let storedCount = Int(database.size / Int64(pageSize))
        let firstPage = try firstPageOfFile()
        // A file may be longer than its database.
        let stated = try isAuthentic(firstPage[...], 1) ? statedPageCount(firstPage) : nil
        let pageCount = min(storedCount, stated ?? storedCount)
        let lockPage = DatabaseHeader.lockPage(pageSize: pageSize)
        func isSound(_ number: Int) throws -> Bool {
            let page = try database.read(at: Int64(number - 1) * Int64(pageSize), count: pageSize)
            // Pages that were never written are zeros, but not the first one.
            return try isAuthentic(page[...], number) || number > 1 && page.allSatisfy { $0 == 0 }
        }
        // With a wrong key there is nothing to be found in the rest either.
        let hasAuthenticPage = try PageCipher.Layout.sample(of: pageCount).contains {
            try provesKey($0)
                && isAuthentic(database.read(at: Int64($0 - 1) * Int64(pageSize), count: pageSize)[...], $0)
        }
        guard isKeyProved || hasAuthenticPage else { return (false, false) }
        var isWhole = pageCount > 0
        for number in 1..<pageCount + 1 where isWhole && number != lockPage { isWhole = try isSound(number) }
        if isWhole, let stated { isWhole = stated <= pageCount }
        return (hasAuthenticPage, isWhole)
    }

    private func isAuthentic(_ page: ArraySlice<UInt8>, _ number: Int) throws -> Bool {
        guard page.count == pageSize, let number = UInt32(exactly: number) else { return false }
        guard cipher.layout.hmac != nil else { return try looksEncrypted(page, number) }
        return try cipher.authenticates(page.span, number: number)
    }

    /// Whether this page can prove the key at all.
    private func provesKey(_ page: Int) -> Bool { cipher.layout.hmac != nil || page == 1 }

    /// Pages without codes cannot be proved. The first one must have a database header in it, and the others
    /// must not be too regular for ciphertext.
    private func looksEncrypted(_ page: ArraySlice<UInt8>, _ number: UInt32) throws -> Bool {
        guard number > 1 else {
            return try DatabaseHeader(cipher.decrypt(Array(page), number: 1))?.isPlausible ?? false
        }
        // A kilobyte of random bytes has about 250 different values of 256.
        return Set(page.prefix(1024)).count >= 128
    }
}
