internal import SQLCipherBridge

/// The pages of a damaged database, and which of them can be trusted.
final class SalvagedPages {
    /// The size that the database is said to have. The file may have more pages.
    let pageCount: Int
    /// The pages that are stored.
    let present: PresentPages
    /// The bytes of a page that have content.
    let usableSize: Int

    private let file: PageFile
    /// The pages that the disk does not give, among those that were read so far.
    private let unreadable: UnreadablePages?
    /// What is known of each stored page.
    private var marks: [Mark]
    /// Stored pages that are likely to be asked for next. Each was checked after it was read.
    private var ahead: PageRun
    private let greatestCountAhead: Int

    private enum Mark: UInt8 {
        case unknown, good
        /// Nothing but zeros, where pages are encrypted: without content, as the engine sees it.
        case zero
        case damaged
    }

    /// - Parameter unreadable: the bytes that the file reads, where the disk may not give all of them.
    init(_ file: PageFile, unreadable: UnreadablePages? = nil) throws {
        self.file = file
        self.unreadable = unreadable
        pageCount = file.pageCount
        present = file.present
        marks = [Mark](repeating: .unknown, count: present.count)
        ahead = PageRun(file)
        greatestCountAhead = max(1, 65536 / file.pageSize)
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
        guard let index = try load(number), marks[index] == .good else { return nil }
        return try loadedContent(number)
    }

    /// The content of a page, whether or not its code is right.
    func storedContent(_ number: Int) throws -> [UInt8]? {
        try load(number) == nil ? nil : loadedContent(number)
    }

    /// Has a page among those that were read last, and checked as they were read: what another process, or a
    /// disk that fails, has made of it since it was read before is not believed.
    ///
    /// - Returns: which stored page it is; nil for one that is not stored, or never used.
    private func load(_ number: Int) throws -> Int? {
        guard let index = present.index(of: number), number != file.lockPage else { return nil }
        if !ahead.numbers.contains(number) {
            // Trees are mostly written and read in order.
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

    /// Marks the pages that were just read. Those that were damaged once stay so.
    private func checkAhead() throws {
        var bad = try ahead.unauthentic()
        if let unreadable { bad += ahead.numbers.filter(unreadable.numbers.contains) }
        for number in ahead.numbers {
            guard let index = present.index(of: number), marks[index] != .damaged else { continue }
            marks[index] = file.isEncrypted && number != file.lockPage && ahead.isZero(number) ? .zero : .good
        }
        for index in bad.compactMap(present.index) { marks[index] = .damaged }
    }

    /// The pages that are not as they were written, in order: without the right code, zeros where there was
    /// content, or not given by the disk. Those that were not asked for before are read now.
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

    /// Calls `body` with the free pages, as far as the list of them can be followed, and with those behind
    /// the end of the database: a file may be longer.
    ///
    /// - Returns: whether that is all of it.
    func forEachFreePage(_ body: (Int) -> Void) throws -> Bool {
        for number in present.numbers where number > pageCount { body(number) }
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
