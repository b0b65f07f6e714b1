internal import KeyMaterial
internal import SQLCipherBridge
internal import Synchronization

/// The stored pages of a database file, read through a connection's own descriptor, and their content.
struct PageFile {
    /// The number of whole pages of the database that are stored.
    ///
    /// As in SQLite, the header states how many pages the database has, and the file may be longer: programs
    /// and file systems preallocate space, and a transfer may add bytes. If the header does not state it, the
    /// size of the file or of the log determines it.
    let pageCount: Int
    /// The number of pages that the header states; nil if it states none, or if page 1 is damaged.
    let declaredPageCount: Int?
    /// The pages of the database that are stored.
    let present: PresentPages
    /// The number of bytes after the last whole page of the database.
    let excess: Int64

    var pageSize: Int { coder.pageSize }

    /// See ``DatabaseHeader/lockPage(pageSize:)``.
    var lockPage: Int { coder.lockPage }

    var isEncrypted: Bool { coder.cipher != nil }

    /// The encrypted page layout; nil for plaintext.
    var layout: PageCipher.Layout? { coder.cipher?.single.layout }

    private let bytes: any StoredBytes
    private let protection: FileProtection
    private let start: FileHeader
    fileprivate let coder: PageCoder

    /// - Throws: ``EngineError``, ``KeyError``, ``CryptographyFailure``.
    init(_ handle: ConnectionHandle, _ protection: FileProtection) throws {
        try self.init(ConnectionBytes(handle), protection)
    }

    /// - Parameter present: the pages that are stored; nil for all pages.
    init(_ bytes: any StoredBytes, _ protection: FileProtection, present: PresentPages? = nil) throws {
        start = try FileHeader(bytes, count: 100)
        self.bytes = bytes
        self.protection = protection
        coder = try PageCoder(protection, start)
        let storedCount = Int(bytes.size) / coder.pageSize
        declaredPageCount = storedCount > 0 ? try coder.declaredPageCount(bytes) : nil
        pageCount = min(storedCount, declaredPageCount ?? storedCount)
        self.present = present ?? PresentPages(upTo: pageCount)
        excess = bytes.size - Int64(pageCount) * Int64(coder.pageSize)
    }

    /// A factory of page runs for other threads, which work on pages that this thread reads.
    var runs: PageRuns { PageRuns(protection: protection, start: start) }

    /// Reads stored pages to the start of a buffer, growing it if necessary. Used to fill a run of another
    /// thread.
    func read(_ numbers: Range<Int>, into buffer: inout [UInt8]) throws {
        let count = numbers.count * pageSize
        if buffer.count < count { buffer = [UInt8](repeating: 0, count: count) }
        var target = buffer.mutableSpan
        let done = try target.withPart(0..<count) {
            try bytes.read(at: Int64(numbers.lowerBound - 1) * Int64(pageSize), into: &$0)
        }
        guard done == count else {
            throw EngineError.corrupt("The file became shorter while it was being read")
        }
    }

    /// Returns the pages that are not authentic, if pages have MACs, and the pages that are all zeros without
    /// being free.
    ///
    /// - Parameters:
    ///   - usesLanes: false to check MACs with libcrypto only. Required if the SIMD lanes sealed the pages
    ///     and nothing else checks their MACs.
    ///   - threadCount: see ``survey(threadCount:progress:_:)``.
    ///   - progress: called now and then with the number of finished pages.
    func damagedPages(
        usesLanes: Bool = true, threadCount: Int = 1,
        progress: (Int) throws -> Void = { _ in }
    ) throws -> (notAuthentic: [Int], zeroed: [Int]) {
        // A page of a plaintext file may legitimately be all zeros.
        let (isEncrypted, lockPage) = (isEncrypted, lockPage)
        let parts = try survey(threadCount: threadCount, progress: progress) { run in
            let zeros = isEncrypted ? run.numbers.filter { $0 != lockPage && run.isZero($0) } : []
            return (damaged: try usesLanes ? run.unauthentic() : run.unauthenticOneByOne(), zeros: zeros)
        }
        return (parts.flatMap(\.damaged), try used(parts.flatMap(\.zeros)))
    }

