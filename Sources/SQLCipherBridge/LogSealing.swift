/// Writes the checksums that SQLite before 3.50.2 omits from a WAL file (``EngineMend/logChecksums``).
///
/// A page that is spilled twice in one transaction is overwritten in the WAL file, in its frame R. After
/// that, SQLite writes frames without salts and checksums, and adds them when the transaction is committed:
/// it reads the checksum of frame R - 1, and continues from there. It also does so if the transaction was
/// partially rolled back to a frame before R. Then the frames up to R - 1 never get a checksum, recovery
/// stops at the first of them, and that commit and all later ones are lost when the process ends.
///
/// When SQLite reads the checksum, Coffer writes the missing ones before it. At this moment, the commit frame
/// is already in the WAL file, no reader sees it yet, and SQLite uses the checksum that it is given as the
/// checksum of the preceding frames, also in the WAL index, from which other processes continue.
struct LogSealing {
    /// Reads some bytes of the WAL file; nil if there are fewer.
    let read: (_ offset: Int64, _ count: Int) throws(EngineError) -> [UInt8]?
    let write: (_ bytes: [UInt8], _ offset: Int64) throws(EngineError) -> Void

    /// The size of a checksum in the WAL file. SQLite reads this number of bytes for no other purpose.
    static let checksumSize = 8
    /// The size of the header of a frame. SQLite writes this number of bytes for no other purpose.
    static let frameHeaderSize = 24
    private static let logHeaderSize = 32

    /// Writes the missing checksums of the frames before the one whose checksum SQLite is about to write.
    ///
    /// - Parameters:
    ///   - offset: the offset at which SQLite reads the checksum of the preceding frame.
    ///   - lastHeader: the offset of the last frame header that SQLite has written, of the commit frame.
    /// - Returns: the checksum of the last frame that SQLite does not rewrite; nil if SQLite can use the
    ///   stored checksum.
    func seal(beforeChecksumAt offset: Int64, lastHeader: Int64) throws(EngineError) -> [UInt8]? {
        let size = LogSealing.logHeaderSize
        guard offset > Int64(size), let log = try read(0, size)?[...] else { return nil }
        let pageSize = Int64(log.word(at: 8))
        guard (512...65536).contains(pageSize), pageSize.nonzeroBitCount == 1 else { return nil }
        let frameSize = pageSize + Int64(LogSealing.frameHeaderSize)
        func isHeader(_ offset: Int64) -> Bool {
            offset >= Int64(size) && (offset - Int64(size)).isMultiple(of: frameSize)
        }
        let asked = offset - 16
        guard isHeader(asked), isHeader(lastHeader) else { return nil }

        // If the preceding frame was rolled back and is after the commit frame, SQLite rewrites nothing.
        let target = min(asked, lastHeader)
        var first = target
        var sum = log.sum(at: 24)
        while first >= Int64(size), let header = try read(first, LogSealing.frameHeaderSize)?[...] {
            if header.isSealed {
                sum = header.sum(at: 16)
                break
            }
            first -= frameSize
        }
        first += frameSize
        guard first <= target else { return nil }

        let isBigEndian = log.word(at: 0) & 1 == 1
        for frame in stride(from: first, through: target, by: Int64.Stride(frameSize)) {
            guard let bytes = try read(frame, Int(frameSize))?[...] else {
                throw EngineError(code: EngineCode.ioError, message: nil)
            }
            sum.add(bytes.prefix(8), isBigEndian: isBigEndian)
            sum.add(bytes.dropFirst(LogSealing.frameHeaderSize), isBigEndian: isBigEndian)
            try write(bytes.prefix(8) + log[16..<24] + sum.bytes, frame)
        }
        return sum.bytes
    }
}

extension LogChecksum {
    /// The stored form of the checksum.
    fileprivate var bytes: [UInt8] {
        [first, second].flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> (24 - 8 * $0)) } }
    }
}

extension ArraySlice<UInt8> {
    /// True if the header of a frame has salts or a checksum.
    fileprivate var isSealed: Bool { dropFirst(8).contains { $0 != 0 } }

    fileprivate func word(at offset: Int) -> UInt32 {
        self[(startIndex + offset)..<(startIndex + offset + 4)].reduce(0) { $0 << 8 | UInt32($1) }
    }

    fileprivate func sum(at offset: Int) -> LogChecksum {
        LogChecksum(word(at: offset), word(at: offset + 4))
    }
}
