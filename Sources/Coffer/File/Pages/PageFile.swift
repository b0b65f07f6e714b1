internal import KeyMaterial
internal import SQLCipherBridge

/// The stored pages of a database file, read through a connection's own descriptor, and what is in them.
struct PageFile {
    let pageSize: Int
    /// How many whole pages the file has.
    let pageCount: Int
    /// How many bytes follow the last whole page.
    let excess: Int
    /// See ``DatabaseHeader/lockPage(pageSize:)``.
    let lockPage: Int

    var isEncrypted: Bool { cipher != nil }

    /// How pages are encrypted; nil for plaintext.
    var layout: PageCipher.Layout? { cipher?.layout }

    private let bytes: any StoredBytes
    private let cipher: PageCipher?

    /// - Throws: ``EngineError``, ``KeyError``, ``CryptographyFailure``.
    init(_ handle: ConnectionHandle, _ protection: FileProtection) throws {
        try self.init(ConnectionBytes(handle), protection)
    }

    init(_ bytes: any StoredBytes, _ protection: FileProtection) throws {
        let header = try FileHeader(bytes, count: 100)
        let size = Int(bytes.size)
        self.bytes = bytes
        if let ring = protection.ring, let material = try protection.material(fileSalt: header.salt) {
            cipher = try PageCipher(
                key: material.secret.bytes, salt: material.salt ?? header.salt, layout: PageCipher.Layout(ring.settings))
            pageSize = ring.settings.pageSize
        } else {
            cipher = nil
            pageSize = header.plaintextPageSize
        }
        pageCount = size / pageSize
        excess = size % pageSize
        lockPage = DatabaseHeader.lockPage(pageSize: pageSize)
    }

    /// Fills the target, which holds whole pages, with their stored bytes, from the one with number `first` on.
    func read(_ first: Int, into target: inout MutableSpan<UInt8>) throws {
        guard try bytes.read(at: Int64(first - 1) * Int64(pageSize), into: &target) == target.count else {
            throw EngineError(code: EngineCode.corrupt, message: "The file has become shorter while it was read")
        }
    }

    /// Whether the stored bytes of a page carry the right code; true for pages that carry none.
    func authenticates(_ page: Span<UInt8>, number: Int) throws(CryptographyFailure) -> Bool {
        try cipher?.authenticates(page, number: UInt32(truncatingIfNeeded: number)) ?? true
    }

    /// The content of a page. A page of zeros is one that was never written, and has no content, as the engine sees it.
    func decrypt(_ page: Span<UInt8>, number: Int, into target: inout MutableSpan<UInt8>) throws(CryptographyFailure) {
        guard let cipher, !page.isZero else { return target.copy(page) }
        try cipher.decrypt(page, number: UInt32(truncatingIfNeeded: number), into: &target)
    }

    /// The pages that are not authentic, where pages carry codes, and those that are zeros without being free.
    ///
    /// - Parameters:
    ///   - last: the last page that is looked at.
    ///   - progress: called now and then with the number of pages that are done.
    func damagedPages(
        upTo last: Int = .max, progress: (Int) throws -> Void = { _ in }
    ) throws -> (notAuthentic: [Int], zeroed: [Int]) {
        var (damaged, zeros): ([Int], [Int]) = ([], [])
        try forEachPage(progress: progress) { number, run in
            guard number <= last else { return }
            // A plaintext page may well be nothing but zeros.
            if isEncrypted && run.isZero(number) {
                zeros.append(number)
            } else if try !run.authenticates(number) {
                damaged.append(number)
            }
        }
        return (damaged, try used(zeros))
    }

    /// Those of some pages that are in use: the others are free and have no content, so that they may never have been written.
    func used(_ pages: [Int]) throws -> [Int] {
        guard !pages.isEmpty else { return [] }
        let free = try FreeList.leaves(pageCount: pageCount, content: content)
        return pages.filter { !free.contains($0) }
    }

    /// What page 1 says of the database; nil where there is no page.
    func header() throws -> DatabaseHeader? { pageCount > 0 ? try DatabaseHeader(content(1)) : nil }

