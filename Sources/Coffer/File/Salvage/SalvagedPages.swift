internal import SQLCipherBridge

/// The pages of a damaged database, and which of them can be trusted.
final class SalvagedPages {
    /// The size that the database is said to have.
    let pageCount: Int
    /// The pages that are stored.
    let present: PresentPages
    /// The bytes of a page that have content.
    let usableSize: Int
    /// The pages that are not as they were written, in order.
    let damagedPages: [Int]

    private let file: PageFile
    /// Of each stored page.
    private var isDamaged: [Bool]
    /// Stored pages that are likely to be asked for next.
    private var ahead: PageRun
    private let countAhead: Int

    /// Looks at all pages.
    ///
    /// - Parameters:
    ///   - unreadable: the pages that the disk does not give, among those that were read.
    ///   - progress: called with the number of pages that are done.
    init(
        _ file: PageFile, unreadable: UnreadablePages? = nil, threadCount: Int, progress: (Int) throws -> Void
    ) throws {
        self.file = file
        pageCount = file.pageCount
        present = file.present
        let found = try file.damagedPages(threadCount: threadCount, progress: progress)
        isDamaged = [Bool](repeating: false, count: present.count)
        // A page of a disk that fails may have been given for the header and not afterwards.
        for number in [found.notAuthentic, found.zeroed, Array(unreadable?.numbers ?? [])].joined() {
            if let index = present.index(of: number) { isDamaged[index] = true }
        }
        damagedPages = zip(present.numbers, isDamaged).compactMap { $1 ? $0 : nil }
        ahead = PageRun(file)
        countAhead = max(1, 65536 / file.pageSize)
        var reserved = file.layout?.reserve ?? 0
        if file.pageCount > 0, file.layout == nil, let start = DatabaseHeader(try file.content(1)),
            start.isPlausible
        {
            reserved = start.reservedSize
        }
        usableSize = file.pageSize - reserved
    }

    /// The content of a page; nil when there is none that can be trusted, or none at all.
    func content(_ number: Int) throws -> [UInt8]? {
        guard let index = present.index(of: number), !isDamaged[index] else { return nil }
        return try storedContent(number)
    }

    /// The content of a page, whether or not its code is right.
    func storedContent(_ number: Int) throws -> [UInt8]? {
        guard present.contains(number), number != file.lockPage else { return nil }
        if !ahead.numbers.contains(number) {
            // Trees are mostly written and read in order.
            let isInOrder = number == ahead.numbers.upperBound
            try ahead.read(
                number..<number + (isInOrder ? min(countAhead, pageCount - number + 1) : 1), from: file)
        }
        guard file.layout == nil || !ahead.isZero(number) else { return nil }
        var content = [UInt8](repeating: 0, count: file.pageSize)
        try ahead.decrypt(number, into: &content)
        return content
    }

    /// A page of a b-tree, if the page can be trusted and is one.
    func tree(_ number: Int) throws -> BTreePage? { try content(number).flatMap { page($0, number) } }

    /// A page of a b-tree from a content, whether or not it can be trusted.
    func page(_ content: [UInt8], _ number: Int) -> BTreePage? {
        BTreePage(content, number: number, usableSize: usableSize, pageCount: present.count)
    }

    /// What page 1 says of the database; nil when it is damaged.
    func header() throws -> DatabaseHeader? {
        guard let header = try content(1).flatMap({ DatabaseHeader($0) }), header.isPlausible else {
            return nil
        }
        return header
    }

    /// Calls `body` with the free pages, as far as the list of them can be followed.
    ///
    /// - Returns: whether that is all of it.
    func forEachFreePage(_ body: (Int) -> Void) throws -> Bool {
        guard try header() != nil, let first = try content(1) else { return false }
        var (count, trunkCount) = (0, 0)
        var trunk = Int(first[...].word(at: 32))
        // A list with a loop ends with more pages than there are.
        while trunk > 0, trunkCount < present.count, let page = try content(trunk) {
            trunkCount += 1
            let leafCount = Int(page[...].word(at: 4))
            guard leafCount <= usableSize / 4 - 2 else { return false }
            body(trunk)
            for index in 0..<leafCount { body(Int(page[...].word(at: 8 + 4 * index))) }
            count += 1 + leafCount
            trunk = Int(page[...].word(at: 0))
        }
        return trunk == 0 && count == Int(first[...].word(at: 36))
    }
}
