internal import SQLCipherBridge

internal import Glibc

/// A damaged file, and the settings that at least one of its pages verifies.
struct DamagedFile {
    let file: PageFile
    let settings: CipherSettings
    /// The pages that the disk could not read, among those requested so far.
    let unreadable: UnreadablePages
    /// Messages about content that cannot be read at all.
    let problems: [String]
    /// The file with the pages that were committed after a damaged frame of its log, and the numbers of these
    /// pages; nil if this was not requested or there is no such frame.
    private(set) var behindDamage: (file: PageFile, pages: [Int])?

    /// The possible page sizes.
    private static let pageSizes = (9...16).map { 1 << $0 }

    init(path: String, key: DatabaseKey?, _ options: DatabaseFile.SalvageOptions) throws {
        _ = try SystemFile.regularFile(path, followsLinks: true)
        let path = try SystemFile.resolved(path)
        guard let key = key?.placed(at: path) else {
            (file, unreadable) = try DamagedFile.plaintext(path, timeout: options.lockTimeout)
            settings = CipherSettings()
            problems = try DamagedFile.problems(path, pageSize: file.pageSize, options)
            behindDamage = try readBehindDamage(path, nil, .plaintext, options)
            return
        }
        if let salt = options.salt, salt.count != 16 {
            throw DatabaseFileError(.unsupported("a salt has 16 bytes, not \(salt.count)"), path: path)
        }
        let (knownSalt, foreign) = try DamagedFile.salt(of: key, options, path)
        for settings in try DamagedFile.candidates(path, key, options) {
            let protection = try FileProtection.encrypted(key, cipher: settings)
            var view = try StoredView(
                path, pageSize: settings.pageSize, timeout: options.lockTimeout, mayBeUnreadable: true)
            func read() throws -> (UnreadablePages, any StoredBytes, PageFile) {
                let unreadable = UnreadablePages(view, pageSize: settings.pageSize)
                let bytes: any StoredBytes =
                    knownSalt.map { ReplacedBytes(unreadable, at: 0, $0) } ?? unreadable
                return (unreadable, bytes, try PageFile(bytes, protection, present: view.present))
            }
            var (unreadable, bytes, file) = try read()
            guard try file.isProved(usesHMAC: settings.usesHMAC) else { continue }
            var ofJournal: [String] = []
            if let material = try protection.material(fileSalt: knownSalt ?? view.fileSalt),
                let sideFile = view.sideFilePath,
                case .foreign(let isFileWhole) = try view.verdictOnSideFile(material, settings)
            {
                guard !isFileWhole,
                    let restored = try view.restoringOriginals(
                        material, settings, timeout: options.lockTimeout)
                else { throw KeyError.failure(.foreignSideFile(path: sideFile, isFileWhole: isFileWhole)) }
                view = restored
                (unreadable, bytes, file) = try read()
                ofJournal = [
                    "The rollback journal is damaged. \(view.overlaidPageCount) original pages were taken "
                        + "from it. Others may have a part of a transaction that was not committed."
                ]
            }
            (self.file, self.settings) =
                try DamagedFile.withPlaintextHeader(
                    file, settings, key, bytes, isGiven: options.cipher != nil)
            self.unreadable = unreadable
            problems =
                try DamagedFile.problems(path, pageSize: settings.pageSize, options) + ofJournal
            behindDamage = try readBehindDamage(
                path, knownSalt, FileProtection.encrypted(key, cipher: self.settings), options)
            return
        }
        throw try foreign ?? DamagedFile.refusal(path, key, options)
    }

    /// Returns the error that any other access to the file gives if no page verifies the key.
    private static func refusal(_ path: String, _ key: DatabaseKey, _ options: DatabaseFile.SalvageOptions)
        throws -> any Error
    {
        let settings = options.cipher ?? CipherSettings()
        let view = try StoredView(
            path, pageSize: settings.pageSize, timeout: options.lockTimeout, mayBeUnreadable: true)
        guard view.size > 0 else { return DatabaseFileError(.emptyFile, path: path) }
        do {
            _ = try FileProtection.encrypted(key, cipher: settings).open(viewing: view)
        } catch let error as KeyError where error.failure != nil {
            return error
        } catch {}
        return DatabaseFileError(.key(.wrongKey), path: path)
    }

