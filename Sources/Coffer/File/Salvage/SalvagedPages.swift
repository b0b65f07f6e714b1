internal import SQLCipherBridge

/// The pages of a damaged database, and which of them can be trusted.
final class SalvagedPages {
    let pageCount: Int
    /// The bytes of a page that have content.
    let usableSize: Int
    /// The pages that are not as they were written, in order; those of zeros are not among them.
    let damagedPages: [Int]

    private let file: PageFile
    private let isDamaged: Set<Int>
    /// Stored pages that are likely to be asked for next.
    private var ahead: PageRun
    private let countAhead: Int

    /// Looks at all pages.
    ///
    /// - Parameter progress: called with the number of pages that are done.
    init(_ file: PageFile, threadCount: Int, progress: (Int) throws -> Void) throws {
        self.file = file
        pageCount = file.pageCount
        damagedPages = try file.survey(threadCount: threadCount, progress: progress) { try $0.unauthentic() }.flatMap(\.self)
        isDamaged = Set(damagedPages)
        ahead = PageRun(file)
        countAhead = max(1, 65536 / file.pageSize)
        var reserved = file.layout?.reserve ?? 0
        if file.pageCount > 0, file.layout == nil { reserved = Int(try file.content(1)[20]) }
        usableSize = file.pageSize - reserved
    }

    /// The content of a page; nil when there is none that can be trusted, or none at all.
    func content(_ number: Int) throws -> [UInt8]? { isDamaged.contains(number) ? nil : try storedContent(number) }

    /// The content of a page, whether or not its code is right.
    func storedContent(_ number: Int) throws -> [UInt8]? {
        guard (1...max(1, pageCount)).contains(number), number <= pageCount, number != file.lockPage else { return nil }
        if !ahead.numbers.contains(number) {
            // Trees are mostly written and read in order.
            let isInOrder = number == ahead.numbers.upperBound
            try ahead.read(number..<number + (isInOrder ? min(countAhead, pageCount - number + 1) : 1), from: file)
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
        BTreePage(content, number: number, usableSize: usableSize, pageCount: pageCount)
    }

    /// What page 1 says of the database; nil when it is damaged.
    func header() throws -> DatabaseHeader? { try content(1).flatMap { DatabaseHeader($0) } }

    /// The free pages, as far as the list of them can be followed, and whether that is all of it.
    func freePages() throws -> (pages: Set<Int>, isWhole: Bool) {
        guard let first = try content(1) else { return ([], false) }
        var pages: Set<Int> = []
        var trunk = Int(first[...].word(at: 32))
        while trunk > 0, let page = try content(trunk), pages.insert(trunk).inserted {
            let count = Int(page[...].word(at: 4))
            guard count <= usableSize / 4 - 2 else { return (pages, false) }
            for index in 0..<count { pages.insert(Int(page[...].word(at: 8 + 4 * index))) }
            trunk = Int(page[...].word(at: 0))
        }
        return (pages, pages.count == Int(first[...].word(at: 36)))
    }
}
