/// The pages of a write-ahead log that belong to committed transactions.
struct CommittedLog: Equatable {
    /// Where the last content of a page is, in bytes from the start of the log.
    private(set) var offsets: [Int: Int64] = [:]
    /// The size of the database after the last commit, in pages; nil when there is no commit.
    private(set) var pageCount: Int?

    /// - Parameter read: bytes of the log; fewer at its end.
    init(pageSize: Int, read: @escaping (_ offset: Int64, _ count: Int) throws -> [UInt8]) throws {
        guard let log = try WriteAheadLog(read: read), log.isOfKnownVersion, log.pageSize == pageSize else { return }
        var uncommitted: [Int: Int64] = [:]
        try log.forEachFrame { frame in
            uncommitted[frame.page] = frame.offset
            guard let count = frame.committedPageCount else { return }
            pageCount = count
            offsets.merge(uncommitted) { $1 }
            uncommitted = [:]
        }
    }
}