    private static func problems(_ path: String, pageSize: Int, _ options: DatabaseFile.SalvageOptions) throws
        -> [String]
    {
        let view = try StoredView(
            path, pageSize: pageSize, timeout: options.lockTimeout, mayBeUnreadable: true)
        let count = try view.commitsBehindDamage()
        guard count > 0 else { return [] }
        guard count > 1 else {
            return [
                "The write-ahead log has a transaction after an incomplete or damaged frame, which could not "
                    + "be read. A crash during its commit may have left it."
            ]
        }
        return [
            "The write-ahead log is damaged, and \(count) transactions after the damage could not be read."
        ]
    }

    /// Returns the file with the pages that were committed after a damaged frame of its log.
    ///
    /// - Parameter salt: the salt to use instead of the one in the file.
    private func readBehindDamage(
        _ path: String, _ salt: [UInt8]?, _ protection: FileProtection,
        _ options: DatabaseFile.SalvageOptions
    ) throws -> (PageFile, [Int])? {
        guard options.includesDamagedLog else { return nil }
        // If pages have MACs, the MACs decide if a page is authentic, rather than the checksums of the log.
        let view = try StoredView(
            path, pageSize: file.pageSize, timeout: options.lockTimeout, mayBeUnreadable: true,
            behindDamageTrustingSums: file.layout == nil || !settings.usesHMAC)
        guard !view.pagesBehindDamage.isEmpty else { return nil }
        let unreadable = UnreadablePages(view, pageSize: file.pageSize)
        let bytes: any StoredBytes = salt.map { ReplacedBytes(unreadable, at: 0, $0) } ?? unreadable
        return (try PageFile(bytes, protection, present: view.present), view.pagesBehindDamage)
    }

    /// Returns the salt to use instead of the one in the file: the one that the caller gave, or the one in a
    /// keyring if the file has another one.
    ///
    /// - Returns: also the keyring's error for the salt in the file.
    private static func salt(
        of key: DatabaseKey, _ options: DatabaseFile.SalvageOptions, _ path: String
    ) throws -> (salt: [UInt8]?, foreign: (any Error)?) {
        guard options.salt == nil, case .located(let keyring) = key.kind else { return (options.salt, nil) }
        let stored = try StoredView(
            path, pageSize: CipherSettings().pageSize, timeout: options.lockTimeout, mayBeUnreadable: true
        ).fileSalt
        do throws(KeyError) {
            _ = try keyring.material(path: path, fileSalt: stored)
            return (nil, nil)
        } catch {
            return (try keyring.material(path: path, fileSalt: []).salt, error)
        }
    }

    /// Returns the settings to try: first the ones that page 1 verifies, then the formats whose pages have
    /// MACs, because a MAC is stronger evidence than plausible content.
    private static func candidates(
        _ path: String, _ key: DatabaseKey, _ options: DatabaseFile.SalvageOptions
    ) throws -> [CipherSettings] {
        if let cipher = options.cipher { return [cipher] }
        let proved = try settingsOfFirstPage(path, key, options).map { [$0] } ?? []
        let formats = [4, 3, 2, 1].map { CipherSettings.sqlcipher(format: $0) }
        let others = formats.flatMap { format in
            // The engine accepts no smaller page sizes.
            pageSizes.filter { $0 >= 1024 && $0 != format.pageSize }.map { size in
                var settings = format
                settings.pageSize = size
                return settings
            }
        }
        return proved + (formats + others).filter(\.usesHMAC) + (formats + others).filter { !$0.usesHMAC }
    }

    /// Returns the settings that page 1 verifies, if they are common ones that are not the defaults of a
    /// format.
    private static func settingsOfFirstPage(
        _ path: String, _ key: DatabaseKey, _ options: DatabaseFile.SalvageOptions
    ) throws -> CipherSettings? {
        guard !key.isLocated else { return nil }
        let view = try StoredView(
            path, pageSize: CipherSettings().pageSize, timeout: options.lockTimeout, mayBeUnreadable: true)
        let bytes = UnreadablePages(view, pageSize: CipherSettings().pageSize)
        let header = try FileHeader(bytes, count: FileHeader.longestPage)
        let ring = try KeyRing(key: key)
        let asked = try ring.resolve(keyIndex: 0)
        let found = try CipherSearch(header).settings(for: asked, own: CipherSettings()) {
            settings throws(KeyError) in
            try ring.derive(from: asked, fileSalt: header.salt, settings: settings)
        }
        guard let found, !found.usesHMAC else { return found }
        if case .passphrase = asked.kind { return found }
        // Without MACs and with a raw key, the derivation settings make no difference.
        let format = CipherSettings.sqlcipher(format: 1)
        return found.pageSize == format.pageSize ? format : found
    }

