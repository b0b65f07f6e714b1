/// The header on the first page of a decrypted database:
/// <https://www.sqlite.org/fileformat2.html#the_database_header>.
struct DatabaseHeader {
    /// The size of the header in bytes.
    static let size = 100

    /// The first bytes of an unencrypted file.
    static let magic = Array("SQLite format 3\0".utf8)

    private let bytes: ArraySlice<UInt8>

    /// - Parameter page: the content of page 1.
    /// - Returns: nil if the page is shorter than a header.
    init?(_ page: [UInt8]) {
        guard page.count >= DatabaseHeader.size else { return nil }
        bytes = page[..<DatabaseHeader.size]
    }

    var pageSize: Int { DatabaseHeader.pageSize(bytes[16], bytes[17]) }

    /// Returns the page size that two bytes encode.
    static func pageSize(_ high: UInt8, _ low: UInt8) -> Int {
        let stored = Int(high) << 8 | Int(low)
        return stored == 1 ? 65536 : stored
    }

    /// Returns true if SQLite supports pages of a size.
    static func isPageSize(_ size: some BinaryInteger) -> Bool {
        (512...65536).contains(Int(clamping: size)) && Int(clamping: size).nonzeroBitCount == 1
    }

    /// Returns the number of the page at 1 GiB, on which SQLite places its locks and stores no data.
    static func lockPage(pageSize: Int) -> Int { (1 << 30) / pageSize + 1 }

    /// The format versions for writers and for readers: 2 in WAL mode, else 1.
    var versions: (write: UInt8, read: UInt8) { (bytes[18], bytes[19]) }

    /// The number of reserved bytes at the end of each page.
    var reservedSize: Int { Int(bytes[20]) }

    /// True if readers have to look for a write-ahead log.
    var isInWAL: Bool { versions.read == 2 }

    /// True if the payload fractions have the values that they have in every database.
    var isPlausible: Bool { bytes[21...23] == [64, 32, 32] }

    /// The number of pages of the database, if the last writer has updated it: see "In-header database size".
    var pageCount: Int? {
        let count = Int(bytes.word(at: 28))
        return count > 0 && bytes[24..<28] == bytes[92..<96] ? count : nil
    }

    /// The first page of the freelist, and the number of free pages.
    var freePages: (first: Int, count: Int) { (Int(bytes.word(at: 32)), Int(bytes.word(at: 36))) }

    /// The text encoding: 1 for UTF-8, 2 for UTF-16 with the low byte first, 3 with the high byte first.
    var textEncoding: Int { Int(bytes.word(at: 56)) }

    /// The value of `PRAGMA auto_vacuum`: 0 for none, 1 for full, 2 for incremental.
    var autoVacuum: Int { bytes.word(at: 52) == 0 ? 0 : bytes.word(at: 64) == 0 ? 1 : 2 }

    /// True if any auto-vacuum field is set, even if the fields contradict each other.
    var hasAutoVacuum: Bool { bytes.word(at: 52) != 0 || bytes.word(at: 64) != 0 }

    var userVersion: Int32 { Int32(bitPattern: bytes.word(at: 60)) }

    var applicationID: Int32 { Int32(bitPattern: bytes.word(at: 68)) }

    /// Returns true if page 1, given from its start, has a possible b-tree header of the schema's root after
    /// the database header. Of ten million pages of random bytes, about one passes.
    static func precedesRootOfSchema(_ page: [UInt8], pageSize: Int) -> Bool {
        guard page.count >= size + 8 else { return false }
        // A leaf page, or a page above others; its first free block; the number of cells, whose pointers
        // follow; the start of their content; and a small number of fragmented bytes.
        let numbers = [101, 103, 105].map { Int(page[$0]) << 8 | Int(page[$0 + 1]) }
        guard let headerSize = [13: 8, 5: 12][page[100]], numbers[0] < pageSize, page[107] <= 60
        else { return false }
        let start = numbers[2] == 0 ? 65536 : numbers[2]
        return start <= pageSize && start >= size + headerSize + 2 * numbers[1]
    }

    /// Zeroes the fields that differ between equal databases: the salt or magic, the versions for journal
    /// modes, the change counter and the size, the schema cookie, and the last fields, with the version of
    /// the library.
    static func maskCounters(_ page: inout [UInt8]) {
        for range in [0..<16, 18..<20, 24..<32, 40..<44, 92..<100] {
            for index in range { page[index] = 0 }
        }
    }
}
