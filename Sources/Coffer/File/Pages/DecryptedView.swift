internal import SQLCipherBridge

/// An encrypted file that nothing writes to, presented to the engine as a plaintext file. The plaintext
/// exists only in memory.
final class DecryptedView: StoredBytes {
    /// The pages that can be read.
    enum Readable {
        /// All pages: the MACs are checked elsewhere.
        case all
        /// The pages with the right MAC.
        case authentic
        /// The pages with the right MAC, and all-zero pages, which the engine also treats as empty.
        case authenticOrZeros
    }

    let size: Int64
    private let file: PageFile
    private let readable: Readable
    /// The pages in the read-ahead buffer that cannot be read.
    private var damaged: Set<Int> = []
    /// The first requested page that could not be read.
    private(set) var refusedPage: Int?
    /// The read-ahead buffer: stored pages that are likely to be requested next, at most `countAhead`.
    private var ahead: PageRun
    private let countAhead: Int
    /// A buffer for reads of parts of pages.
    private var page: [UInt8]

    /// - Parameter stored: the encrypted pages.
    init(_ stored: any StoredBytes, _ protection: FileProtection, readable: Readable = .all) throws {
        self.readable = readable
        file = try PageFile(stored, protection)
        size = Int64(file.pageCount) * Int64(file.pageSize)
        ahead = PageRun(file)
        countAhead = max(1, 65536 / file.pageSize)
        page = [UInt8](repeating: 0, count: file.pageSize)
    }

    func read(at offset: Int64, into target: inout MutableSpan<UInt8>) throws -> Int {
        let pageSize = Int64(file.pageSize)
        let count = Int(max(0, min(Int64(target.count), size - offset)))
        if offset % pageSize == 0 && count == file.pageSize {
            try decrypt(Int(offset / pageSize) + 1, into: &target)
            return count
        }
        var done = 0
        while done < count {
            let position = offset + Int64(done)
            try decryptPage(Int(position / pageSize) + 1)
            let start = Int(position % pageSize)
            let length = min(count - done, file.pageSize - start)
            let page = page
            target.copy(page.span.extracting(start..<start + length), at: done)
            done += length
        }
        return done
    }

    private func decryptPage(_ number: Int) throws {
        var content = page
        page = []
        defer { page = content }
        var target = content.mutableSpan
        try decrypt(number, into: &target)
    }

    private func decrypt(_ number: Int, into target: inout MutableSpan<UInt8>) throws {
        if !ahead.numbers.contains(number) {
            try ahead.read(likely(from: number), from: file)
            damaged = Set(try damagedAhead())
        }
        guard !damaged.contains(number) else {
            if refusedPage == nil { refusedPage = number }
            throw EngineError.corrupt("The page \(number) is not authentic")
        }
        try ahead.decrypt(number, into: &target)
        // The file has the salt there.
        let magic = DatabaseHeader.magic
        if number == 1 && file.isEncrypted { target.copy(magic.span) }
    }

    private func damagedAhead() throws -> [Int] {
        switch readable {
        case .all: return []
        case .authenticOrZeros: return try ahead.unauthentic()
        case .authentic:
            // The engine requests only pages with content, so an all-zero page is damaged.
            let zeros =
                file.isEncrypted ? ahead.numbers.filter { $0 != file.lockPage && ahead.isZero($0) } : []
            return try ahead.unauthentic() + zeros
        }
    }

    /// Returns the pages to read together with one: b-trees are usually written in order, read in order, and
    /// checked from end to start.
    private func likely(from number: Int) -> Range<Int> {
        if number == ahead.numbers.upperBound {
            return number..<min(number + countAhead, file.pageCount + 1)
        }
        if number == ahead.numbers.lowerBound - 1 { return max(1, number - countAhead + 1)..<number + 1 }
        return number..<number + 1
    }
}
