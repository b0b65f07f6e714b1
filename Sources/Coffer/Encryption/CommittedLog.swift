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
            guard let count = frame.committedPageCount else { return }
            pageCount = count
            for (page, offset) in uncommitted { offsets[page] = offset }
            uncommitted.removeAll(keepingCapacity: true)
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

    private init() {}
}
