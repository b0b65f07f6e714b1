import CofferTestSupport
import SQLCipherBridge
import Testing

@testable import Coffer

@Suite("The pages of a damaged database")
struct SalvagedPagesTests {
    private let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    /// A file that others change, and a disk that fails, while it is read.
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

    @Test("a page that has changed since it was read is not believed, whichever way it is read again")
    func changedLater() throws {
        let (file, pages) = try makeFile()
        for number in 1...40 { #expect(try pages.content(number) != nil, "\(number)") }
        for number in [3, 20, 38] { file.bytes[(number - 1) * 4096 + 2000] ^= 1 }
        // One by one, and with those before it.
        for number in [20, 2, 3, 4, 37, 38, 39] {
            #expect(try pages.content(number) == nil ? [3, 20, 38].contains(number) : true, "\(number)")
        }
        for number in [3, 20, 38] { #expect(try pages.content(number) == nil, "\(number)") }
        #expect(try pages.content(5) != nil)
        #expect(try pages.damagedPages {} == [3, 20, 38])
        // What was damaged once stays so.
        for number in [3, 20, 38] { file.bytes[(number - 1) * 4096 + 2000] ^= 1 }
        for number in [3, 20, 38] { #expect(try pages.content(number) == nil, "\(number)") }
    }

    @Test("what the disk gives no more is damage, and what nobody asked for is looked at in the end")
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

    @Test("no page is read more than twice, however trees jump")
    func jumps() throws {
        let (file, pages) = try makeFile()
        file.readCount = 0
        let count = file.bytes.count / 4096
        // Pairs of pages at random places, as rows that go on on another page have.
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
