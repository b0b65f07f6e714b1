/// The records of a rollback journal that SQLite would play back, by all of SQLite's rules:
/// <https://www.sqlite.org/fileformat2.html#the_rollback_journal>, and `pager_playback` in its source.
///
/// A journal is not authenticated: its checksums only protect against accidents. This type follows SQLite's
/// behavior, even if the result is wrong.
struct RollbackJournal {
    /// The page size stated in the journal. SQLite uses it instead of the file's.
    let pageSize: Int
    /// The number of pages to which SQLite sets the file before it plays back anything.
    let pageCount: Int
    /// The path of the super-journal of a transaction on several files, as raw bytes: names need not be
    /// UTF-8. SQLite deletes it after playing back the last journal that names it.
    let commonName: [UInt8]?

    private let size: Int64
    private let sectorSize: Int64
    private let source: BlockReader

    private static let magic: [UInt8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]

    /// SQLite assumes this sector size until it has read the journal's own, and ignores shorter journals.
    private static let smallestSize: Int64 = 512

    /// - Parameters:
    ///   - defaultPageSize: the page size for a journal that does not state one, such as those of old
    ///     versions.
    ///   - size: the size of the journal, in bytes.
    ///   - read: reads from the journal.
    ///   - exists: returns true if there is a file at the path.
    /// - Returns: nil if SQLite would play back nothing.
    init?(
        defaultPageSize: Int, size: Int64, read: @escaping BlockReader.Read,
        exists: ([UInt8]) throws -> Bool
    ) throws {
        source = BlockReader(read)
        self.size = size
        guard size >= RollbackJournal.smallestSize else { return nil }
        let header = try source.bytes(at: 0, count: 28)
        guard header.count == 28, header.prefix(8).elementsEqual(RollbackJournal.magic) else { return nil }
        let (sector, page) = (
            header.word(at: 20), header.word(at: 24) == 0 ? UInt32(defaultPageSize) : header.word(at: 24)
        )
        guard (32...65536).contains(sector), sector.nonzeroBitCount == 1, DatabaseHeader.isPageSize(page)
        else { return nil }
        commonName = try RollbackJournal.commonName(size, source)
        // A transaction on several files is committed by deleting its super-journal.
        if let commonName, try !exists(commonName) { return nil }
        pageSize = Int(page)
        pageCount = Int(header.word(at: 16))
        sectorSize = Int64(sector)
    }

    /// Returns true for the journal of the first transaction of a database, which has nothing to restore: it
    /// states that the file had no pages. Its first 12 bytes are zeros until it is synced, and again when it
    /// is no longer needed.
    ///
    /// - Parameter start: the first 28 bytes.
    static func isOfFirstTransaction(_ start: [UInt8]) -> Bool {
        start.count == 28 && start[...].word(at: 16) == 0
            && (start.starts(with: magic) || start.prefix(12).allSatisfy { $0 == 0 })
    }

    /// The place at which SQLite ends the playback of a journal.
    enum Ending {
        case atEnd
        /// There are further bytes: records that were not synced, or the rest of an older journal.
        case beforeEnd
        /// At or after a damaged record that a header counts. Its pages, and those of all records after this
        /// header, can only differ in the file if the record was synced first.
        case atDamage(header: Int64)
    }

    /// Calls `body` with each record that SQLite would write to the file, in order: the page number, from 1
    /// to the page count; the offset of the content; and the content, which is valid only during the call.
    ///
    /// - Returns: where SQLite would end.
    @discardableResult
    func forEachRecord(_ body: (_ page: Int, _ offset: Int64, _ content: ArraySlice<UInt8>) throws -> Void)
        throws -> Ending
    {
        var damagedPart: Int64?
        let recordSize = Int64(pageSize + 8)
        let lockPage = DatabaseHeader.lockPage(pageSize: pageSize)
        var offset: Int64 = 0
        // SQLite does not know the sector size before it has read the first header.
        while offset == 0 || offset + sectorSize <= size {
            let header = try source.bytes(at: offset, count: 28)
            guard header.count == 28, header.prefix(8).elementsEqual(RollbackJournal.magic) else {
                break
            }
            let (stated, start) = (header.word(at: 8), header.word(at: 12))
            var record = offset + sectorSize
            // SQLite writes this number when synchronization is off: the count is not known.
            let damage = stated == .max ? nil : Ending.atDamage(header: damagedPart ?? offset)
            let count = stated == .max ? max(0, size - sectorSize) / recordSize : Int64(stated)
            for _ in 0..<count {
                let bytes = try source.bytes(at: record, count: Int(recordSize))
                guard bytes.count == Int(recordSize) else { return damage ?? .beforeEnd }
                let page = Int(bytes.word(at: 0))
                guard page > 0, page != lockPage else { return damage ?? .beforeEnd }
                let content = bytes.dropFirst(4).prefix(pageSize)
                // Pages after the end are skipped, and their checksums with them.
                if page <= pageCount {
                    guard RollbackJournal.checksum(content, start: start) == bytes.word(at: 4 + pageSize)
                    else { return damage ?? .beforeEnd }
                    try body(page, record + 4, content)
                } else if damage != nil {
                    damagedPart = damagedPart ?? offset
                }
                record += recordSize
            }
            offset = (record + sectorSize - 1) / sectorSize * sectorSize
        }
        if let damagedPart { return .atDamage(header: damagedPart) }
        return size - offset < recordSize ? .atEnd : .beforeEnd
    }