    /// Throws `damaged` with the numbers of the pages that are damaged, if there are any.
    func checkIsUndamaged(_ path: String) throws {
        let damaged = try damagedPages()
        let pages = (damaged.notAuthentic + damaged.zeroed).sorted()
        guard pages.isEmpty else { throw DatabaseFileError(.damaged(pages: pages), path: path) }
    }

    /// Returns the given pages without the free ones. Free pages have no content, and may never have been
    /// written.
    func used(_ pages: [Int]) throws -> [Int] {
        guard !pages.isEmpty else { return [] }
        let free = try FreeList.leaves(pageCount: pageCount, content: content)
        return pages.filter { !free.contains($0) }
    }

    /// Returns the database header on page 1; nil if there is no page.
    func header() throws -> DatabaseHeader? { pageCount > 0 ? try DatabaseHeader(content(1)) : nil }

    /// Returns the decrypted content of one page.
    func content(_ number: Int) throws -> [UInt8] {
        var run = PageRun(self)
        try run.read(number..<number + 1, from: self)
        var page = [UInt8](repeating: 0, count: pageSize)
        try run.decrypt(number, into: &page)
        return page
    }

    /// Returns all stored pages, in ranges of at most `size` bytes.
    func parts(of size: Int) -> some Sequence<Range<Int>> { present.parts(of: max(1, size / pageSize)) }

    /// Returns the number of threads for a number of portions of pages: at most one per portion, and at most
    /// 64, which limits memory.
    static func threadCount(_ wanted: Int, portions: Int) -> Int { max(1, min(wanted, portions, 64)) }

    /// Reads all stored pages, one megabyte at a time.
    ///
    /// - Parameters:
    ///   - progress: called now and then with the number of finished pages.
    ///   - body: called with consecutive pages.
    func forEachRun(progress: (Int) throws -> Void = { _ in }, _ body: (borrowing PageRun) throws -> Void)
        throws
    {
        var run = PageRun(self)
        for pages in parts(of: 1 << 20) {
            try progress(pages.lowerBound - 1)
            try run.read(pages, from: self)
            try body(run)
        }
        try progress(pageCount)
    }

    /// Examines all stored pages on several threads. The current thread reads a quarter of a megabyte at a
    /// time, and all threads examine the pages it has read.
    ///
    /// - Parameters:
    ///   - threadCount: the maximum number of threads, including the current one.
    ///   - progress: called on the current thread, now and then, with the number of finished pages.
    ///   - look: called with consecutive pages, on any of the threads.
    /// - Returns: the findings, in page order.
    func survey<Finding: Sendable>(
        threadCount: Int, progress: (Int) throws -> Void,
        _ look: @escaping @Sendable (borrowing PageRun) throws -> Finding
    ) throws -> [Finding] {
        let partSize = 1 << 18
        var parts = parts(of: partSize).makeIterator()
        let runs = runs
        var findings: [Finding] = []
        var readCount = 0
        try PartedWork<PageRun, Finding>.run(
            threadCount: PageFile.threadCount(
                threadCount, portions: (present.count * pageSize + partSize - 1) / partSize),
            makeRoom: { try runs.makeRun() },
            read: { place in
                guard let pages = parts.next() else { return false }
                try progress(readCount)
                readCount += pages.count
                var buffer = place.room.withLock { $0.emptied() }
                try read(pages, into: &buffer)
                place.room.withLock { [buffer] in $0.fill(pages, buffer) }
                return true
            },
            work: { run in try look(run) },
            take: { findings.append($0) })
        try progress(readCount)
        return findings
    }
}

/// A factory of page runs, each with a cipher of its own, for use on one thread.
struct PageRuns: Sendable {
    fileprivate let protection: FileProtection
    fileprivate let start: FileHeader

    func makeRun() throws -> sending PageRun { PageRun(try PageCoder(protection, start)) }
}

/// The page layout and the cipher of a file. An instance is used by one thread at a time.
private struct PageCoder {
    let pageSize: Int
    let lockPage: Int
    /// Nil for plaintext.
    let cipher: BulkCipher?

