/// What SQLite would play back of a rollback journal, record by record, with all of its rules:
/// <https://www.sqlite.org/fileformat2.html#the_rollback_journal>, and `pager_playback` in its source.
///
/// Nobody has signed a journal: its checksums are there for accidents. What it says is what SQLite would do, not what is right.
struct RollbackJournal {
    /// As the journal says: SQLite goes by it, and not by the file.
    let pageSize: Int
    /// To how many pages SQLite brings the file, before it plays back anything.
    let pageCount: Int
    /// The path of the journal that several files have in common, as the bytes that it has: names need not be UTF-8. SQLite removes it when it has
    /// played back the last of theirs.
    let commonName: [UInt8]?

    private let size: Int64
    private let sectorSize: Int64
    private let source: BlockReader

    private static let magic: [UInt8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]

    /// SQLite takes this sector size for granted until it has read that of the journal, and ignores what is shorter.
    private static let smallestSize: Int64 = 512

    /// - Parameters:
    ///   - defaultPageSize: the size of the pages of a journal that does not tell, as those of old versions do not.
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
        let (sector, page) = (header.word(at: 20), header.word(at: 24) == 0 ? UInt32(defaultPageSize) : header.word(at: 24))
        guard (32...65536).contains(sector), sector.nonzeroBitCount == 1, (512...65536).contains(page), page.nonzeroBitCount == 1 else {
            return nil
        }
        commonName = try RollbackJournal.commonName(size, source)
        // A transaction on several files was committed when their common journal went away.
        if let commonName, try !exists(commonName) { return nil }
        pageSize = Int(page)
        pageCount = Int(header.word(at: 16))
        sectorSize = Int64(sector)
    }

    /// Calls `body` with each record that SQLite would write to the file, in order: the number of the page, from 1 to the page count, the
    /// offset of its content, and the content, which is valid for the time of the call.
    func forEachRecord(_ body: (_ page: Int, _ offset: Int64, _ content: ArraySlice<UInt8>) throws -> Void) throws {
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
                    guard RollbackJournal.checksum(content, start: start) == bytes.word(at: 4 + pageSize) else { return }
                    try body(page, record + 4, content)
                }
                record += recordSize
            }
            offset = (record + sectorSize - 1) / sectorSize * sectorSize
        }
    }

    /// Every 200th byte, from the end.
    private static func checksum(_ data: ArraySlice<UInt8>, start: UInt32) -> UInt32 {
        stride(from: data.count - 200, to: 0, by: -200).reduce(start) { $0 &+ UInt32(data[data.startIndex + $1]) }
    }

    /// At the end of the journal: the path, its length, a checksum, and the magic.
    private static func commonName(_ size: Int64, _ source: BlockReader) throws -> [UInt8]? {
        let end = Array(try source.bytes(at: size - 16, count: 16))
        guard end.count == 16, Array(end[8...]) == magic else { return nil }
        let length = Int64(end[...].word(at: 0))
        // SQLite takes paths up to 512 bytes.
        guard length > 0, length <= size - 16, length <= 512 else { return nil }
        let name = try source.bytes(at: size - 16 - length, count: Int(length))
        guard name.reduce(UInt32(0), { $0 &+ UInt32(bitPattern: Int32(Int8(bitPattern: $1))) }) == end[...].word(at: 4) else { return nil }
        let path = Array(name.prefix { $0 != 0 })
        return path.isEmpty ? nil : path
    }
}

/// Reads a file in blocks, for those who want small pieces of it, mostly in order.
final class BlockReader {
    /// Fills the target with the bytes from an offset on, and returns how many there were: fewer than the target has at the end of the file only.
    typealias Read = (_ offset: Int64, _ target: inout [UInt8]) throws -> Int

    private let read: Read
    /// Used again for each block, unless a caller still has a piece of the last one.
    private var block: [UInt8] = []
    /// Which part of the file is in the block.
    private var range: Range<Int64> = 0..<0

    /// How much is read at once: little at first, as most logs are short, and most readers look at the beginning only.
    private var blockSize = 1 << 14
    private static let largestBlockSize = 1 << 18

    init(_ read: @escaping Read) {
        self.read = read
    }

    /// Up to `count` bytes; fewer at the end of the file.
    func bytes(at offset: Int64, count: Int) throws -> ArraySlice<UInt8> {
        if offset < range.lowerBound || offset + Int64(count) > range.upperBound {
            if block.count < max(count, blockSize) { block = [UInt8](repeating: 0, count: max(count, blockSize)) }
            blockSize = min(4 * blockSize, BlockReader.largestBlockSize)
            range = 0..<0
            let done = try read(offset, &block)
            range = offset..<offset + Int64(done)
        }
        let first = Int(min(offset - range.lowerBound, Int64(range.count)))
        return block[first..<min(first + count, range.count)]
    }
}

extension ArraySlice<UInt8> {
    /// Four bytes, the highest one first.
    func word(at offset: Int) -> UInt32 {
        let first = startIndex + offset
        return UInt32(self[first]) << 24 | UInt32(self[first + 1]) << 16 | UInt32(self[first + 2]) << 8 | UInt32(self[first + 3])
    }
}
