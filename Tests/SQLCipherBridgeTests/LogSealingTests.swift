import SQLCipherBridge
import Testing

@testable import SQLCipherBridge

@Suite("The missing checksums of a log")
struct LogSealingTests {
    /// A WAL in memory, in which some frames have no salts and no checksum, as the engine leaves them.
    private final class Log {
        let pageSize: Int
        var bytes: [UInt8]

        init(pageSize: Int, frames: Int, unsealed: ClosedRange<Int>?, isBigEndian: Bool) {
            self.pageSize = pageSize
            let magic: [UInt8] = [0x37, 0x7f, 0x06, isBigEndian ? 0x83 : 0x82]
            let size = (0..<4).map { UInt8(truncatingIfNeeded: pageSize >> (24 - 8 * $0)) }
            bytes = magic + [0, 0x2d, 0xe2, 0x18] + size + [0, 0, 0, 1] + Array(1...8)
            var sum = LogChecksum()
            sum.add(bytes[...], isBigEndian: isBigEndian)
            bytes += sum.stored
            for frame in 1...frames {
                let head: [UInt8] = [0, 0, 1, UInt8(frame), 0, 0, 0, frame == frames ? 9 : 0]
                let page = (0..<pageSize).map { UInt8(truncatingIfNeeded: $0 &* frame &+ 7) }
                sum.add(head[...], isBigEndian: isBigEndian)
                sum.add(page[...], isBigEndian: isBigEndian)
                let seal =
                    unsealed?.contains(frame) == true
                    ? [UInt8](repeating: 0, count: 16) : Array(1...8) + sum.stored
                bytes += head + seal + page
            }
        }

        func header(_ frame: Int) -> Int { 32 + (frame - 1) * (24 + pageSize) }

        func seal(before frame: Int, last: Int) throws -> [UInt8]? {
            let sealing = LogSealing { [self] offset, count throws(EngineError) in
                let end = Int(offset) + count
                return end <= bytes.count ? Array(bytes[Int(offset)..<end]) : nil
            } write: { [self] new, offset throws(EngineError) in
                bytes.replaceSubrange(Int(offset)..<Int(offset) + new.count, with: new)
            }
            let asked = frame == 1 ? 24 : header(frame - 1) + 16
            return try sealing.seal(beforeChecksumAt: Int64(asked), lastHeader: Int64(header(last)))
        }
    }

    @Test(
        "are written up to the frame that the engine rewrites first", arguments: [512, 4096, 65536],
        [false, true])
    func before(pageSize: Int, isBigEndian: Bool) throws {
        let whole = Log(pageSize: pageSize, frames: 9, unsealed: nil, isBigEndian: isBigEndian)
        for first in 1...8 {
            let log = Log(pageSize: pageSize, frames: 9, unsealed: first...9, isBigEndian: isBigEndian)
            // The engine itself writes the checksums of frames 8 and 9.
            let answer = try log.seal(before: 8, last: 9)
            let end = whole.header(8)
            #expect(log.bytes[..<end] == whole.bytes[..<end])
            #expect(
                answer
                    == (first < 8 ? Array(whole.bytes[(whole.header(7) + 16)..<(whole.header(7) + 24)]) : nil)
            )
        }
    }

    @Test("are written up to the commit if the requested frame was rolled back")
    func behind() throws {
        let whole = Log(pageSize: 1024, frames: 5, unsealed: nil, isBigEndian: false)
        for asked in 6...9 {
            let log = Log(pageSize: 1024, frames: 5, unsealed: 3...5, isBigEndian: false)
            let answer = try log.seal(before: asked, last: 5)
            #expect(log.bytes == whole.bytes)
            #expect(answer == Array(whole.bytes[(whole.header(5) + 16)..<(whole.header(5) + 24)]))
        }
    }

    @Test("are not written if none precede the requested frame")
    func none() throws {
        let log = Log(pageSize: 512, frames: 5, unsealed: 2...5, isBigEndian: false)
        let before = log.bytes
        #expect(try log.seal(before: 1, last: 5) == nil)
        #expect(try log.seal(before: 2, last: 5) == nil)
        #expect(log.bytes == before)
    }

    @Test("make the commit fail if a frame cannot be read")
    func unreadable() throws {
        let log = Log(pageSize: 512, frames: 5, unsealed: 3...5, isBigEndian: false)
        log.bytes.removeLast(100)
        #expect(throws: EngineError.self) { try log.seal(before: 9, last: 5) }
    }
}

extension LogChecksum {
    fileprivate var stored: [UInt8] {
        [first, second].flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> (24 - 8 * $0)) } }
    }
}