    /// Returns the same file read with a plaintext header, if that makes its first page authentic.
    private static func withPlaintextHeader(
        _ file: PageFile, _ settings: CipherSettings, _ key: DatabaseKey, _ bytes: any StoredBytes,
        isGiven: Bool
    ) throws -> (PageFile, CipherSettings) {
        guard !isGiven, settings.usesHMAC, try FileHeader(bytes, count: 100).hasSQLiteMagic else {
            return (file, settings)
        }
        for size in stride(from: 16, through: 96, by: 16) {
            var settings = settings
            settings.plaintextHeaderSize = size
            // Not every key can be used with a plaintext header.
            guard let protection = try? FileProtection.encrypted(key, cipher: settings) else { continue }
            let file = try PageFile(bytes, protection, present: file.present)
            if try file.authenticates(1) { return (file, settings) }
        }
        return (file, settings)
    }

    /// Returns a plaintext file. If its header does not state the page size, tries page sizes until pages
    /// parse as b-tree pages.
    private static func plaintext(_ path: String, timeout: Double) throws -> (PageFile, UnreadablePages) {
        let view = try StoredView(path, pageSize: nil, timeout: timeout, mayBeUnreadable: true)
        let unreadable = UnreadablePages(view, pageSize: view.pageSize)
        let file = try PageFile(unreadable, .plaintext, present: view.present)
        guard try !FileHeader(unreadable, count: 100).hasSQLiteMagic else { return (file, unreadable) }
        // The smallest first, because a small page may look like the start of a larger one.
        for size in pageSizes {
            let view = try StoredView(path, pageSize: size, timeout: timeout, mayBeUnreadable: true)
            let unreadable = UnreadablePages(view, pageSize: size)
            let stored: [UInt8] = size == 65536 ? [0, 1] : [UInt8(size >> 8), 0]
            let file = try PageFile(
                ReplacedBytes(unreadable, at: 16, stored), .plaintext, present: view.present)
            if try file.hasTreePage() { return (file, unreadable) }
        }
        guard view.size > 0 else { throw DatabaseFileError(.emptyFile, path: path) }
        throw try FileHeader(unreadable, count: FileHeader.longestPage).reasonWithoutKey
    }
}

extension PageFile {
    /// The first 256 pages, and about as many evenly spread over all pages.
    private var sample: [Int] {
        let step = max(1, present.count / 256)
        return Set(0..<min(present.count, 256)).union(stride(from: 0, to: present.count, by: step))
            .sorted().map(present.number(at:)).filter { $0 != lockPage }
    }

    /// Returns true if any page of a sample is authentic. If pages have no MACs: if the content of one is
    /// plausible only under the right key.
    fileprivate func isProved(usesHMAC: Bool) throws -> Bool {
        if usesHMAC { return try sample.contains { try authenticates($0) } }
        return try header().map { $0.isPlausible && $0.pageSize == pageSize } ?? false || hasTreePage()
    }

    fileprivate func authenticates(_ number: Int) throws -> Bool {
        guard present.contains(number) else { return false }
        var run = PageRun(self)
        try run.read(number..<number + 1, from: self)
        return try !run.isZero(number) && run.authenticates(number)
    }

    /// The numbers of bytes that the database may reserve at the end of each page. They may be more than its
    /// cipher needs: a database keeps the number with which it was created, and SQLCipher 4 creates
    /// databases with 80, and format 3 with 48, before a program sets another format.
    private var possibleReservedSizes: [Int] {
        let needed = layout?.reserve ?? 0
        return layout == nil ? [needed] : [needed] + [48, 80].filter { $0 > needed }
    }

    /// Returns the number of bytes that the database reserves at the end of each page: from its header, or if
    /// that is damaged, the one with which most pages of a sample are consistent.
    func reservedSize() throws -> Int {
        let needed = layout?.reserve ?? 0
        let header = present.contains(1) ? try DatabaseHeader(content(1)) : nil
        if let header, header.isPlausible, header.reservedSize >= needed,
            header.reservedSize + 480 <= pageSize,
            try layout?.hmac == nil || authenticates(1)
        {
            return header.reservedSize
        }
        var consistentCounts = possibleReservedSizes.map { (size: $0, count: 0) }
        guard consistentCounts.count > 1 else { return needed }
        var map = ByteMap(size: pageSize)
        for number in sample where try authenticates(number) {
            let content = try content(number)
            for index in consistentCounts.indices {
                let layout = BTreePage.Layout(
                    content.span, number: number, usableSize: pageSize - consistentCounts[index].size,
                    pageCount: present.count)
                if let layout, layout.cellCount > 0, layout.cells(in: content.span, filling: &map) != nil {
                    consistentCounts[index].count += 1
                }
            }
        }
        // Of equal counts the first: the number that the cipher needs.
        return consistentCounts.reduce(consistentCounts[0]) { $1.count > $0.count ? $1 : $0 }.size
    }

