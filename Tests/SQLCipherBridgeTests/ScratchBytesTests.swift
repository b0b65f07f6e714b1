import CofferTestSupport
import Foundation
import Testing

@testable import SQLCipherBridge

@Suite("Temporary files of a view")
struct ScratchBytesTests {
    /// The flags of a temporary database: a file that can be read, written and created, and is deleted on
    /// close.
    private static let flags: CInt = 0x2 | 0x4 | 0x8 | 0x10 | 0x200

    /// Returns the content on disk of temporary files that are already unlinked.
    private func storedFiles() throws -> [Data] {
        let folder = "/proc/self/fd"
        return try FileManager.default.contentsOfDirectory(atPath: folder).compactMap { name in
            let path = "\(folder)/\(name)"
            guard let link = try? FileManager.default.destinationOfSymbolicLink(atPath: path),
                link.contains("etilqs")
            else { return nil }
            return try? Data(contentsOf: URL(fileURLWithPath: path))
        }
    }

    private func read(_ scratch: ScratchBytes, at place: Int, count: Int) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var target = bytes.mutableSpan
        let done = try scratch.read(at: Int64(place), into: &target)
        return Array(bytes.prefix(done))
    }

    @Test("written data can be read back in any parts, and is never on the disk in the clear")
    func parts() throws {
        var random = SeededRandom("scratch")
        let scratch = try ScratchBytes(flags: ScratchBytesTests.flags)
        var expected: [UInt8] = []
        let word = Array("a secret word of a row ".utf8)
        for _ in 0..<300 {
            let start = Int.random(in: 0...60_000, using: &random)
            let count = [1, 7, 512, 4096, 5000, 20_000].randomElement(using: &random) ?? 1
            let shift = Int.random(in: 0..<word.count, using: &random)
            let bytes = (0..<count).map { word[($0 + shift) % word.count] }
            #expect(scratch.write(bytes.span, at: Int64(start)) == 0)
            if expected.count < start + count {
                expected += [UInt8](repeating: 0, count: start + count - expected.count)
            }
            expected.replaceSubrange(start..<start + count, with: bytes)
            #expect(scratch.size == Int64(expected.count))
            let place = Int.random(in: 0..<expected.count, using: &random)
            let some = try read(scratch, at: place, count: Int.random(in: 1...9000, using: &random))
            #expect(some == Array(expected[place..<place + some.count]))
        }
        #expect(try read(scratch, at: 0, count: expected.count + 1) == expected)
        let files = try storedFiles()
        #expect(files.contains { $0.count >= expected.count })
        #expect(!files.contains { $0.range(of: Data("secret".utf8)) != nil })
    }

    @Test("a sort that does not fit in memory uses encrypted temporary files")
    func sort() throws {
        /// A file in memory.
        final class Bytes: WritableBytes {
            var bytes: [UInt8] = []
            var size: Int64 { Int64(bytes.count) }
            func read(at offset: Int64, into target: inout MutableSpan<UInt8>) -> Int {
                let count = max(0, min(target.count, bytes.count - Int(offset)))
                for index in 0..<count { target[index] = bytes[Int(offset) + index] }
                return count
            }
            func write(_ source: Span<UInt8>, at offset: Int64) -> CInt {
                let end = Int(offset) + source.count
                if bytes.count < end { bytes += [UInt8](repeating: 0, count: end - bytes.count) }
                for index in 0..<source.count { bytes[Int(offset) + index] = source[index] }
                return 0
            }
            func truncate(to size: Int64) -> CInt {
                bytes.removeLast(max(0, bytes.count - Int(size)))
                return 0
            }
        }
        let connection = try FileView.open(writing: Bytes())
        let handle = connection.handle
        try handle.execute(
            """
            PRAGMA journal_mode = OFF; PRAGMA temp_store = FILE; PRAGMA cache_size = -100;
            CREATE TABLE item (title);
            WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000)
            INSERT INTO item SELECT printf('secret %09d', i * 7919 % 60000) FROM n
            """)
        var most = 0
        var isInTheClear = false
        let handler = ProgressHandler(handle, every: 50_000) {
            for file in (try? storedFiles()) ?? [] {
                most = max(most, file.count)
                if file.range(of: Data("secret".utf8)) != nil { isInTheClear = true }
            }
            return true
        }
        try handle.execute("CREATE INDEX item_title ON item (title)")
        handler.remove(from: handle)
        #expect(most > 1_000_000 && !isInTheClear, "\(most) bytes")
        #expect(try handle.column(trusted: "PRAGMA integrity_check") == ["ok"])
        #expect(
            try handle.column(trusted: "SELECT title FROM item INDEXED BY item_title ORDER BY title LIMIT 2")
                == ["secret 000000000", "secret 000000001"])
    }
}
