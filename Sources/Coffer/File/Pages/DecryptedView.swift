internal import SQLCipherBridge

/// The content of an encrypted file that nobody writes to, for the engine to read as one without encryption,
/// in memory only.
final class DecryptedView: StoredBytes {
    /// Which pages can be read.
    enum Readable {
        /// All, where codes are checked elsewhere.
        case all
        /// Those that have the right code.
        case authentic
        /// Those, and those of zeros, which are empty to the engine as well.
        case authenticOrZeros
    }

    let size: Int64
    private let file: PageFile
    private let readable: Readable
    /// Those that cannot be read among the pages that were read ahead.
    private var damaged: Set<Int> = []
    /// The first page that was asked for, and cannot be read.
    private(set) var refusedPage: Int?
    /// Stored pages that are likely to be asked for next, and at most how many.
    private var ahead: PageRun
    private let countAhead: Int
    /// For reads of parts of pages.
    private var page: [UInt8]

    /// - Parameter stored: the pages as they are stored.
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
            throw EngineError(code: EngineCode.corrupt, message: "The page \(number) is not authentic")
        }
        try ahead.decrypt(number, into: &target)
        // The salt is in its place.
        let magic = DatabaseHeader.magic
        if number == 1 && file.isEncrypted { target.copy(magic.span) }
    }

    private func damagedAhead() throws -> [Int] {
        switch readable {
        case .all: return []
        case .authenticOrZeros: return try ahead.unauthentic()
        case .authentic:
            // No page that is asked for is one that was never written.
            let zeros =
                file.isEncrypted ? ahead.numbers.filter { $0 != file.lockPage && ahead.isZero($0) } : []
            return try ahead.unauthentic() + zeros
        }
    }

    /// The pages that are read with one: trees are mostly written in order, read in order, and checked from
    /// their end to their start.
    private func likely(from number: Int) -> Range<Int> {
        if number == ahead.numbers.upperBound {
            return number..<min(number + countAhead, file.pageCount + 1)
        }
        if number == ahead.numbers.lowerBound - 1 { return max(1, number - countAhead + 1)..<number + 1 }
        return number..<number + 1
    }
}
