internal import SQLCipherBridge
internal import Synchronization

/// Compares the content of two encrypted files, page by page.
struct PageComparison {
    /// Nothing writes to either file.
    let source: PageFile
    let copy: PageFile
    let path: String

    /// The number of bytes of pages that one thread compares at once.
    private static let partSize = 1 << 18

    /// Reads both files once.
    ///
    /// - Parameters:
    ///   - threadCount: the maximum number of comparing threads, including the current one, which reads for
    ///     all of them.
    ///   - note: called with the number of each page and the digest of its content.
    /// - Returns: the digest of their content, as hexadecimal digits.
    /// - Throws: ``DatabaseFileError/Reason/damaged(pages:)`` for the source,
    ///   ``DatabaseFileError/Reason/copyRejected(_:)`` for the copy.
    func run(threadCount: Int, progress: ProgressReport, note: (Int, [UInt8]) -> Void) throws -> String {
        let digest = try RunningPageDigest()
        try compare(source.parts(of: PageComparison.partSize), threadCount, .withDigests, progress) {
            number, page in
            try digest.add(digestOf: page)
            note(number, page)
        }
        return try digest.finish()
    }

    /// Reads both files once, on one thread, without computing a digest.
    ///
    /// - Throws: the same errors as ``run(threadCount:progress:note:)``.
    func run(progress: ProgressReport) throws {
        try compare(source.parts(of: PageComparison.partSize), 1, .alone, progress) { _, _ in }
    }

    /// Compares some pages, and checks their MACs in the copy.
    ///
    /// - Parameters:
    ///   - pages: ranges in order, each small enough to be read at once.
    ///   - note: called with the number of each page and the digest of its content.
    func run(_ pages: [Range<Int>], note: (Int, [UInt8]) -> Void) throws {
        try compare(pages, 1, .withDigests, ProgressReport(nil, isCancellable: false), note)
    }

    private func compare(
        _ parts: some Sequence<Range<Int>>, _ threadCount: Int, _ work: PagePair.Work,
        _ progress: ProgressReport, _ note: (Int, [UInt8]) throws -> Void
    ) throws {
        try checkSize()
        let total = source.pageCount
        var parts = parts.makeIterator()
        let portions = total * source.pageSize / PageComparison.partSize + 1
        let (mine, theirs, pageSize, path) = (source.runs, copy.runs, source.pageSize, path)
        var zeroPages: [Int] = []
        try PartedWork<PagePair, PagePair.Found>.run(
            threadCount: PageFile.threadCount(threadCount, portions: portions),
            makeRoom: {
                PagePair(
                    try mine.makeRun(), try theirs.makeRun(), pageSize: pageSize, path: path, work: work)
            },
            read: { place in
                guard let pages = parts.next() else { return false }
                try progress(.verifying, pages.lowerBound - 1, of: total)
                var (mine, theirs) = place.room.withLock { $0.emptied() }
                try source.read(pages, into: &mine)
                try copy.read(pages, into: &theirs)
                place.room.withLock { [mine, theirs] in $0.fill(pages, mine, theirs) }
                return true
            },
            work: { pair in try pair.compare() },
            take: { found in
                zeroPages += found.zeroPages
                for (number, digest) in found.digests { try note(number, digest) }
            })
        try progress(.verifying, total, of: total)
        // The copy step checked the MACs of the source. All-zero pages have no MAC.
        let damaged = try source.used(zeroPages)
        guard damaged.isEmpty else { throw DatabaseFileError(.damaged(pages: damaged), path: path) }
    }

    private func checkSize() throws(DatabaseFileError) {
        let total = source.pageCount
        guard copy.pageSize == source.pageSize, copy.pageCount == total else {
            throw DatabaseFileError(
                .copyRejected("it has \(copy.pageCount) pages instead of \(total)"), path: path)
        }
        guard copy.excess == 0 else {
            throw DatabaseFileError(
                .copyRejected("it has \(copy.excess) bytes after its last page"), path: path)
        }
    }
}

/// The same pages of two files.
private struct PagePair: ~Copyable {
    enum Work {
        case alone, withDigests
    }

    /// The results for pages that are equal.
    struct Found {
        /// The all-zero pages.
        var zeroPages: [Int] = []
        var digests: [(number: Int, digest: [UInt8])] = []
    }

    private let path: String
    private let work: Work
    private var mine: PageRun
    private var theirs: PageRun
    private var content: [UInt8]
    private var other: [UInt8]

    init(_ mine: consuming PageRun, _ theirs: consuming PageRun, pageSize: Int, path: String, work: Work) {
        self.mine = mine
        self.theirs = theirs
        self.path = path
        self.work = work
        content = [UInt8](repeating: 0, count: pageSize)
        other = content
    }

    /// Takes the page buffers out for refilling.
    mutating func emptied() -> ([UInt8], [UInt8]) { (mine.emptied(), theirs.emptied()) }

    mutating func fill(_ pages: Range<Int>, _ mine: [UInt8], _ theirs: [UInt8]) {
        self.mine.fill(pages, mine)
        self.theirs.fill(pages, theirs)
    }

    /// - Throws: ``DatabaseFileError/Reason/copyRejected(_:)``.
    mutating func compare() throws -> Found {
        var found = Found()
        let digest = try RunningPageDigest()
        for number in mine.numbers where number != mine.lockPage {
            if mine.isZero(number) { found.zeroPages.append(number) }
            try compare(number)
            try theirs.checkCode(number, path: path)
            if work == .withDigests { found.digests.append((number, try digest.digest(number, &content))) }
        }
        return found
    }

    private mutating func compare(_ number: Int) throws {
        try mine.decrypt(number, into: &content)
        try theirs.decrypt(number, into: &other)
        if number == 1 {
            // The salt, or the SQLite magic in its place.
            for index in 0..<16 { (content[index], other[index]) = (0, 0) }
        }
        guard content.span.isEqual(to: other.span) else {
            throw DatabaseFileError(.copyRejected("its page \(number) has different content"), path: path)
        }
    }
}

extension PageRun {
    /// Checks the MAC of one page of a copy with libcrypto. In a copy, every page that SQLite uses was
    /// written.
    ///
    /// - Throws: ``DatabaseFileError/Reason/copyRejected(_:)``.
    fileprivate func checkCode(_ number: Int, path: String) throws {
        guard try number == lockPage || authenticates(number) else {
            throw DatabaseFileError(.copyRejected("its page \(number) has a wrong MAC"), path: path)
        }
    }
}
