internal import SQLCipherBridge

/// The frames that SQLite would find in a write-ahead log:
/// <https://www.sqlite.org/fileformat2.html#walformat>.
///
/// Like a journal's, its checksums only protect against accidents: anyone can compute them.
struct WriteAheadLog {
    /// The page size stated in the log.
    let pageSize: Int
    /// True if the log has the format version that SQLite knows. SQLite opens no other.
    let isOfKnownVersion: Bool

    private let isBigEndian: Bool
    /// The two words of salt that each frame repeats.
    private let salt: (UInt32, UInt32)
    private let source: BlockReader

    /// The position before the first frame.
    let start: Position

    /// A position between two frames.
    struct Position: Equatable {
        /// The offset in bytes from the start of the log.
        fileprivate var offset: Int64
        fileprivate var sum: LogChecksum

        /// The checksum of the header and all earlier frames: two words.
        var checksum: [UInt32] { [sum.first, sum.second] }
    }

    /// The salts, which change when the log is restarted.
    var salts: [UInt32] { [salt.0, salt.1] }

    /// A frame: a page, and whether it ends a transaction.
    struct Frame {
        let page: Int
        /// The size of the database in pages, for the last frame of a transaction; nil for others.
        let committedPageCount: Int?
        /// The offset of the content, in bytes from the start of the log.
        let offset: Int64
    }

    /// - Parameter read: reads from the log.
    /// - Returns: nil if SQLite would find no frames.
    init?(read: @escaping BlockReader.Read) throws {
        source = BlockReader(read)
        let header = try source.bytes(at: 0, count: 32)
        guard header.count == 32 else { return nil }
        let (magic, page) = (header.word(at: 0), header.word(at: 8))
        guard magic & ~1 == 0x377f_0682, DatabaseHeader.isPageSize(page) else { return nil }
        isBigEndian = magic & 1 == 1
        var sum = LogChecksum()
        sum.add(header.prefix(24), isBigEndian: isBigEndian)
        guard sum == header.sum(at: 24) else { return nil }
        start = Position(offset: 32, sum: sum)
        pageSize = Int(page)
        isOfKnownVersion = header.word(at: 4) == 3_007_000
        salt = (header.word(at: 16), header.word(at: 20))
    }

    /// Reads a log of at least two frames whose header is damaged, in which SQLite finds no frame. The page
    /// size is the one with which the second frame has the salts of the first one.
    private init?(withoutHeader read: @escaping BlockReader.Read) throws {
        source = BlockReader(read)
        let first = try source.bytes(at: 32, count: 24)
        guard first.count == 24 else { return nil }
        let salt = (first.word(at: 8), first.word(at: 12))
        let size = try (9...16).map { 1 << $0 }.first { [source] size in
            let second = try source.bytes(at: Int64(32 + 24 + size), count: 24)
            return second.count == 24 && (second.word(at: 8), second.word(at: 12)) == salt
        }
        guard let size, salt != (0, 0) else { return nil }
        pageSize = size
        self.salt = salt
        isOfKnownVersion = true
        isBigEndian = false
        start = Position(offset: 32, sum: LogChecksum())
    }

    /// Reads a log in which SQLite may find no frame because its header is damaged.
    ///
    /// - Returns: nil if it cannot have two frames.
    static func damaged(_ read: @escaping BlockReader.Read) throws -> WriteAheadLog? {
        try WriteAheadLog(read: read) ?? WriteAheadLog(withoutHeader: read)
    }

    /// Calls `body` with each frame up to the first invalid one, in order. Frames after the last commit are
    /// uncommitted.
    func forEachFrame(_ body: (Frame) throws -> Void) throws {
        try forEachFrame(after: start) { frame, _ in
            try body(frame)
            return true
        }
    }

    /// Calls `body` with each frame after a position, up to the first invalid one, and with the position
    /// after the frame. Stops when `body` returns false.
    func forEachFrame(after position: Position, _ body: (Frame, Position) throws -> Bool) throws {
        let frameSize = 24 + pageSize
        var (sum, offset) = (position.sum, position.offset)
        while true {
            let bytes = try source.bytes(at: offset, count: frameSize)
            guard bytes.count == frameSize, (bytes.word(at: 8), bytes.word(at: 12)) == salt else { return }
            sum.add(bytes.prefix(8), isBigEndian: isBigEndian)
            sum.add(bytes.dropFirst(24), isBigEndian: isBigEndian)
            let (page, size) = (Int(bytes.word(at: 0)), Int(bytes.word(at: 4)))
            guard page > 0, sum == bytes.sum(at: 16) else { return }
            let frame = Frame(page: page, committedPageCount: size > 0 ? size : nil, offset: offset + 24)
            offset += Int64(frameSize)
            guard try body(frame, Position(offset: offset, sum: sum)) else { return }
        }
    }

