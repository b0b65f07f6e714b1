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

    private typealias Checksum = (UInt32, UInt32)

    /// A place between two frames.
    struct Position: Equatable {
        /// In bytes from the start of the log.
        fileprivate var offset: Int64
        fileprivate var first: UInt32
        fileprivate var second: UInt32

        /// Of the header and all frames before it: two words.
        var checksum: [UInt32] { [first, second] }
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
        let headerSum = WriteAheadLog.checksum(header.prefix(24), isBigEndian, (0, 0))
        guard headerSum == (header.word(at: 24), header.word(at: 28)) else { return nil }
        start = Position(offset: 32, first: headerSum.0, second: headerSum.1)
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
        var (sum, offset) = ((position.first, position.second), position.offset)
        while true {
            let bytes = try source.bytes(at: offset, count: frameSize)
            guard bytes.count == frameSize, (bytes.word(at: 8), bytes.word(at: 12)) == salt else { return }
            let content = bytes.dropFirst(24)
            sum = WriteAheadLog.checksum(bytes.prefix(8), isBigEndian, sum)
            sum = WriteAheadLog.checksum(content, isBigEndian, sum)
            let (page, size) = (Int(bytes.word(at: 0)), Int(bytes.word(at: 4)))
            guard page > 0, sum == (bytes.word(at: 16), bytes.word(at: 20)) else { return }
            let frame = Frame(page: page, committedPageCount: size > 0 ? size : nil, offset: offset + 24)
            offset += Int64(frameSize)
            guard try body(frame, Position(offset: offset, first: sum.0, second: sum.1)) else { return }
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
        var (sum, offset) = ((end.first, end.second), end.offset)
        while true {
            let bytes = try source.bytes(at: offset, count: 24 + pageSize)
            guard bytes.count == 24 + pageSize else { return }
            sum = WriteAheadLog.checksum(bytes.prefix(8), isBigEndian, sum)
            sum = WriteAheadLog.checksum(bytes.dropFirst(24), isBigEndian, sum)
            let stored = (bytes.word(at: 16), bytes.word(at: 20))
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

    private static func checksum(_ bytes: ArraySlice<UInt8>, _ isBigEndian: Bool, _ start: Checksum)
        -> Checksum
    {
        var (first, second) = start
        unsafe bytes.withUnsafeBytes { bytes in
            guard let address = bytes.baseAddress else { return }
            precondition(
                UInt(bitPattern: address) % 4 == 0,
                "Everything in a log is at a multiple of 8 bytes, and so is each block of it.")
            let words = unsafe address.assumingMemoryBound(to: UInt32.self)
            let count = bytes.count / 8 * 2
            var index = 0
            // A log has a thousand words a page, each of which comes by here: no iterators, and one question
            // less for each.
            if isBigEndian {
                while index < count {
                    first = unsafe first &+ UInt32(bigEndian: words[index]) &+ second
                    second = unsafe second &+ UInt32(bigEndian: words[index + 1]) &+ first
                    index += 2
                }
            } else {
                while index < count {
                    first = unsafe first &+ UInt32(littleEndian: words[index]) &+ second
                    second = unsafe second &+ UInt32(littleEndian: words[index + 1]) &+ first
                    index += 2
                }
            }
        }
        return (first, second)
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
