internal import SQLCipherBridge

/// The frames of a write-ahead log that SQLite would find in it:
/// <https://www.sqlite.org/fileformat2.html#walformat>.
///
/// As those of a journal, its checksums are there for accidents, and everybody can compute them.
struct WriteAheadLog {
    /// As the log says.
    let pageSize: Int
    /// Whether the version of the format is the one that SQLite knows: it opens no other.
    let isOfKnownVersion: Bool

    private let isBigEndian: Bool
    /// What each frame has of it: two words.
    private let salt: (UInt32, UInt32)
    private let source: BlockReader

    /// Before the first frame.
    let start: Position

    /// A place between two frames.
    struct Position: Equatable {
        /// In bytes from the start of the log.
        fileprivate var offset: Int64
        fileprivate var sum: LogChecksum

        /// Of the header and all frames before it: two words.
        var checksum: [UInt32] { [sum.first, sum.second] }
    }

    /// What distinguishes the log from the one that it was before it was begun anew.
    var salts: [UInt32] { [salt.0, salt.1] }

    /// A frame: a page, and what is known of its transaction.
    struct Frame {
        let page: Int
        /// The size of the database in pages, for the last frame of a transaction; nil for others.
        let committedPageCount: Int?
        /// Where the content is, in bytes from the start of the log.
        let offset: Int64
    }

    /// - Parameter read: reads from the log.
    /// - Returns: nil when SQLite would find nothing.
    init?(read: @escaping BlockReader.Read) throws {
        source = BlockReader(read)
        let header = try source.bytes(at: 0, count: 32)
        guard header.count == 32 else { return nil }
        let (magic, page) = (header.word(at: 0), header.word(at: 8))
        guard magic & ~1 == 0x377f_0682, (512...65536).contains(page), page.nonzeroBitCount == 1 else {
            return nil
        }
        isBigEndian = magic & 1 == 1
        var sum = LogChecksum()
        sum.add(header.prefix(24), isBigEndian: isBigEndian)
        guard sum == header.sum(at: 24) else { return nil }
        start = Position(offset: 32, sum: sum)
        pageSize = Int(page)
        isOfKnownVersion = header.word(at: 4) == 3_007_000
        salt = (header.word(at: 16), header.word(at: 20))
    }

    /// Calls `body` with each frame up to the first one that is not whole, in order. Frames behind the last
    /// commit do not count.
    func forEachFrame(_ body: (Frame) throws -> Void) throws {
        try forEachFrame(after: start) { frame, _ in
            try body(frame)
            return true
        }
    }

    /// Calls `body` with each frame behind a position up to the first one that is not whole, and with the
    /// position behind it, as long as it returns true.
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

    /// How many transactions seem to end behind the first frame that is not whole, where no reader finds
    /// them.
    ///
    /// SQLite writes the end of a transaction last, and the salts of a log change when it is begun anew. So
    /// there are none in a log that is as it was written, whatever was rolled back. There may be one that
    /// nobody was told is committed: after a loss of power, or where a process was killed between the two
    /// writes that make its last frame.
    func commitsBehindDamage() throws -> Int {
        var offset = start.offset
        try forEachFrame(after: start) { _, end in
            offset = end.offset
            return true
        }
        var count = 0
        while true {
            let header = try source.bytes(at: offset, count: 24)
            // A frame without its end was not written to its end.
            guard header.count == 24, try source.bytes(at: offset + 23 + Int64(pageSize), count: 1).count == 1
            else { return count }
            // The frame at the end may be the damaged one itself.
            if (header.word(at: 8), header.word(at: 12)) == salt, header.word(at: 0) > 0,
                header.word(at: 4) > 0
            {
                count += 1
            }
            offset += Int64(24 + pageSize)
        }
    }

    /// Calls `body` with each frame behind the first one that is not whole, where no reader finds them, and
    /// with whether it is whole by the sum that the frame before it says. Frames of which the salts are other
    /// ones are left out.
    func forEachFrameBehindDamage(_ body: (Frame, Bool) throws -> Void) throws {
        var end = start
        try forEachFrame(after: start) { _, position in
            end = position
            return true
        }
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
            // The damage of one frame does not keep those behind it from being checked.
            sum = stored
            offset += Int64(bytes.count)
        }
    }
}

extension ArraySlice<UInt8> {
    /// The checksum that is stored at an offset.
    fileprivate func sum(at offset: Int) -> LogChecksum {
        LogChecksum(word(at: offset), word(at: offset + 4))
    }
}

/// The pages of a write-ahead log that belong to committed transactions.
struct CommittedLog: Equatable {
    /// Where the last content of a page is, in bytes from the start of the log.
    private(set) var offsets: [Int: Int64] = [:]
    /// The size of the database after the last commit, in pages; nil when there is no commit.
    private(set) var pageCount: Int?

    /// Of a log that the engine may refuse for its version or the size of its pages.
    init(_ log: WriteAheadLog) throws {
        var uncommitted: [(page: Int, offset: Int64)] = []
        try log.forEachFrame { frame in
            uncommitted.append((frame.page, frame.offset))
            commit(&uncommitted, frame)
        }
    }

    /// Of a log that belongs to a database with pages of this size: nothing, of another one.
    ///
    /// - Parameter read: reads from the log.
    init(pageSize: Int, read: @escaping BlockReader.Read) throws {
        if let log = try WriteAheadLog(read: read), log.isOfKnownVersion, log.pageSize == pageSize {
            try self.init(log)
        } else {
            self.init()
        }
    }

    /// What is committed behind the first frame that is not whole, where no reader finds it.
    ///
    /// - Parameter trustsSums: whether the sum of a frame has to be right, as nothing else says whether its
    ///   page is as it was written.
    init(behindDamageOf pageSize: Int, trustsSums: Bool, read: @escaping BlockReader.Read) throws {
        guard let log = try WriteAheadLog(read: read), log.isOfKnownVersion, log.pageSize == pageSize else {
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