    init(_ protection: FileProtection, _ header: FileHeader) throws {
        if let ring = protection.ring, let material = try protection.material(fileSalt: header.salt) {
            cipher = try BulkCipher(
                key: material.secret.bytes, salt: material.salt ?? header.salt,
                layout: PageCipher.Layout(ring.settings))
            pageSize = ring.settings.pageSize
        } else {
            cipher = nil
            pageSize = header.plaintextPageSize
        }
        lockPage = DatabaseHeader.lockPage(pageSize: pageSize)
    }

    /// Returns the number of pages that page 1 states; nil if it states none, or if page 1 is not authentic.
    func declaredPageCount(_ bytes: any StoredBytes) throws -> Int? {
        var page = try bytes.read(at: 0, count: pageSize)
        guard page.count == pageSize else { return nil }
        if let cipher = cipher?.single {
            guard !page.span.isZero, try cipher.authenticates(page.span, number: 1) else { return nil }
            page = try cipher.decrypt(page, number: 1)
        }
        guard let header = DatabaseHeader(page), header.isPlausible else { return nil }
        return header.pageCount
    }
}

/// The stored bytes of consecutive pages, which are read at once.
struct PageRun: ~Copyable {
    /// The numbers of the pages.
    private(set) var numbers = 0..<0
    private let coder: PageCoder
    private var bytes: [UInt8] = []

    init(_ file: PageFile) { self.init(file.coder) }

    fileprivate init(_ coder: PageCoder) { self.coder = coder }

    /// Reads pages of the file that this run was made for, replacing the previous ones.
    mutating func read(_ numbers: Range<Int>, from file: PageFile) throws {
        var buffer = emptied()
        try file.read(numbers, into: &buffer)
        fill(numbers, buffer)
    }

    /// Takes the buffer out for refilling; the run is then empty.
    mutating func emptied() -> [UInt8] {
        var buffer: [UInt8] = []
        swap(&buffer, &bytes)
        numbers = 0..<0
        return buffer
    }

    /// Adopts pages that were read at the start of `bytes`.
    mutating func fill(_ numbers: Range<Int>, _ bytes: [UInt8]) {
        precondition(bytes.count >= numbers.count * coder.pageSize)
        (self.numbers, self.bytes) = (numbers, bytes)
    }

    /// Returns the offsets of some of the pages in the buffer.
    private func place(_ part: Range<Int>) -> Range<Int> {
        precondition(part.lowerBound >= numbers.lowerBound && part.upperBound <= numbers.upperBound)
        let start = (part.lowerBound - numbers.lowerBound) * coder.pageSize
        return start..<start + part.count * coder.pageSize
    }

