import CofferTestSupport
import Foundation
import KeyMaterial
import Testing

@Suite("Secret bytes")
struct SecretBytesTests {
    @Test("memory is zero after the end of a secret's life")
    func wiped() {
        let memory = RecordingMemory()
        memory.recording {
            let secret = SecretBytes(utf8: "correct horse battery staple")
            #expect(secret.count == 28)
            #expect(memory.live.contains(Array("correct horse battery staple".utf8)))
        }
        #expect(memory.liveCount == 0)
        #expect(!memory.released.isEmpty)
        #expect(memory.released.allSatisfy { $0.allSatisfy { $0 == 0 } })
    }

    @Test("a sequence of unknown length leaves no copy in outgrown buffers")
    func growing() {
        let memory = RecordingMemory()
        memory.recording {
            let expected = (0..<1000).map { UInt8(truncatingIfNeeded: $0 | 1) }
            var index = 0
            let secret = SecretBytes(
                AnySequence {
                    AnyIterator {
                        defer { index += 1 }
                        return index < expected.count ? expected[index] : nil
                    }
                })
            #expect(secret.withUnsafeBytes { unsafe Array($0) } == expected)
        }
        #expect(memory.released.count > 3)
        #expect(memory.released.allSatisfy { $0.allSatisfy { $0 == 0 } })
    }

    @Test("the pages of a secret are locked and excluded from core dumps")
    func pages() throws {
        func flags(of address: UInt) throws -> String? {
            var isInside = false
            let data =
                try FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/self/smaps")).readToEnd() ?? Data()
            for line in String(decoding: data, as: UTF8.self).split(separator: "\n") {
                let range = line.prefix { $0 != " " }.split(separator: "-").compactMap { UInt($0, radix: 16) }
                if range.count == 2 { isInside = range[0] <= address && address < range[1] }
                if isInside, line.hasPrefix("VmFlags:") { return String(line) }
            }
            return nil
        }
        /// Returns true if the kernel reports a locked page as locked. Sanitizers turn `mlock` into a no-op,
        /// and limits may prevent it.
        func canLockMemory() throws -> Bool {
            let page = unsafe mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
            defer { unsafe munmap(page, 4096) }
            guard unsafe page != MAP_FAILED, unsafe mlock(page, 4096) == 0 else { return false }
            return try flags(of: UInt(bitPattern: page))?.contains(" lo") ?? false
        }
        func addressOfDeadSecret() throws -> UInt {
            let secret = SecretBytes(count: 32)
            let address = secret.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
            let text = try #require(try flags(of: address))
            #expect(text.contains(" dd"))
            if try canLockMemory() {
                #expect(text.contains(" lo"))
            } else {
                print(
                    "Locked memory was not checked: this process cannot lock any (a sanitizer, or a limit of the system)."
                )
            }
            return address
        }
        _ = try addressOfDeadSecret()
    }

    @Test("comparison sees every byte and the count")
    func equality() {
        let a = SecretBytes([1, 2, 3])
        // The macros cannot expand noncopyable values.
        let answers = [
            a == SecretBytes([1, 2, 3]), a == SecretBytes([1, 2, 4]), a == SecretBytes([0, 2, 3]),
            a == SecretBytes([1, 2]), SecretBytes(count: 0) == SecretBytes(utf8: ""),
        ]
        #expect(answers == [true, false, false, false, true])
    }

    @Test("hexadecimal digits are written and read without a string")
    func hex() {
        let all = SecretBytes(0...255 as ClosedRange<UInt8>)
        var digits = SecretBytes(count: 512)
        digits.withUnsafeMutableBytes { digits in
            all.withUnsafeBytes { unsafe SecretHex.write($0, to: digits) }
        }
        let text = digits.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
        #expect(text == (0...255).map { String(format: "%02x", $0) }.joined())
        var back = SecretBytes(count: 256)
        let isRead = back.withUnsafeMutableBytes { back in
            digits.withUnsafeBytes { unsafe SecretHex.read($0, to: back) }
        }
        #expect(isRead)
        let isEqual = back == all
        #expect(isEqual)
    }

    @Test(
        "text other than hexadecimal digits is refused",
        arguments: ["0", "0g", "::", "  ", "0A0", "@@", "``"])
    func badHex(text: String) {
        let digits = SecretBytes(utf8: text)
        var target = SecretBytes(count: 8)
        let isRead = target.withUnsafeMutableBytes { target in
            digits.withUnsafeBytes { unsafe SecretHex.read($0, to: target) }
        }
        #expect(!isRead)
    }

    @Test("random bytes differ, also beyond the 256 bytes of one system call")
    func random() throws {
        let a = try SecretBytes.random(count: 1000)
        let b = try SecretBytes.random(count: 1000)
        let isEqual = a == b
        #expect(!isEqual)
        let tail = a.withUnsafeBytes { unsafe Set($0.suffix(200)) }
        #expect(tail.count > 60)
    }

    @Test("descriptions, mirrors and dumps do not reveal a shared secret")
    func redacted() {
        let secret = SharedSecret(SecretBytes(utf8: "hush"))
        var dumped = ""
        dump(secret, to: &dumped)
        for text in ["\(secret)", String(reflecting: secret), dumped] {
            #expect(!text.contains("hush"))
            #expect(!text.contains("104"))
        }
        #expect(Mirror(reflecting: secret).children.isEmpty)
    }
}
