internal import SQLCipherBridge

/// The write-ahead log of a database that others go on writing to: which pages each state of it has changed,
/// and where their contents are.
///
/// It is followed from one pinned state to the next (``PinnedState``), and never read beyond: the frames of a
/// state that is pinned, or of one behind it, stay where they are, but for one case. SQLite may begin a log
/// anew that is wholly in the database file although a connection reads, which then reads from the file only.
/// As long as that one reads, nothing of the new log gets into the file, so that it cannot be begun anew a
/// second time. So the pages that changed between two states, the first of which is pinned, are those of the
/// frames behind it, or all of a new log.
///
/// None of this is believed: the checksum of the last frame, which covers all frames before it, has to be the
/// one that SQLite has in its index.
final class LogHistory {
    /// What has changed from one state to the next.
    struct Changes {
        /// The pages with a new content, beyond the end of the database too.
        var pages: Set<Int> = []
        /// The smallest number of pages that the database had in between.
        var lowestPageCount = Int.max

        /// The pages to copy anew into a copy that had another number of pages.
        func pages(from old: Int, to new: Int) -> [Int] {
            var all = pages.filter { $0 <= new }
            let first = min(old, lowestPageCount) + 1
            if first <= new { all.formUnion(first...new) }
            return all.sorted()
        }
    }

    private let path: String
    private let log: LogFile
    /// What is known of the log as it is since it was begun anew.
    private var salt: [UInt32] = []
    private var frameCount = 0
    private var position: WriteAheadLog.Position?
    private var offsets: [Int: Int64] = [:]

    /// - Parameter path: of the database, which a connection has open in WAL mode.
    init(path: String) throws(DatabaseFileError) {
        self.path = path
        log = LogFile(try FileDescriptor.open("\(path)-wal"))
    }

    /// In bytes.
    var size: Int64 { get throws { try log.file.status().size } }

    /// Goes on to a newer state.
    ///
    /// - Precondition: the state before is pinned, and so is this one, or nobody but other processes can
    ///   write.
    /// - Returns: what has changed in between; everything in the log, the first time.
    func advance(to state: LogState) throws -> Changes {
        if state.salt != salt { (salt, frameCount, position, offsets) = (state.salt, 0, nil, [:]) }
        guard state.frameCount > frameCount else {
            guard state.frameCount == frameCount, frameCount == 0 || position?.checksum == state.checksum
            else { throw lost() }
            return Changes()
        }
        guard let content = try read(), content.salts == salt, content.pageSize == state.pageSize else {
            throw lost()
        }
        var changes = Changes()
        var pageCount: Int?
        try content.forEachFrame(after: position ?? content.start) { frame, next in
            changes.pages.insert(frame.page)
            offsets[frame.page] = frame.offset
            if let count = frame.committedPageCount {
                changes.lowestPageCount = min(changes.lowestPageCount, count)
            }
            pageCount = frame.committedPageCount
            (frameCount, position) = (frameCount + 1, next)
            return frameCount < state.frameCount
        }
        guard frameCount == state.frameCount, position?.checksum == state.checksum,
            pageCount == state.pageCount
        else { throw lost() }
        return changes
    }

    /// Where the contents of pages are in the log, in the state to which this has advanced. The log of one
    /// that is wholly in the database file may be begun anew: nothing of it is used.
    func contents(of state: borrowing PinnedState) -> LogContents {
        LogContents(log: log, offsets: state.isInFile ? [:] : offsets)
    }

    /// The start of the log, which changes when it is begun anew and something is committed.
    func start() throws -> [UInt8] { try log.file.read(at: 0, count: 32) }

    /// Proves that nothing was committed since this has advanced to the last state.
    ///
    /// It reads the log that was there, also when it has lost its name by now.
    /// - Parameter start: of the log at that time.
    /// - Throws: `busy` when another process has written to the database, or may have.
    func checkIsComplete(since start: [UInt8]) throws {
        guard try self.start() == start else { throw lost() }
        // Without a frame, the log may have the header of the one before. What is committed first writes
        // another one.
        guard let content = try read(), content.salts == salt else { return }
        var isCommitted = false
        try content.forEachFrame(after: position ?? content.start) { frame, _ in
            isCommitted = isCommitted || frame.committedPageCount != nil
            return !isCommitted
        }
        if isCommitted { throw lost() }
    }

    private func read() throws -> WriteAheadLog? {
        let content = try WriteAheadLog { [log] offset, target in
            var span = target.mutableSpan
            return try log.file.read(at: offset, into: &span)
        }
        return content?.isOfKnownVersion == true ? content : nil
    }

    /// Another process has done with the log what nobody in this one does.
    private func lost() -> DatabaseFileError { DatabaseFileError(.busy([]), path: path) }
}

/// The file of a log, which nothing has locks on: it can be opened and closed beside SQLite.
private final class LogFile: Sendable {
    let file: FileDescriptor

    init(_ file: consuming FileDescriptor) { self.file = file }
}

/// Where the contents of pages are in a log.
struct LogContents: Sendable {
    fileprivate let log: LogFile
    fileprivate let offsets: [Int: Int64]

    /// The offset of a page in the log; nil for one that is in the database file.
    fileprivate func offset(_ page: Int) -> Int64? { offsets[page] }
}

/// The stored pages of a pinned state: from the log, or from the database file, where checkpoints leave them
/// alone as long as the state is pinned.
final class PinnedBytes: StoredBytes {
    let size: Int64
    private let file: ConnectionHandle
    private let contents: LogContents
    private let pageSize: Int64

    init(_ file: ConnectionHandle, _ size: PinnedState.Size, _ contents: LogContents) {
        self.file = file
        self.contents = contents
        pageSize = Int64(size.pageSize)
        self.size = Int64(size.pageCount) * pageSize
    }

    func read(at offset: Int64, into target: inout MutableSpan<UInt8>) throws -> Int {
        guard offset < size else { return 0 }
        let end = min(size, offset + Int64(target.count))
        var position = offset
        while position < end {
            let page = Int(position / pageSize) + 1
            let start = contents.offset(page)
            // From the file: as many pages as come from it in a row.
            var last = page
            while start == nil, Int64(last) * pageSize < end, contents.offset(last + 1) == nil { last += 1 }
            let place = Int(position - offset)..<Int(min(end, Int64(last) * pageSize) - offset)
            try target.withPart(place) { part in
                let done: Int
                if let start {
                    done = try contents.log.file.read(at: start + position % pageSize, into: &part)
                } else {
                    done = try file.readFile(at: position, into: &part)
                }
                // A page that nobody has written, such as the one for locks, may be beyond the end. To SQLite
                // it is one of zeros.
                part.clear(done..<part.count)
            }
            position = offset + Int64(place.upperBound)
        }
        return Int(end - offset)
    }
}
