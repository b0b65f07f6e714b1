import CofferTestSupport
import Foundation
import SQLCipherBridge
import Testing

@testable import Coffer

@Suite("Pages that are encrypted as they are written")
struct SealedPagesTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    private static func protection() throws -> FileProtection {
        try FileProtection.encrypted(.rawKey(ShellFile.key), cipher: CipherSettings())
    }

    /// A file that is written and read page by page, with its expected content.
    private final class Model {
        let pages: SealedPages
        private(set) var contents: [Int: [UInt8]] = [:]

        init(_ file: HeldFile) throws { pages = try SealedPages(file, SealedPagesTests.protection()) }

        func write(_ number: Int, _ byte: UInt8) {
            var content = [UInt8](repeating: byte, count: 4096 - 80) + [UInt8](repeating: 0, count: 80)
            // The first page has the salt at its start.
            if number == 1 { content.replaceSubrange(0..<16, with: DatabaseHeader.magic) }
            contents[number] = content
            #expect(pages.write(content.span, at: Int64(number - 1) * 4096) == 0)
        }

        /// Returns true if a page reads as last written, or as zeros if it was never written.
        func isRight(_ number: Int) throws -> Bool {
            var content = [UInt8](repeating: 0xaa, count: 4096)
            var target = content.mutableSpan
            let count = try pages.read(at: Int64(number - 1) * 4096, into: &target)
            return count == 4096 && content == contents[number] ?? [UInt8](repeating: 0, count: 4096)
        }
    }

    @Test("the last written content is read, even if older content was read ahead")
    func rewritten() throws {
        let model = try Model(HeldFile(creating: directory.path("a.db")))
        for number in 1...300 { model.write(number, 1) }
        #expect(model.pages.flush() == 0)
        model.write(100, 2)
        // From here on, pages are read ahead.
        for number in 97...99 { #expect(try model.isRight(number)) }
        #expect(model.pages.flush() == 0)
        #expect(try model.isRight(100))
    }

    @Test("pages are stored with their written content, in any order")
    func anyOrder() throws {
        let file = try HeldFile(creating: directory.path("a.db"))
        let model = try Model(file)
        var random = SeededRandom("order of pages")
        var next = 1
        for step in 0..<6000 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<5:
                model.write(next, UInt8(truncatingIfNeeded: step))
                // Occasionally leaves a gap.
                next += Int.random(in: 0..<20, using: &random) == 0 ? 2 : 1
            case 5, 6:
                model.write(Int.random(in: 1..<next + 1, using: &random), UInt8(truncatingIfNeeded: step))
            case 7 where step % 50 == 0:
                #expect(model.pages.flush() == 0)
            default:
                let first = Int.random(in: 1..<next + 1, using: &random)
                let end = min(first + 5, Int(model.pages.size / 4096))
                for number in first..<max(first, end) {
                    #expect(try model.isRight(number), "\(step): \(number)")
                }
            }
        }
        #expect(model.pages.flush() == 0)
        let stored = try PageFile(file, SealedPagesTests.protection())
        #expect(stored.pageCount == model.contents.keys.max())
        for number in 1...stored.pageCount {
            var expected = model.contents[number] ?? [UInt8](repeating: 0, count: 4096)
            if number == 1 { expected.replaceSubrange(0..<16, with: [UInt8](repeating: 0, count: 16)) }
            #expect(try stored.content(number) == expected, "\(number)")
        }
        let damaged = try stored.damagedPages().notAuthentic
        #expect(damaged.isEmpty)
    }

    @Test("content that is read backwards is the written content")
    func backwards() throws {
        let file = try HeldFile(creating: directory.path("a.db"))
        let model = try Model(file)
        for number in 1...200 { model.write(number, UInt8(number)) }
        #expect(model.pages.flush() == 0)
        let view = try DecryptedView(file, SealedPagesTests.protection())
        for number in Array((1...200).reversed()) + [50, 49, 48, 60, 61, 62, 1, 2, 200, 199] {
            let content = try view.read(at: Int64(number - 1) * 4096, count: 4096)
            #expect(content == model.contents[number], "\(number)")
        }
    }

    @Test("the file is released with its pages, even if the thread that writes them starts late")
    func letGo() throws {
        // All threads that the system provides are busy, so none becomes available for the pages before the
        // end.
        let (threads, gate) = (DispatchGroup(), DispatchSemaphore(value: 0))
        let count = 600
        for _ in 0..<count { DispatchQueue.global().async(group: threads) { gate.wait() } }
        defer {
            for _ in 0..<count { gate.signal() }
            threads.wait()
        }
        weak var left: HeldFile?
        do {
            let file = try HeldFile(creating: directory.path("a.db"))
            left = file
            let model = try Model(file)
            for number in 1...300 { model.write(number, 1) }
            #expect(model.pages.flush() == 0)
        }
        #expect(left == nil)
    }
}