    /// Returns true if a page of a sample is a complete leaf of a b-tree with several rows.
    fileprivate func hasTreePage() throws -> Bool {
        try possibleReservedSizes.contains { try hasTreePage(usableSize: pageSize - $0) }
    }

    private func hasTreePage(usableSize: Int) throws -> Bool {
        try sample.contains { number in
            guard number > 1,
                let page = BTreePage(
                    try content(number), number: number, usableSize: usableSize, pageCount: present.count),
                !page.kind.isInterior, page.cellCount > 1
            else { return false }
            var isSound = true
            page.forEachCell { cell in
                guard let payload = cell?.payload,
                    let record = StoredRecord(page.local(payload), isWhole: payload.overflowPage == nil)
                else {
                    return isSound = false
                }
                if record.valueCount == 0 { isSound = false }
            }
            return isSound
        }
    }
}

/// The bytes of a file, with some of them replaced by the correct ones.
private final class ReplacedBytes: StoredBytes {
    private let bytes: any StoredBytes
    private let start: Int64
    private let replacement: [UInt8]

    init(_ bytes: any StoredBytes, at start: Int64, _ replacement: [UInt8]) {
        self.bytes = bytes
        self.start = start
        self.replacement = replacement
    }

    var size: Int64 { bytes.size }

    func read(at offset: Int64, into target: inout MutableSpan<UInt8>) throws -> Int {
        let count = try bytes.read(at: offset, into: &target)
        for (index, byte) in replacement.enumerated() {
            let place = start + Int64(index) - offset
            if place >= 0, place < Int64(count) { target[Int(place)] = byte }
        }
        return count
    }
}

/// The bytes of a file on a failing disk, with zeros for the parts that cannot be read.
///
/// An unreadable range is halved down to the block size of the disk, so that a bad block costs as few
/// attempts as possible: each may take seconds.
final class UnreadablePages: StoredBytes {
    /// The unreadable pages found so far.
    private(set) var numbers: Set<Int> = []
    private let bytes: any StoredBytes
    private let pageSize: Int

    private static let blockSize = 4096

    init(_ bytes: any StoredBytes, pageSize: Int) {
        self.bytes = bytes
        self.pageSize = pageSize
    }

    var size: Int64 { bytes.size }

    func read(at offset: Int64, into target: inout MutableSpan<UInt8>) throws -> Int {
        do {
            return try bytes.read(at: offset, into: &target)
        } catch  where UnreadablePages.isOfDisk(error) {
            let count = Int(max(0, min(Int64(target.count), size - offset)))
            try readParts(at: offset, 0..<count, of: &target)
            return count
        }
    }

    private func readParts(at offset: Int64, _ range: Range<Int>, of target: inout MutableSpan<UInt8>) throws
    {
        guard range.count > UnreadablePages.blockSize else {
            for index in range { target[index] = 0 }
            let first = Int((offset + Int64(range.lowerBound)) / Int64(pageSize)) + 1
            let last =
                Int((offset + Int64(max(range.lowerBound, range.upperBound - 1))) / Int64(pageSize)) + 1
            numbers.formUnion(first...last)
            return
        }
        let middle =
            range.lowerBound + max(1, range.count / UnreadablePages.blockSize / 2) * UnreadablePages.blockSize
        for part in [range.lowerBound..<middle, middle..<range.upperBound] where !part.isEmpty {
            do {
                let done = try target.withPart(part) {
                    try bytes.read(at: offset + Int64(part.lowerBound), into: &$0)
                }
                for index in part.lowerBound + done..<part.upperBound { target[index] = 0 }
            } catch  where UnreadablePages.isOfDisk(error) {
                try readParts(at: offset, part, of: &target)
            }
        }
    }

    private static func isOfDisk(_ error: any Error) -> Bool {
        switch error {
        case let error as EngineError: error.primaryCode == EngineCode.ioError
        case let error as DatabaseFileError:
            if case .inputOutput(_, let number) = error.reason { number == EIO } else { false }
        default: false
        }
    }
}
