import CofferTestSupport
import SQLCipherBridge
import Testing

@Suite("Incremental digests")
struct ContentDigestTests {
    @Test(
        "a digest of parts of any size, on this thread or another, equals the digest of all bytes",
        arguments: [false, true])
    func parts(isBeside: Bool) throws {
        var random = SeededRandom("parts of a digest")
        let digest = try ContentDigest(isBeside: isBeside)
        for _ in 0..<20 {
            var all: [UInt8] = []
            while all.count < 1_000_000 {
                let sizes = [0, 1, 16, 4000, 32_768, 32_769, 65_536, 200_000]
                let size = sizes.randomElement(using: &random) ?? 0
                let part = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ all.count) }
                all += part
                try digest.update(part.span)
            }
            #expect(try digest.finish() == Digest.sha256(all))
            // An unfinished digest does not count.
            try digest.restart()
            try digest.update([1, 2, 3].span)
            try digest.restart()
        }
    }
}