    /// Calls `body` with the stored bytes of one of the pages.
    private func withPage<Result, Failure: Error>(
        _ number: Int, _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result { try body(bytes.span.extracting(place(number..<number + 1))) }

    /// See ``DatabaseHeader/lockPage(pageSize:)``.
    var lockPage: Int { coder.lockPage }

    /// Returns true if a page is all zeros, like one that was never written.
    func isZero(_ number: Int) -> Bool { withPage(number) { $0.isZero } }

    /// Returns true if a page has the right MAC, or if pages have no MACs.
    func authenticates(_ number: Int) throws(CryptographyFailure) -> Bool {
        try withPage(number) { page throws(CryptographyFailure) in
            try coder.cipher?.single.authenticates(page, number: UInt32(truncatingIfNeeded: number)) ?? true
        }
    }

    /// Returns the pages that do not have the right MAC, in order. Leaves out all-zero pages, which have no
    /// MAC, and the page that SQLite never uses.
    func unauthentic() throws(CryptographyFailure) -> [Int] {
        guard let cipher = coder.cipher else { return [] }
        let first = UInt32(truncatingIfNeeded: numbers.lowerBound)
        let found = try cipher.unauthentic(bytes.span.extracting(place(numbers)), first: first)
        return found.map { numbers.lowerBound + Int($0 &- first) }.filter {
            $0 != coder.lockPage && !isZero($0)
        }
    }

    /// Returns the same pages as ``unauthentic()``, using libcrypto only.
    fileprivate func unauthenticOneByOne() throws(CryptographyFailure) -> [Int] {
        var found: [Int] = []
        for number in numbers where number != coder.lockPage && !isZero(number) {
            if try !authenticates(number) { found.append(number) }
        }
        return found
    }

    /// Decrypts a page. Like the engine, it treats an all-zero page as one that was never written, with no
    /// content.
    ///
    /// - Parameter content: a buffer of one page.
    func decrypt(_ number: Int, into content: inout MutableSpan<UInt8>) throws(CryptographyFailure) {
        try withPage(number) { page throws(CryptographyFailure) in
            guard let cipher = coder.cipher?.single, !page.isZero else { return content.copy(page) }
            try cipher.decrypt(page, number: UInt32(truncatingIfNeeded: number), into: &content)
        }
    }

    func decrypt(_ number: Int, into content: inout [UInt8]) throws(CryptographyFailure) {
        var target = content.mutableSpan
        try decrypt(number, into: &target)
    }

    /// Decrypts some of the pages, with SIMD lanes if there are any. The caller has to verify the result page
    /// by page with libcrypto before publishing it.
    ///
    /// The result for the page that SQLite never uses is meaningless.
    func decrypt(_ part: Range<Int>, into contents: inout MutableSpan<UInt8>) throws(CryptographyFailure) {
        let pages = bytes.span.extracting(place(part))
        guard let cipher = coder.cipher else { return contents.copy(pages) }
        try cipher.decrypt(pages, first: UInt32(truncatingIfNeeded: part.lowerBound), into: &contents)
        for (index, number) in part.enumerated() where isZero(number) {
            contents.clear(index * coder.pageSize..<(index + 1) * coder.pageSize)
        }
    }
}

/// The list of free pages: <https://www.sqlite.org/fileformat2.html#the_freelist>.
enum FreeList {
    /// - Parameter content: returns the content of a page.
    /// - Returns: the leaf pages of the free list that exist.
    static func leaves(pageCount: Int, content: (Int) throws -> [UInt8]) rethrows -> Set<Int> {
        guard pageCount > 0 else { return [] }
        func word(_ page: [UInt8], _ index: Int) -> Int { Int(page[...].word(at: 4 * index)) }
        var leaves: Set<Int> = []
        var trunks: Set<Int> = []
        var trunk = word(try content(1), 8)
        // A damaged list may have a loop, or lead out of the file.
        while trunk > 1, trunk <= pageCount, trunks.insert(trunk).inserted {
            let page = try content(trunk)
            let count = word(page, 1)
            guard count <= page.count / 4 - 2 else { break }
            for index in 0..<count {
                let leaf = word(page, index + 2)
                if leaf <= pageCount { leaves.insert(leaf) }
            }
            trunk = word(page, 0)
        }
        return leaves
    }
}

/// The main database file of a connection.
final class ConnectionBytes: StoredBytes {
    let size: Int64
    private let handle: ConnectionHandle

    init(_ handle: ConnectionHandle) throws(EngineError) {
        self.handle = handle
        size = try handle.fileSize() ?? 0
    }

    func read(at offset: Int64, into target: inout MutableSpan<UInt8>) throws -> Int {
        try handle.readFile(at: offset, into: &target)
    }
}

extension StoredBytes {
    /// Reads up to `count` bytes, or fewer at the end.
    func read(at offset: Int64, count: Int) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: max(0, Int(min(Int64(count), size - offset))))
        var target = bytes.mutableSpan
        let done = try read(at: offset, into: &target)
        return done == bytes.count ? bytes : Array(bytes.prefix(done))
    }

    /// Fills the target as far as there are bytes, and returns how many were read.
    func read(at offset: Int64, filling target: inout [UInt8]) throws -> Int {
        var span = target.mutableSpan
        return try read(at: offset, into: &span)
    }
}

extension FileHeader {
    init(_ bytes: any StoredBytes, count: Int) throws {
        self.init(size: bytes.size, start: try bytes.read(at: 0, count: count))
    }
}
