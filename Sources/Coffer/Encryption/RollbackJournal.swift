/// What SQLite would play back of a rollback journal, record by record, with all of its rules:
/// <https://www.sqlite.org/fileformat2.html#the_rollback_journal>, and `pager_playback` in its source.
///
/// Nobody has signed a journal: its checksums are there for accidents. What it says is what SQLite would do,
/// not what is right.
struct RollbackJournal {
    /// As the journal says: SQLite goes by it, and not by the file.
    let pageSize: Int
    /// To how many pages SQLite brings the file, before it plays back anything.
    let pageCount: Int
    /// The path of the journal that several files have in common, as the bytes that it has: names need not be
    /// UTF-8. SQLite removes it when it has played back the last of theirs.
    let commonName: [UInt8]?

    private let size: Int64
    private let sectorSize: Int64
    private let source: BlockReader

    private static let magic: [UInt8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]

    /// SQLite takes this sector size for granted until it has read that of the journal, and ignores what is
    /// shorter.
    private static let smallestSize: Int64 = 512

    /// - Parameters:
    ///   - defaultPageSize: the size of the pages of a journal that does not state it, as those of old
    ///     versions do not.
    ///   - size: of the journal, in bytes.
    ///   - read: reads from the journal.
    ///   - exists: whether there is a file at a path.
    /// - Returns: nil when SQLite plays back nothing.
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
        guard (32...65536).contains(sector), sector.nonzeroBitCount == 1, (512...65536).contains(page),
            page.nonzeroBitCount == 1
        else {
            return nil
        }
        commonName = try RollbackJournal.commonName(size, source)
        // A transaction on several files was committed when their common journal went away.
        if let commonName, try !exists(commonName) { return nil }
        pageSize = Int(page)
        pageCount = Int(header.word(at: 16))
        sectorSize = Int64(sector)
    }

    /// Calls `body` with each record that SQLite would write to the file, in order: the number of the page,
    /// from 1 to the page count, the offset of its content, and the content, which is valid for the time of
    /// the call.
    func forEachRecord(_ body: (_ page: Int, _ offset: Int64, _ content: ArraySlice<UInt8>) throws -> Void)
        throws
    {
        let recordSize = Int64(pageSize + 8)
        let lockPage = DatabaseHeader.lockPage(pageSize: pageSize)
        var offset: Int64 = 0
        // SQLite knows the size of a sector only when it has read the first header.
        while offset == 0 || offset + sectorSize <= size {
            let header = try source.bytes(at: offset, count: 28)
            guard header.count == 28, header.prefix(8).elementsEqual(RollbackJournal.magic) else { return }
            let (stated, start) = (header.word(at: 8), header.word(at: 12))
            var record = offset + sectorSize
            // A process without synchronization writes this number.
            let count = stated == .max ? max(0, size - sectorSize) / recordSize : Int64(stated)
            for _ in 0..<count {
                let bytes = try source.bytes(at: record, count: Int(recordSize))
                guard bytes.count == Int(recordSize) else { return }
                let page = Int(bytes.word(at: 0))
                guard page > 0, page != lockPage else { return }
                let content = bytes.dropFirst(4).prefix(pageSize)
                // Pages behind the end are passed over, and their checksums with them.
                if page <= pageCount {
                    guard RollbackJournal.checksum(content, start: start) == bytes.word(at: 4 + pageSize)
                    else { return }
                    try body(page, record + 4, content)
                }
                record += recordSize
            }
            offset = (record + sectorSize - 1) / sectorSize * sectorSize
        }
    }

    /// Every 200th byte, from the end.
    private static func checksum(_ data: ArraySlice<UInt8>, start: UInt32) -> UInt32 {
        stride(from: data.count - 200, to: 0, by: -200).reduce(start) {
            $0 &+ UInt32(data[data.startIndex + $1])
        }
    }

    /// At the end of the journal: the path, its length, a checksum, and the magic.
    private static func commonName(_ size: Int64, _ source: BlockReader) throws -> [UInt8]? {
        let end = Array(try source.bytes(at: size - 16, count: 16))
        guard end.count == 16, Array(end[8...]) == magic else { return nil }
        let length = Int64(end[...].word(at: 0))
        // SQLite takes paths up to 512 bytes.
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

/// The pages that a rollback journal plays back, of a process that ended in the middle of a transaction.
struct HotJournal: Equatable {
    /// Where the content of a page from before the transaction is, in bytes from the start of the journal.
    private(set) var offsets: [Int: Int64] = [:]
    /// The size of the database before the transaction, in pages; nil when nothing is to be played back.
    private(set) var pageCount: Int?

    /// - Parameters:
    ///   - size: of the journal, in bytes.
    ///   - read: reads from the journal.
    ///   - exists: whether there is a file at a path: a journal that belongs to a transaction on several
    ///     files is void without their common one.
    init(pageSize: Int, size: Int64, read: @escaping BlockReader.Read, exists: ([UInt8]) throws -> Bool)
        throws
    {
        let journal = try RollbackJournal(defaultPageSize: pageSize, size: size, read: read, exists: exists)
        guard let journal, journal.pageSize == pageSize else { return }
        pageCount = journal.pageCount
        try journal.forEachRecord { page, offset, _ in offsets[page] = offset }
    }
}
