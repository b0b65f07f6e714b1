/// The pages of a write-ahead log that belong to committed transactions: <https://www.sqlite.org/fileformat2.html#walformat>.
struct CommittedLog: Equatable {
    /// Where the last content of a page is, in bytes from the start of the log.
    private(set) var offsets: [Int: Int64] = [:]
    /// The size of the database after the last commit, in pages; nil when there is no commit.
    private(set) var pageCount: Int?

    /// - Parameter read: bytes of the log; fewer at its end.
    init(pageSize: Int, read: (_ offset: Int64, _ count: Int) throws -> [UInt8]) rethrows {
        let header = try read(0, 32)
        guard header.count == 32 else { return }
        let magic = CommittedLog.word(header, 0)
        guard magic & ~1 == 0x377f_0682, CommittedLog.word(header, 1) == 3_007_000, CommittedLog.word(header, 2) == UInt32(pageSize) else {
            return
        }
        let isBigEndian = magic & 1 == 1
        var sum = CommittedLog.checksum(header[0..<24], isBigEndian, (0, 0))
        guard sum == (CommittedLog.word(header, 6), CommittedLog.word(header, 7)) else { return }
        let salt = header[16..<24]
        var offset: Int64 = 32
        var uncommitted: [Int: Int64] = [:]
        while true {
            let frame = try read(offset, 24 + pageSize)
            guard frame.count == 24 + pageSize, frame[8..<16] == salt else { return }
            sum = CommittedLog.checksum(frame[0..<8], isBigEndian, sum)
            sum = CommittedLog.checksum(frame[24...], isBigEndian, sum)
            let page = Int(CommittedLog.word(frame, 0))
            guard page > 0, sum == (CommittedLog.word(frame, 4), CommittedLog.word(frame, 5)) else { return }
            uncommitted[page] = offset + 24
            let size = Int(CommittedLog.word(frame, 1))
            if size > 0 {
                pageCount = size
                offsets.merge(uncommitted) { $1 }
                uncommitted = [:]
            }
            offset += Int64(24 + pageSize)
        }
    }

    private static func word(_ bytes: [UInt8], _ index: Int) -> UInt32 {
        bytes[index * 4..<index * 4 + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }

    private static func checksum(_ bytes: ArraySlice<UInt8>, _ isBigEndian: Bool, _ start: (UInt32, UInt32)) -> (UInt32, UInt32) {
        var (first, second) = start
        unsafe bytes.withUnsafeBytes { bytes in
            for offset in stride(from: 0, to: bytes.count - 7, by: 8) {
                let left = unsafe bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
                let right = unsafe bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
                first = first &+ (isBigEndian ? UInt32(bigEndian: left) : UInt32(littleEndian: left)) &+ second
                second = second &+ (isBigEndian ? UInt32(bigEndian: right) : UInt32(littleEndian: right)) &+ first
            }
        }
        return (first, second)
    }
}
