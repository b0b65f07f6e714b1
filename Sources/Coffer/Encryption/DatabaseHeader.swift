/// What the first page of a database says of it, once it is decrypted:
/// <https://www.sqlite.org/fileformat2.html#the_database_header>.
struct DatabaseHeader {
    /// How many bytes it has.
    static let size = 100

    /// What it begins with in a file that is not encrypted.
    static let magic = Array("SQLite format 3\0".utf8)

    private let bytes: ArraySlice<UInt8>

    /// - Parameter page: the content of page 1.
    /// - Returns: nil where there is less than a header.
    init?(_ page: [UInt8]) {
        guard page.count >= DatabaseHeader.size else { return nil }
        bytes = page[..<DatabaseHeader.size]
    }

    var pageSize: Int { DatabaseHeader.pageSize(bytes[16], bytes[17]) }

    /// The size of pages that two bytes stand for.
    static func pageSize(_ high: UInt8, _ low: UInt8) -> Int {
        let stored = Int(high) << 8 | Int(low)
        return stored == 1 ? 65536 : stored
    }

    /// The page that SQLite keeps its locks on and never uses: the one at 1 GiB.
    static func lockPage(pageSize: Int) -> Int { (1 << 30) / pageSize + 1 }

    /// The version of the format that a writer needs to know: 2 in WAL mode, else 1; and that of a reader.
    var versions: (write: UInt8, read: UInt8) { (bytes[18], bytes[19]) }

    /// How many bytes each page keeps for others at its end.
    var reservedSize: Int { Int(bytes[20]) }

    /// Whether readers have to look for a write-ahead log.
    var isInWAL: Bool { versions.read == 2 }

    /// Whether these bytes have the values that they have in each database: the fractions of a page that
    /// payloads may fill.
    var isPlausible: Bool { bytes[21...23] == [64, 32, 32] }

    /// How many pages the database has, where the last change has written that: see "In-header database
    /// size".
    var pageCount: Int? {
        let count = Int(bytes.word(at: 28))
        return count > 0 && bytes[24..<28] == bytes[92..<96] ? count : nil
    }

    /// The first page of the list of free pages, and how many pages are free.
    var freePages: (first: Int, count: Int) { (Int(bytes.word(at: 32)), Int(bytes.word(at: 36))) }

    /// How text is stored: 1 for UTF-8, 2 for UTF-16 with the low byte first, 3 with the high byte first.
    var textEncoding: Int { Int(bytes.word(at: 56)) }

    /// As `PRAGMA auto_vacuum` calls them: 0 for none, 1 for full, 2 for incremental.
    var autoVacuum: Int { bytes.word(at: 52) == 0 ? 0 : bytes.word(at: 64) == 0 ? 1 : 2 }

    /// Whether it says anything of auto-vacuum, be it a contradiction.
    var hasAutoVacuum: Bool { bytes.word(at: 52) != 0 || bytes.word(at: 64) != 0 }

    var userVersion: Int32 { Int32(bitPattern: bytes.word(at: 60)) }

    var applicationID: Int32 { Int32(bitPattern: bytes.word(at: 68)) }

    /// Sets to zero what the engine counts in each file for itself: the salt or magic, the versions for
    /// journal modes, the counters of changes, of the size, and of schema changes, and the version of the
    /// library.
    static func maskCounters(_ page: inout [UInt8]) {
        for range in [0..<16, 18..<20, 24..<32, 40..<44, 92..<100] {
            for index in range { page[index] = 0 }
        }
    }
}
