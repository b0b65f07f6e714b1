/// Writes the checksums that SQLite before 3.50.2 leaves out of a write-ahead log
/// (``EngineMend/logChecksums``).
///
/// A page that is spilled twice in one transaction is overwritten in the log, in its frame R. From then on
/// the engine writes frames without salts and checksums, and writes them when the transaction is committed:
/// it reads the checksum of frame R - 1, and goes on from there. If the transaction was rolled back in part
/// to a frame before R, it still does so: the frames up to R - 1 stay without a checksum, recovery ends at
/// the first of them, and that commit and all later ones are lost with the process.
///
/// That the engine reads a checksum is the moment to write those that are missing before it: the frame that
/// commits is already in the log, no reader knows it, and the engine takes the checksum that it is given for
/// that of the frames before, also in the index of the log, which other processes go on from.
struct LogSealing {
    /// Reads some bytes of the log; nil if there are fewer.
    let read: (_ offset: Int64, _ count: Int) throws(EngineError) -> [UInt8]?
    let write: (_ bytes: [UInt8], _ offset: Int64) throws(EngineError) -> Void

    /// What a checksum has in the log, and what the engine reads at once for no other purpose.
    static let checksumSize = 8
    /// What a frame has before its page, and what the engine writes at once for no other purpose.
    static let frameHeaderSize = 24
    private static let logHeaderSize = 32

    /// Writes the missing checksums of frames before the one whose checksums the engine is about to write.
    ///
    /// - Parameters:
    ///   - offset: where the engine reads the checksum of the frame before.
    ///   - lastHeader: where it has written the header of a frame last: of the one that commits.
    /// - Returns: the checksum of the last frame that the engine does not write; nil if it is what the engine
    ///   reads.
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

        // The engine rewrites nothing where the frame is one that was rolled back, behind the commit.
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
    /// As it is stored.
    fileprivate var bytes: [UInt8] {
        [first, second].flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> (24 - 8 * $0)) } }
    }
}

extension ArraySlice<UInt8> {
    /// Whether the header of a frame has salts or a checksum.
    fileprivate var isSealed: Bool { dropFirst(8).contains { $0 != 0 } }

    fileprivate func word(at offset: Int) -> UInt32 {
        self[(startIndex + offset)..<(startIndex + offset + 4)].reduce(0) { $0 << 8 | UInt32($1) }
    }

    fileprivate func sum(at offset: Int) -> LogChecksum {
        LogChecksum(word(at: offset), word(at: offset + 4))
    }
}