    private func endOfValidFrames() throws -> Position {
        var end = start
        try forEachFrame(after: start) { _, position in
            end = position
            return true
        }
        return end
    }

    /// Returns the number of transactions that seem to end after the first invalid frame, where readers do
    /// not find them.
    ///
    /// SQLite writes the end of a transaction last, and changes the log's salts when it restarts the log. So
    /// an undamaged log contains none, even after rollbacks. There may be one whose commit was never
    /// reported: after a power failure, or if a process was killed between the two writes of its last frame.
    func commitsBehindDamage() throws -> Int {
        var offset = try endOfValidFrames().offset
        var count = 0
        while true {
            let header = try source.bytes(at: offset, count: 24)
            // A frame without its last byte was not written completely.
            guard header.count == 24, try source.bytes(at: offset + 23 + Int64(pageSize), count: 1).count == 1
            else { return count }
            // The frame at the end may itself be the damaged one.
            if (header.word(at: 8), header.word(at: 12)) == salt, header.word(at: 0) > 0,
                header.word(at: 4) > 0
            {
                count += 1
            }
            offset += Int64(24 + pageSize)
        }
    }

    /// Calls `body` with each frame after the first invalid one, where readers do not find it, and with true
    /// if its checksum continues the checksum stated by the previous frame. Frames with other salts are
    /// skipped.
    func forEachFrameBehindDamage(_ body: (Frame, Bool) throws -> Void) throws {
        let end = try endOfValidFrames()
        var (sum, offset) = (end.sum, end.offset)
        while true {
            let bytes = try source.bytes(at: offset, count: 24 + pageSize)
            guard bytes.count == 24 + pageSize else { return }
            sum.add(bytes.prefix(8), isBigEndian: isBigEndian)
            sum.add(bytes.dropFirst(24), isBigEndian: isBigEndian)
            let stored = bytes.sum(at: 16)
            let (page, size) = (Int(bytes.word(at: 0)), Int(bytes.word(at: 4)))
            if (bytes.word(at: 8), bytes.word(at: 12)) == salt, page > 0 {
                let frame = Frame(page: page, committedPageCount: size > 0 ? size : nil, offset: offset + 24)
                try body(frame, sum == stored)
            }
            // Continue with the stored checksum, so that damage to one frame does not affect the later ones.
            sum = stored
            offset += Int64(bytes.count)
        }
    }
}

extension ArraySlice<UInt8> {
    /// Returns the checksum stored at an offset.
    fileprivate func sum(at offset: Int) -> LogChecksum {
        LogChecksum(word(at: offset), word(at: offset + 4))
    }
}

/// The pages of a write-ahead log that belong to committed transactions.
struct CommittedLog: Equatable {
    /// The offset of each page's last content, in bytes from the start of the log.
    private(set) var offsets: [Int: Int64] = [:]
    /// The size of the database after the last commit, in pages; nil if there is no commit.
    private(set) var pageCount: Int?

    /// Reads a log that the engine may refuse because of its version or page size.
    init(_ log: WriteAheadLog) throws {
        var uncommitted: [(page: Int, offset: Int64)] = []
        try log.forEachFrame { frame in
            uncommitted.append((frame.page, frame.offset))
            commit(&uncommitted, frame)
        }
    }

    /// Reads a log, which must belong to a database with this page size; otherwise the result is empty.
    init(pageSize: Int, read: @escaping BlockReader.Read) throws {
        if let log = try WriteAheadLog(read: read), log.isOfKnownVersion, log.pageSize == pageSize {
            try self.init(log)
        } else {
            self.init()
        }
    }

    /// Reads the transactions committed after the first invalid frame, where readers do not find them.
    ///
    /// - Parameter trustsSums: true to skip frames whose checksum is wrong, because nothing else shows
    ///   whether their pages are intact.
    init(behindDamageOf pageSize: Int, trustsSums: Bool, read: @escaping BlockReader.Read) throws {
        guard let log = try WriteAheadLog.damaged(read), log.isOfKnownVersion, log.pageSize == pageSize else {
            return
        }
        var uncommitted: [(page: Int, offset: Int64)] = []
        try log.forEachFrameBehindDamage { frame, isWhole in
            if isWhole || !trustsSums { uncommitted.append((frame.page, frame.offset)) }
            commit(&uncommitted, frame)
        }
    }

    private init() {}

    private mutating func commit(_ frames: inout [(page: Int, offset: Int64)], _ last: WriteAheadLog.Frame) {
        guard let count = last.committedPageCount else { return }
        pageCount = count
        for (page, offset) in frames { offsets[page] = offset }
        frames.removeAll(keepingCapacity: true)
    }
}
