internal import SQLCipherBridge

/// The pages of a damaged database, with a record of which ones can be trusted.
final class SalvagedPages {
    /// The claimed size of the database in pages. The file may have more pages.
    let pageCount: Int
    /// The pages that are stored.
    let present: PresentPages
    /// The number of bytes in a page without the reserved ones.
    let usableSize: Int

    private let file: PageFile
    /// The pages that the disk could not read, among those read so far.
    private let unreadable: UnreadablePages?
    /// The mark of each stored page.
    private var marks: [Mark]
    /// The read-ahead buffer: stored pages that are likely to be requested next. Each was checked after it
    /// was read.
    private var ahead: PageRun
    private let greatestCountAhead: Int

    private enum Mark: UInt8 {
        case unknown, good
        /// An all-zero page of an encrypted file, which has no content for the engine.
        case zero
        case damaged
    }

    /// - Parameter unreadable: the bytes that `file` reads, if the disk may fail to read some of them.
    init(_ file: PageFile, unreadable: UnreadablePages? = nil) throws {
        self.file = file
        self.unreadable = unreadable
        pageCount = file.pageCount
        present = file.present
        marks = [Mark](repeating: .unknown, count: present.count)
        ahead = PageRun(file)
        greatestCountAhead = max(1, 65536 / file.pageSize)
        usableSize = try file.pageSize - file.reservedSize()
    }

    /// Returns the content of a page; nil if it has none, or none that can be trusted.
    func content(_ number: Int) throws -> [UInt8]? {
        guard let index = try load(number), marks[index] == .good else { return nil }
        return try loadedContent(number)
    }

    /// Returns the content of a page, even if its MAC is wrong.
    func storedContent(_ number: Int) throws -> [UInt8]? {
        try load(number) == nil ? nil : loadedContent(number)
    }

    /// Puts a page into the read-ahead buffer, and checks it. The page is never trusted because of an earlier
    /// check: another process or a failing disk may have changed it since.
    ///
    /// - Returns: the index of the page among the stored ones; nil for a page that is not stored, or that
    ///   SQLite never uses.
    private func load(_ number: Int) throws -> Int? {
        guard let index = present.index(of: number), number != file.lockPage else { return nil }
        if !ahead.numbers.contains(number) {
            // B-trees are usually written and read in order.
            let isInOrder = number == ahead.numbers.upperBound
            let count = isInOrder ? min(2 * ahead.numbers.count, greatestCountAhead) : 1
            try ahead.read(number..<max(number + 1, min(number + count, pageCount + 1)), from: file)
            try checkAhead()
        }
        return index
    }

    private func loadedContent(_ number: Int) throws -> [UInt8]? {
        guard file.layout == nil || !ahead.isZero(number) else { return nil }
        var content = [UInt8](repeating: 0, count: file.pageSize)
        try ahead.decrypt(number, into: &content)
        return content
    }

    /// Marks the pages that were just read. A page that was damaged once stays damaged.
    private func checkAhead() throws {
        var bad = try ahead.unauthentic()
        if let unreadable { bad += ahead.numbers.filter(unreadable.numbers.contains) }
        for number in ahead.numbers {
            guard let index = present.index(of: number), marks[index] != .damaged else { continue }
            marks[index] = file.isEncrypted && number != file.lockPage && ahead.isZero(number) ? .zero : .good
        }
        for index in bad.compactMap(present.index) { marks[index] = .damaged }
    }

    /// Returns the damaged pages, in order: pages with a wrong MAC, all-zero pages that should have content,
    /// and pages that the disk cannot read. Reads the pages that were not requested before.
    ///
    /// - Parameter progress: called now and then.
    func damagedPages(progress: () throws -> Void) throws -> [Int] {
        var index = 0
        while let first = marks[index...].firstIndex(of: .unknown) {
            let number = present.number(at: first)
            index = first + 1
            while index < marks.count, index - first < greatestCountAhead, marks[index] == .unknown,
                present.number(at: index) == number + index - first
            {
                index += 1
            }
            try progress()
            try ahead.read(number..<number + index - first, from: file)
            try checkAhead()
        }
        func pages(_ mark: Mark) -> [Int] {
            marks.indices.filter { marks[$0] == mark }.map(present.number).filter { $0 <= pageCount }
        }
        return (pages(.damaged) + (try file.used(pages(.zero)))).sorted()
    }

    /// Returns a page of a b-tree; nil if it cannot be trusted, or is not a b-tree page.
    func tree(_ number: Int) throws -> BTreePage? { try content(number).flatMap { page($0, number) } }

    /// Parses a page of a b-tree from its content, even if it cannot be trusted.
    func page(_ content: [UInt8], _ number: Int) -> BTreePage? {
        BTreePage(content, number: number, usableSize: usableSize, pageCount: present.count)
    }

    /// Returns the database header on page 1; nil if page 1 is damaged.
    func header() throws -> DatabaseHeader? {
        guard let header = try content(1).flatMap({ DatabaseHeader($0) }), header.isPlausible else {
            return nil
        }
        return header
    }

    /// Returns the number of pages at the end of the database that are not stored, because the file was cut
    /// off.
    func missingCount() throws -> Int { max(0, (try header()?.pageCount ?? pageCount) - present.count) }

    /// Calls `body` with the free pages, as far as the free list can be followed, and with the pages after
    /// the end of the database: a file may be longer than its database.
    ///
    /// - Returns: true if the whole list was read.
    func forEachFreePage(_ body: (Int) -> Void) throws -> Bool {
        for number in present.numbers where number > pageCount { body(number) }
        guard try header() != nil, let first = try content(1) else { return false }
        var (count, trunkCount) = (0, 0)
        var trunk = Int(first[...].word(at: 32))
        // The trunk count stops a list with a loop.
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
