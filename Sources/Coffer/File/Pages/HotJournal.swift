/// The pages that a rollback journal plays back, of a process that ended in the middle of a transaction.
struct HotJournal: Equatable {
    /// Where the content of a page from before the transaction is, in bytes from the start of the journal.
    private(set) var offsets: [Int: Int64] = [:]
    /// The size of the database before the transaction, in pages; nil when nothing is to be played back.
    private(set) var pageCount: Int?

    /// - Parameters:
    ///   - size: of the journal, in bytes.
    ///   - read: reads from the journal.
    ///   - exists: whether there is a file at a path: a journal that belongs to a transaction on several files is void without their common one.
    init(pageSize: Int, size: Int64, read: @escaping BlockReader.Read, exists: ([UInt8]) throws -> Bool) throws {
        let journal = try RollbackJournal(defaultPageSize: pageSize, size: size, read: read, exists: exists)
        guard let journal, journal.pageSize == pageSize else { return }
        pageCount = journal.pageCount
        try journal.forEachRecord { page, offset, _ in offsets[page] = offset }
    }
}