    /// The decrypted content of one page.
    func content(_ number: Int) throws -> [UInt8] {
        var run = PageRun(self)
        try run.read(number..<number + 1)
        var page = [UInt8](repeating: 0, count: pageSize)
        try run.decrypt(number, into: &page)
        return page
    }

    /// All whole pages, in parts that have no more than a number of bytes.
    func parts(of size: Int) -> some Sequence<Range<Int>> {
        let chunk = max(1, size / pageSize)
        return stride(from: 1, through: pageCount, by: chunk).lazy.map { [pageCount] in $0..<min($0 + chunk, pageCount + 1) }
    }

    /// Goes through all whole pages but the one that SQLite never uses.
    ///
    /// - Parameters:
    ///   - progress: called now and then with the number of pages that are done.
    ///   - body: called with the number of a page, and pages of which it is one.
    func forEachPage(progress: (Int) throws -> Void = { _ in }, _ body: (Int, borrowing PageRun) throws -> Void) throws {
        var run = PageRun(self)
        for pages in parts(of: 1 << 20) {
            try progress(pages.lowerBound - 1)
            try run.read(pages)
            for number in pages where number != lockPage { try body(number, run) }
        }
        try progress(pageCount)
    }
}

/// The stored bytes of pages that follow each other, which are read at once.
struct PageRun: ~Copyable {
    /// Which pages there are.
    private(set) var numbers = 0..<0
    private let file: PageFile
    private var bytes: [UInt8] = []

    init(_ file: PageFile) { self.file = file }

    /// Reads pages, in place of those that were there.
    mutating func read(_ numbers: Range<Int>) throws {
        self.numbers = 0..<0
        let count = numbers.count * file.pageSize
        if bytes.count < count { bytes = [UInt8](repeating: 0, count: count) }
        let file = file
        var target = bytes.mutableSpan
        try target.withPart(0..<count) { try file.read(numbers.lowerBound, into: &$0) }
        self.numbers = numbers
    }

    /// Calls `body` with the stored bytes of one of the pages.
    func withPage<Result, Failure: Error>(_ number: Int, _ body: (Span<UInt8>) throws(Failure) -> Result) throws(Failure) -> Result {
        precondition(numbers.contains(number))
        let start = (number - numbers.lowerBound) * file.pageSize
        return try body(bytes.span.extracting(start..<start + file.pageSize))
    }

    /// Whether a page is nothing but zeros, as one that was never written.
    func isZero(_ number: Int) -> Bool { withPage(number) { $0.isZero } }

    func authenticates(_ number: Int) throws(CryptographyFailure) -> Bool {
        try withPage(number) { page throws(CryptographyFailure) in try file.authenticates(page, number: number) }
    }

    /// - Parameter content: of the size of a page.
    func decrypt(_ number: Int, into content: inout [UInt8]) throws(CryptographyFailure) {
        try withPage(number) { page throws(CryptographyFailure) in
            var target = content.mutableSpan
            try file.decrypt(page, number: number, into: &target)
        }
    }
}

/// The list of free pages: <https://www.sqlite.org/fileformat2.html#the_freelist>.
enum FreeList {
    /// - Parameter content: the content of a page.
    static func leaves(pageCount: Int, content: (Int) throws -> [UInt8]) rethrows -> Set<Int> {
        guard pageCount > 0 else { return [] }
        func word(_ page: [UInt8], _ index: Int) -> Int { Int(page[...].word(at: 4 * index)) }
        var leaves: Set<Int> = []
        var trunks: Set<Int> = []
        var trunk = word(try content(1), 8)
        // A damaged list may have a loop, and lead anywhere.
        while trunk > 1, trunk <= pageCount, trunks.insert(trunk).inserted {
            let page = try content(trunk)
            let count = word(page, 1)
            guard count <= page.count / 4 - 2 else { break }
            for index in 0..<count { leaves.insert(word(page, index + 2)) }
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
    /// Up to `count` bytes, fewer at the end.
    func read(at offset: Int64, count: Int) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: max(0, Int(min(Int64(count), size - offset))))
        var target = bytes.mutableSpan
        let done = try read(at: offset, into: &target)
        return done == bytes.count ? bytes : Array(bytes.prefix(done))
    }

    /// Fills all of the target, as far as there are bytes, and returns how many there were.
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