    /// Calls `body` as ``forEachRecord(_:)`` does with each record of the transaction, whether or not SQLite
    /// would use it: those with a checksum from the header of their part. If the first header is damaged,
    /// they may be arbitrary bytes: check that they are authentic.
    ///
    /// With `journal_mode = PERSIST`, the journal also has records and headers of older transactions, even in
    /// the place of records that were not synced. SQLite overwrites the first byte of a header at the place
    /// where the next one of the transaction would be, so it is enough to look for a header there.
    ///
    /// - Parameters:
    ///   - pageSize: the page size of the database.
    ///   - size: the size of the journal, in bytes.
    ///   - read: reads from the journal.
    static func forEachStoredRecord(
        pageSize: Int, size: Int64, read: @escaping BlockReader.Read,
        _ body: (_ page: Int, _ offset: Int64, _ content: ArraySlice<UInt8>) throws -> Void
    ) throws {
        guard size >= smallestSize else { return }
        let source = BlockReader(read)
        let recordSize = Int64(pageSize + 8)
        // A database on any usual disk has journals with this sector size. SQLite uses larger ones if the
        // disk may damage bytes next to those that it writes.
        let statedSize = try Int64(source.bytes(at: 20, count: 4).word(at: 0))
        let sectorSize = [512, 1024, 2048, 4096].contains(statedSize) ? statedSize : 512
        var offset: Int64 = 0
        while offset + sectorSize <= size {
            let header = try source.bytes(at: offset, count: 16)
            guard header.count == 16 else { return }
            let isWhole = header.prefix(8).elementsEqual(magic)
            let (stated, start) = (header.word(at: 8), header.word(at: 12))
            // SQLite writes the greatest number when synchronization is off.
            let counted = isWhole ? (stated == .max ? 0 : Int64(stated)) : .max
            var (record, index) = (offset + sectorSize, Int64(0))
            while true {
                if index == counted || !isWhole && index > 0 {
                    let next = (record + sectorSize - 1) / sectorSize * sectorSize
                    let found = try source.bytes(at: next, count: 8)
                    if found.elementsEqual(magic) {
                        offset = next
                        break
                    }
                    if !isWhole, found.dropFirst().elementsEqual(magic.dropFirst()) { return }
                }
                let bytes = try source.bytes(at: record, count: Int(recordSize))
                guard bytes.count == Int(recordSize) else { return }
                let content = bytes.dropFirst(4).prefix(pageSize)
                if !isWhole || checksum(content, start: start) == bytes.word(at: 4 + pageSize) {
                    try body(Int(bytes.word(at: 0)), record + 4, content)
                }
                (record, index) = (record + recordSize, index + 1)
            }
        }
    }

    /// Returns the checksum of a record: the sum of every 200th byte, counted from the end.
    private static func checksum(_ data: ArraySlice<UInt8>, start: UInt32) -> UInt32 {
        stride(from: data.count - 200, to: 0, by: -200).reduce(start) {
            $0 &+ UInt32(data[data.startIndex + $1])
        }
    }

    /// Returns the super-journal's path. The end of the journal contains the path, its length, a checksum,
    /// and the magic.
    private static func commonName(_ size: Int64, _ source: BlockReader) throws -> [UInt8]? {
        let end = Array(try source.bytes(at: size - 16, count: 16))
        guard end.count == 16, Array(end[8...]) == magic else { return nil }
        let length = Int64(end[...].word(at: 0))
        // SQLite accepts paths up to 512 bytes.
        guard length > 0, length <= size - 16, length <= 512 else { return nil }
        let name = try source.bytes(at: size - 16 - length, count: Int(length))
        guard
            name.reduce(UInt32(0), { $0 &+ UInt32(bitPattern: Int32(Int8(bitPattern: $1))) })
                == end[...].word(at: 4)
        else { return nil }
        let path = Array(name.prefix { $0 != 0 })
        return path.isEmpty ? nil : path
    }
}

/// The pages that a rollback journal would restore after a process ended during a transaction.
struct HotJournal: Equatable {
    /// The offset of each page's original content, in bytes from the start of the journal.
    private(set) var offsets: [Int: Int64] = [:]
    /// The size of the database before the transaction, in pages; nil if nothing is to be played back.
    private(set) var pageCount: Int?

    /// - Parameters:
    ///   - size: the size of the journal, in bytes.
    ///   - read: reads from the journal.
    ///   - exists: returns true if there is a file at the path. The journal of a transaction on several files
    ///     is void without its super-journal.
    init(pageSize: Int, size: Int64, read: @escaping BlockReader.Read, exists: ([UInt8]) throws -> Bool)
        throws
    {
        let journal = try RollbackJournal(defaultPageSize: pageSize, size: size, read: read, exists: exists)
        guard let journal, journal.pageSize == pageSize else { return }
        pageCount = journal.pageCount
        try journal.forEachRecord { page, offset, _ in offsets[page] = offset }
    }
}
