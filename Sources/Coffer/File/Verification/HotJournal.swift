/// The pages that a rollback journal plays back, of a process that ended in the middle of a transaction:
/// <https://www.sqlite.org/fileformat2.html#the_rollback_journal>.
struct HotJournal: Equatable {
    /// Where the content of a page from before the transaction is, in bytes from the start of the journal.
    private(set) var offsets: [Int: Int64] = [:]
    /// The size of the database before the transaction, in pages; nil when nothing is to be played back.
    private(set) var pageCount: Int?

    private static let magic: [UInt8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]

    /// - Parameters:
    ///   - size: of the journal, in bytes.
    ///   - read: bytes of the journal; fewer at its end.
    ///   - exists: whether there is a file at a path: a journal that belongs to a transaction on several files is void without their common one.
    init(
        pageSize: Int, size: Int64, read: (_ offset: Int64, _ count: Int) throws -> [UInt8], exists: (String) throws -> Bool
    ) rethrows {
        if let common = try HotJournal.commonJournal(size: size, read: read), try !exists(common) { return }
        var offset: Int64 = 0
        while true {
            let header = try read(offset, 28)
            guard header.count == 28, Array(header[0..<8]) == HotJournal.magic else { return }
            let sectorSize = Int64(HotJournal.word(header, 5))
            guard sectorSize >= 32, sectorSize <= 65536, Int(HotJournal.word(header, 6)) == pageSize else { return }
            if offset == 0 { pageCount = Int(HotJournal.word(header, 4)) }
            let recordSize = Int64(pageSize + 8)
            var record = offset + sectorSize
            let count =
                HotJournal.word(header, 2) == 0xffff_ffff ? max(0, size - record) / recordSize : Int64(HotJournal.word(header, 2))
            for _ in 0..<count {
                let bytes = try read(record, Int(recordSize))
                guard bytes.count == Int(recordSize) else { return }
                let page = Int(HotJournal.word(bytes, 0))
                let data = bytes[4..<4 + pageSize]
                guard page > 0, HotJournal.checksum(data, start: HotJournal.word(header, 3)) == HotJournal.word(bytes, 1 + pageSize / 4)
                else { return }
                if offsets[page] == nil { offsets[page] = record + 4 }
                record += recordSize
            }
            offset = (record + sectorSize - 1) / sectorSize * sectorSize
        }
    }

    private static func word(_ bytes: [UInt8], _ index: Int) -> UInt32 {
        bytes[index * 4..<index * 4 + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// Every 200th byte, from the end.
    private static func checksum(_ data: ArraySlice<UInt8>, start: UInt32) -> UInt32 {
        stride(from: data.count - 200, to: 0, by: -200).reduce(start) { $0 &+ UInt32(data[data.startIndex + $1]) }
    }

    /// The path of the journal that several files have in common, at the end of this one.
    private static func commonJournal(size: Int64, read: (Int64, Int) throws -> [UInt8]) rethrows -> String? {
        guard size >= 16 else { return nil }
        let end = try read(size - 16, 16)
        guard end.count == 16, Array(end[8...]) == magic else { return nil }
        let length = Int64(word(end, 0))
        guard length > 0, length <= size - 16, length < 65536 else { return nil }
        let name = try read(size - 16 - length, Int(length))
        guard name.reduce(UInt32(0), { $0 &+ UInt32(bitPattern: Int32(Int8(bitPattern: $1))) }) == word(end, 1) else { return nil }
        return String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
    }
}
