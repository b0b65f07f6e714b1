import CofferTestSupport
import SQLCipherBridge
import Testing

@testable import Coffer

@Suite("The pages of a damaged database")
struct SalvagedPagesTests {
    private let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    /// A file that changes, or whose disk fails, while it is read.
    private final class ChangingFile: StoredBytes {
        var bytes: [UInt8]
        var readCount = 0
        var isFailing = false

        init(_ bytes: [UInt8]) { self.bytes = bytes }

        var size: Int64 { Int64(bytes.count) }

        func read(at offset: Int64, into target: inout MutableSpan<UInt8>) throws -> Int {
            if isFailing { throw EngineError(code: EngineCode.ioError, message: "disk I/O error") }
            let part = bytes[Int(offset)..<min(bytes.count, Int(offset) + target.count)]
            target.copy(part.span)
            readCount += part.count / 4096
            return part.count
        }
    }

    private func makeFile() throws -> (ChangingFile, SalvagedPages) {
        try directory.makeFile(rows: 2000)
        let file = ChangingFile(try directory.bytes(of: "a.db"))
        let unreadable = UnreadablePages(file, pageSize: 4096)
        let protection = try FileProtection.encrypted(Keys.old, cipher: CipherSettings())
        return (file, try SalvagedPages(PageFile(unreadable, protection), unreadable: unreadable))
    }

    @Test("a page that has changed since it was read is rejected, in every way of reading it again")
    func changedLater() throws {
        let (file, pages) = try makeFile()
        for number in 1...40 { #expect(try pages.content(number) != nil, "\(number)") }
        for number in [3, 20, 38] { file.bytes[(number - 1) * 4096 + 2000] ^= 1 }
        // One at a time, and with the pages before it.
        for number in [20, 2, 3, 4, 37, 38, 39] {
            #expect(try pages.content(number) == nil ? [3, 20, 38].contains(number) : true, "\(number)")
        }
        for number in [3, 20, 38] { #expect(try pages.content(number) == nil, "\(number)") }
        #expect(try pages.content(5) != nil)
        #expect(try pages.damagedPages {} == [3, 20, 38])
        // Once found damaged, a page stays damaged.
        for number in [3, 20, 38] { file.bytes[(number - 1) * 4096 + 2000] ^= 1 }
        for number in [3, 20, 38] { #expect(try pages.content(number) == nil, "\(number)") }
    }

    @Test("pages that become unreadable count as damaged, and pages outside all trees are read at the end")
    func lostLater() throws {
        let (file, pages) = try makeFile()
        let count = file.bytes.count / 4096
        #expect(try pages.content(7) != nil)
        file.bytes[(count - 1) * 4096 + 30] ^= 1
        // The root of a table.
        for index in 4096..<2 * 4096 { file.bytes[index] = 0 }
        file.isFailing = true
        #expect(try pages.content(11) == nil)
        file.isFailing = false
        #expect(try pages.content(8) != nil)
        let damaged = try pages.damagedPages {}
        #expect(damaged == [2, 11, count], "\(damaged)")
    }

    @Test("no page is read more than twice, in any order of access")
    func jumps() throws {
        let (file, pages) = try makeFile()
        file.readCount = 0
        let count = file.bytes.count / 4096
        // Pairs of pages at random places, as for rows that continue on another page.
        var random = SeededRandom("jumps")
        for first in stride(from: 1, to: count, by: 2).shuffled(using: &random) {
            _ = try (pages.content(first), pages.content(first + 1))
        }
        #expect(file.readCount <= count * 2, "\(file.readCount) of \(count)")
        file.readCount = 0
        for number in 1...count { _ = try pages.content(number) }
        #expect(file.readCount <= count)
    }
}
