internal import SQLCipherBridge

/// Decides whether a rollback journal or a write-ahead log belongs to an encrypted file: whether everything
/// that the engine would use from it is authentic under the file's key.
///
/// Page MACs cover content and page number. The uncovered data is checked against covered data: the salt at
/// the start of page 1 against the file's salt, and the number of pages to which the engine would truncate or
/// extend the file against the one in the header on page 1.
struct SideFileCheck {
    enum Verdict: Equatable {
        /// The side file may be used: it belongs to the file, or the engine would use nothing from it.
        case harmless
        /// The key is right, but the side file does not belong to the file. A file is whole if each of its
        /// pages is authentic.
        case foreign(isFileWhole: Bool)
        /// Nothing verifies the key, neither in the file nor in the side file.
        case unproved
    }

    private let cipher: PageCipher
    private let database: any StoredBytes
    private let pageSize: Int
    private let salt: [UInt8]

    /// The findings about the records or frames that the engine would use.
    private struct Findings {
        var hasAuthenticPage = false
        var isSuspicious = false
        /// The stored bytes of page 1 in the last version that would be used.
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
        cipher = try material.cipher(
            settings, fileSalt: salt.count == 16 ? salt : [UInt8](repeating: 0, count: 16))
    }

    /// - Throws: ``EngineError`` and ``CryptographyFailure``.
    func verdict(on kind: SideFile, _ bytes: any StoredBytes) throws -> Verdict {
        switch kind {
        case .journal: return try verdict(onJournal: bytes)
        case .log:
            // Others may write at the same time, so a verdict against the log counts only if nothing changed
            // during the check.
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
        // The engine itself will check whether the super-journal exists, and may get a different answer then,
        // so the records are checked in any case.
        let journal = try RollbackJournal(
            defaultPageSize: pageSize, size: bytes.size, read: { try bytes.read(at: $0, filling: &$1) },
            exists: { _ in true })
        // The offsets of the records that the engine would use.
        var used: Set<Int64> = []
        guard let journal else {
            return try hasLostOriginals(bytes, used) ? .foreign(isFileWhole: false) : .harmless
        }
        let (verdict, ending) = try verdict(onJournal: journal, &used)
        switch (verdict, ending) {
        case (.harmless, .atEnd), (.unproved, _): return verdict
        case (.harmless, .beforeEnd): break
        // Records after the same header count too, because a wrong page number hides the damaged one.
        case (.harmless, .atDamage(let header)): used = used.filter { $0 < header }
        case (.foreign, _): used = []
        }
        let isFileWhole = verdict == .harmless || verdict == .foreign(isFileWhole: true)
        return try isFileWhole && hasLostOriginals(bytes, used) ? .foreign(isFileWhole: false) : verdict
    }

    /// - Parameter used: receives the offsets of the records that the engine would use.
    private func verdict(
        onJournal journal: RollbackJournal, _ used: inout Set<Int64>
    ) throws -> (Verdict, RollbackJournal.Ending) {
        var ending = RollbackJournal.Ending.atEnd
        var findings = Findings()
        findings.isSuspicious =
            journal.pageSize != pageSize
            || journal.commonName.map { !SideFileCheck.isCommonJournal($0) } ?? false
        if journal.pageSize == pageSize {
            ending = try journal.forEachRecord { page, offset, content in
                used.insert(offset)
                findings.form(try judge(content, page))
            }
        }
        if journal.pageCount == 0 {
            if !findings.isSuspicious, try mayBeUnfinished() { return (.harmless, ending) }
            findings.isSuspicious = true
        }
        return (try verdict(findings, pageCount: journal.pageCount), ending)
    }

    /// Returns true if a journal that SQLite would not use as a whole has an authentic original of a page,
    /// and the file has another version of it. The file then has a part of a transaction, which the journal
    /// was to undo. Without MACs, nothing shows which records are originals.
    ///
    /// - Parameter used: the offsets of records to leave out.
    private func hasLostOriginals(_ bytes: any StoredBytes, _ used: Set<Int64>) throws -> Bool {
        guard cipher.layout.hmac != nil, try bytes.read(at: 0, count: 1) != [0] else { return false }
        var result = false
        try RollbackJournal.forEachStoredRecord(
            pageSize: pageSize, size: bytes.size, read: { try bytes.read(at: $0, filling: &$1) }
        ) { page, offset, content in
            guard !result, page > 0, !used.contains(offset), try isAuthentic(content, page) else { return }
            result = try !isInFile(Array(content), UInt32(page))
        }
        return result
    }

    /// Returns true if the file has a page with the same content. SQLCipher encrypts a page anew for the
    /// journal.
    private func isInFile(_ page: [UInt8], _ number: UInt32) throws -> Bool {
        let stored = try database.read(at: Int64(number - 1) * Int64(pageSize), count: pageSize)
        return try isAuthentic(stored[...], Int(number))
            && cipher.decrypt(stored, number: number) == cipher.decrypt(page, number: number)
    }

    /// Returns true if a path looks like a super-journal's. SQLite deletes that file after playing back a
    /// journal that names it, so an arbitrary path must not be accepted.
    private static func isCommonJournal(_ path: [UInt8]) -> Bool {
        let suffix = Array(path.suffix(12))
        let digits = suffix.dropFirst(3)
        return suffix.starts(with: Array("-mj".utf8)) && digits.count == 9
            && digits.allSatisfy { (0x30...0x39).contains($0) || (0x41...0x46).contains($0) }
    }

    /// Returns true if the file may be the remains of an interrupted first transaction, which its journal
    /// truncates to zero length: it is not a complete database of more than one page.
    private func mayBeUnfinished() throws -> Bool {
        guard database.size > Int64(pageSize) else { return true }
        let page = try firstPageOfFile()
        if page.allSatisfy({ $0 == 0 }) { return true }
        guard try isAuthentic(page[...], 1), let count = try statedPageCount(page) else { return false }
        return database.size < Int64(count) * Int64(pageSize)
    }

    // MARK: - Logs

    /// The engine uses each page's last frame before the last commit, both for reading and for checkpoints.
    /// Earlier frames are unused, and MACs cost more than everything else. So only the last frames' MACs are
    /// checked, and these frames are read a second time.
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
            // The remaining frames would not change the verdict.
            if findings.isSuspicious && findings.hasAuthenticPage { break }
        }
        return try verdict(findings, pageCount: pageCount)
    }

    // MARK: - Journals and logs

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

    /// Returns true if the bytes at the start of page 1 that the MAC does not cover match the file: the salt,
    /// or the fields of a plaintext header that do not change.
    private func hasStartOfFile(_ page: ArraySlice<UInt8>) throws -> Bool {
        let clearSize = cipher.layout.plaintextHeaderSize
        guard clearSize > 0 else { return page.prefix(16).elementsEqual(salt) }
        let start = try database.read(at: 0, count: 24)
        guard start.count == 24, clearSize >= 24 else { return page.prefix(16).elementsEqual(salt) }
        // Bytes 18 and 19 hold the journal mode.
        return page.prefix(18).elementsEqual(start.prefix(18))
            && page.prefix(24).suffix(4).elementsEqual(start.suffix(4))
    }

    /// Returns true if the engine may set the file to this number of pages.
    private func isPlausible(_ pageCount: Int, _ firstPage: [UInt8]?) throws -> Bool {
        let page = try firstPage ?? firstPageOfFile()
        guard try isAuthentic(page[...], 1) else { return false }
        // SQLite before 3.7 does not maintain the number.
        guard let stated = try statedPageCount(page) else { return pageCount > 0 }
        // A file may have pages after the end of its database.
        return pageCount == stated
            || pageCount > stated && pageCount <= Int((database.size + Int64(pageSize) - 1) / Int64(pageSize))
    }

    /// Returns the number of pages stated in the database header.
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
            // Pages that were never written are zeros, except for the first one.
            return try isAuthentic(page[...], number) || number > 1 && page.allSatisfy { $0 == 0 }
        }
        // With a wrong key, the remaining pages verify nothing either.
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

    /// Returns true if a stored page has the right MAC. If pages have no MACs: if it may be ciphertext.
    func isAuthentic(_ page: ArraySlice<UInt8>, _ number: Int) throws -> Bool {
        guard page.count == pageSize, let number = UInt32(exactly: number) else { return false }
        guard cipher.layout.hmac != nil else { return try looksEncrypted(page, number) }
        return try cipher.authenticates(page.span, number: number)
    }

    /// Returns true if this page can verify the key.
    private func provesKey(_ page: Int) -> Bool { cipher.layout.hmac != nil || page == 1 }

    /// Returns true if a page without a MAC may be ciphertext. The first page must contain a database header,
    /// and the others must not be too regular for ciphertext.
    private func looksEncrypted(_ page: ArraySlice<UInt8>, _ number: UInt32) throws -> Bool {
        guard number > 1 else {
            return try DatabaseHeader(cipher.decrypt(Array(page), number: 1))?.isPlausible ?? false
        }
        // A kilobyte of random bytes contains about 250 of the 256 values.
        return Set(page.prefix(1024)).count >= 128
    }
}
