internal import Glibc
internal import SQLCipherBridge
internal import SystemCalls

/// The write-ahead log of a database that is still being written to: the pages that each state has changed,
/// and where their contents are in the log.
///
/// It advances from one pinned state (``PinnedState``) to the next, and never reads further. The frames of a
/// pinned state, and of later ones, stay in place, with one exception: SQLite may restart a fully
/// checkpointed log even while a connection reads, and that connection then reads from the database file
/// only. As long as it reads, no frame of the new log is checkpointed, so the log cannot be restarted a
/// second time. Therefore the pages that changed between two states, the first of which is pinned, are those
/// in the frames after it, or those in all frames of a restarted log.
///
/// This reasoning is not trusted: the checksum of the last frame, which covers all frames before it, must
/// equal the one in SQLite's WAL index.
final class LogHistory {
    /// The changes from one state to the next.
    struct Changes {
        /// The pages that were written, including pages past the end of the database.
        var pages: Set<Int> = []
        /// The smallest size of the database in pages in between.
        var lowestPageCount = Int.max

        /// Returns the pages to copy again into a copy whose page count was `old`.
        func pages(from old: Int, to new: Int) -> [Int] {
            var all = pages.filter { $0 <= new }
            let first = min(old, lowestPageCount) + 1
            if first <= new { all.formUnion(first...new) }
            return all.sorted()
        }
    }

    private let path: String
    /// SQLite holds no locks on it, so this process can open and close it independently of SQLite.
    private var log: ReadFile
    /// The salt of the log since its last restart. The next three properties describe the same log.
    private var salt: [UInt32] = []
    private var frameCount = 0
    private var position: WriteAheadLog.Position?
    private var offsets: [Int: Int64] = [:]

    /// - Parameter path: the path of a database that a connection has open in WAL mode.
    init(path: String) throws(DatabaseFileError) {
        self.path = path
        log = try LogHistory.openLog(of: path)
    }

    /// - Throws: `busy` if there is no log: another operation has the database in another journal mode.
    private static func openLog(of path: String) throws(DatabaseFileError) -> ReadFile {
        do throws(DatabaseFileError) {
            return ReadFile(try FileDescriptor.open("\(path)-wal"))
        } catch {
            guard case .inputOutput(_, ENOENT) = error.reason else { throw error }
            throw DatabaseFileError(.busy([]), path: path)
        }
    }

    /// The size of the log file in bytes.
    var size: Int64 { get throws { try log.file.status().size } }

    /// Begins at a pinned state, which keeps the log from being replaced.
    func begin(at pin: borrowing PinnedState) throws {
        // Another operation may have left the WAL mode since the log was opened, and returned to it.
        log = try LogHistory.openLog(of: path)
        let isInFile = pin.isInFile
        do {
            _ = try advance(to: pin.state)
        } catch let error as DatabaseFileError where isInFile && error.reason == .busy([]) {
            // If the state is in the file, a commit may restart the log at any time, even before it is read.
            // Nothing in the old log is needed then, and the next state is one of the new log.
        }
    }

    /// Advances to a newer state.
    ///
    /// - Precondition: the previous state is pinned. The new one is pinned as well, or only other processes
    ///   can write.
    /// - Returns: the changes in between; the first time, everything in the log.
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

    /// Returns the places of pages in the log, for the state to which this has advanced. If that state is
    /// fully checkpointed, the log may be restarted at any time, so nothing in it is used.
    func contents(of state: borrowing PinnedState) -> LogContents {
        LogContents(log: log, offsets: state.isInFile ? [:] : offsets)
    }

    /// Returns the header of the log, which changes with the first commit after a restart.
    func start() throws -> [UInt8] { try log.file.read(at: 0, count: 32) }

    /// Verifies that nothing was committed since this advanced to the last state.
    ///
    /// It reads the log through the open descriptor, so it also works after the log was unlinked.
    ///
    /// - Parameter start: the header of the log at that time.
    /// - Throws: `busy` if another process has written to the database, or may have.
    func checkIsComplete(since start: [UInt8]) throws {
        guard try self.start() == start else { throw lost() }
        guard let content = try read() else { return }
        let isOfState = content.salts == salt
        if !isOfState {
            // The log with the frames of the state must have been replaced.
            guard frameCount == 0 else { throw lost() }
            // SQLite has restarted the log in the index only, and the file still has the previous one. The
            // first commit writes another header.
            if let old = content.salts.first, let new = salt.first, old &+ 1 == new { return }
            // The first commit to a log writes the header, with random salts, before the index has the
            // commit. The header may have been read in between, so any commit after it is unknown.
        }
        var isCommitted = false
        try content.forEachFrame(after: (isOfState ? position : nil) ?? content.start) { frame, _ in
            isCommitted = isCommitted || frame.committedPageCount != nil
            return !isCommitted
        }
        if isCommitted { throw lost() }
    }

    private func read() throws -> WriteAheadLog? {
        let content = try WriteAheadLog { [log] in try log.read(at: $0, filling: &$1) }
        return content?.isOfKnownVersion == true ? content : nil
    }

    /// Another process has changed the log in a way that this process never does.
    private func lost() -> DatabaseFileError { DatabaseFileError(.busy([]), path: path) }
}

/// The places of page contents in a log.
struct LogContents: Sendable {
    fileprivate let log: ReadFile
    fileprivate let offsets: [Int: Int64]

    /// Returns the offset of a page in the log; nil for a page that is in the database file.
    fileprivate func offset(_ page: Int) -> Int64? { offsets[page] }
}

/// The stored pages of a pinned state: from the log, or from the database file, in which checkpoints do not
/// change them while the state is pinned.
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
            // From the file: a single read covers all consecutive pages that are not in the log.
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
                // A page that was never written, such as the lock-byte page, may be past the end. SQLite
                // reads it as zeros.
                part.clear(done..<part.count)
            }
            position = offset + Int64(place.upperBound)
        }
        return Int(end - offset)
    }
}
