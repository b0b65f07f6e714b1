import CPageLanes
import CofferTestSupport
import Foundation
import KeyMaterial
import Testing

@testable import SQLCipherBridge

@Suite("Lanes for pages")
struct PageLanesTests {
    /// The kinds of lanes that this machine supports. There are none on other processors, where there is
    /// nothing to test.
    static let kinds = PageLanes.available.filter { $0 != .libcrypto }

    private static func bytes(_ hexadecimal: String) -> [UInt8] {
        let digits = hexadecimal.filter { !$0.isWhitespace }.map { UInt8($0.hexDigitValue ?? 0) }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    private func native(_ lanes: PageLanes) -> page_lanes_kind { page_lanes_kind(UInt32(lanes.rawValue)) }

    // MARK: Known answers

    /// RFC 4231, 4.2 to 4.5.
    static let codes: [(key: [UInt8], message: [UInt8], code: [UInt8])] = [
        (
            [UInt8](repeating: 0x0b, count: 20), Array("Hi There".utf8),
            bytes(
                """
                87aa7cdea5ef619d4ff0b4241a1d6cb02379f4e2ce4ec2787ad0b30545e17cde
                daa833b7d6b8a702038b274eaea3f4e4be9d914eeb61f1702e696c203a126854
                """)
        ),
        (
            Array("Jefe".utf8), Array("what do ya want for nothing?".utf8),
            bytes(
                """
                164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea250554
                9758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737
                """)
        ),
        (
            [UInt8](repeating: 0xaa, count: 20), [UInt8](repeating: 0xdd, count: 50),
            bytes(
                """
                fa73b0089d56a284efb0f0756c890be9b1b5dbdd8ee81a3655f83e33b2279d39
                bf3e848279a722c806b485a47e67c807b946a337bee8942674278859e13292fb
                """)
        ),
        (
            [UInt8](1...25), [UInt8](repeating: 0xcd, count: 50),
            bytes(
                """
                b0ba465637458c6990e5a8c5f61d4af7e576d97ff94b872de76f8050361ee3db
                a91ca5c11aa25eb4d679275cc5788063a5f19741120c4f2de2adebeb10a298dd
                """)
        ),
    ]

    @Test("HMAC-SHA512 has the answers of RFC 4231, in each lane", arguments: kinds, 1...8)
    func knownCodes(_ lanes: PageLanes, _ count: Int) {
        for (key, message, code) in PageLanesTests.codes {
            var state = page_lanes_code_key()
            unsafe page_lanes_code_key_init(&state, key, key.count)
            // The last four bytes are passed like a page number.
            let length = message.count - 4
            let messages = (0..<count).flatMap { _ in message }
            let tails = (0..<count).flatMap { _ in message.suffix(4) }
            var codes = [UInt8](repeating: 0, count: 64 * count)
            unsafe page_lanes_codes(
                native(lanes), &state, count, messages, message.count, length, tails, &codes)
            for lane in 0..<count {
                #expect(Array(codes[64 * lane..<64 * (lane + 1)]) == code, "lane \(lane)")
            }
        }
    }

    /// NIST SP 800-38A, F.2.5 and F.2.6.
    private static let cipherKey = bytes("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4")
    private static let cipherIV = bytes("000102030405060708090a0b0c0d0e0f")
    private static let plaintext = bytes(
        """
        6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51
        30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710
        """)
    private static let ciphertext = bytes(
        """
        f58c4c04d6e5f1ba779eabfb5f7bfbd69cfc4e967edb808d679f777bc6702c7d
        39f23369a9d9bacfa530e26304231461b2eb05e2c39be9fcda6c19078c6a9d1b
        """)

    @Test("AES-256-CBC encryption matches NIST SP 800-38A in each lane", arguments: kinds, 1...8)
    func knownEncryption(_ lanes: PageLanes, _ count: Int) {
        var key = page_lanes_cipher_key()
        unsafe page_lanes_cipher_key_init(&key, PageLanesTests.cipherKey)
        let inputs = (0..<count).flatMap { _ in PageLanesTests.plaintext }
        let ivs = (0..<count).flatMap { _ in PageLanesTests.cipherIV + [UInt8](repeating: 0, count: 48) }
        var outputs = [UInt8](repeating: 0, count: 64 * count)
        unsafe page_lanes_encrypt(native(lanes), &key, count, ivs, inputs, &outputs, 64, 64)
        for lane in 0..<count {
            #expect(Array(outputs[64 * lane..<64 * (lane + 1)]) == PageLanesTests.ciphertext, "lane \(lane)")
        }
    }

    @Test("AES-256-CBC decryption matches NIST SP 800-38A, even in the widest registers", arguments: kinds)
    func knownDecryption(_ lanes: PageLanes) {
        var key = page_lanes_cipher_key()
        unsafe page_lanes_cipher_key_init(&key, PageLanesTests.cipherKey)
        var output = [UInt8](repeating: 0, count: 64)
        unsafe page_lanes_decrypt(
            native(lanes), &key, PageLanesTests.cipherIV, PageLanesTests.ciphertext, &output, 64)
        #expect(output == PageLanesTests.plaintext)
        // Twelve repetitions: the first block of each is combined with the last ciphertext block of the one
        // before.
        let many = (0..<12).flatMap { _ in PageLanesTests.ciphertext }
        var long = [UInt8](repeating: 0, count: many.count)
        unsafe page_lanes_decrypt(native(lanes), &key, PageLanesTests.cipherIV, many, &long, many.count)
        for part in 0..<12 {
            let content = Array(long[64 * part..<64 * (part + 1)])
            #expect(content[16...] == PageLanesTests.plaintext[16...])
            let before = part == 0 ? PageLanesTests.cipherIV : Array(PageLanesTests.ciphertext.suffix(16))
            let first = (0..<16).map { content[$0] ^ before[$0] }
            #expect(first == (0..<16).map { PageLanesTests.plaintext[$0] ^ PageLanesTests.cipherIV[$0] })
        }
    }

    // MARK: Against libcrypto

    /// All page sizes, all reserves of HMAC-SHA512 pages, and the other layout options.
    static let layouts: [PageCipher.Layout] = (9...16).flatMap { power in
        [(0, false), (32, true)].map { header, hasBigEndianNumbers in
            PageCipher.Layout(
                pageSize: 1 << power, hmac: .sha512, kdf: header == 0 ? .sha512 : .sha1, hmacKeyIterations: 2,
                plaintextHeaderSize: header, hasBigEndianNumbers: hasBigEndianNumbers)
        }
    }

    @Test(
        "consecutive pages are sealed and opened with the same results as by libcrypto", arguments: kinds,
        layouts)
    func asLibcrypto(_ lanes: PageLanes, _ layout: PageCipher.Layout) throws {
        try compare(lanes, layout, rounds: Nightly.pick(400, byDay: 1))
    }

    @Test("layouts without HMAC-SHA512, and processors without lanes, are left to libcrypto")
    func otherLayouts() throws {
        for hmac in [nil, KeyDerivation.Hash.sha1, .sha256] {
            let layout = PageCipher.Layout(
                pageSize: 1024, hmac: hmac, kdf: .sha1, hmacKeyIterations: 2, plaintextHeaderSize: 0)
            for lanes in PageLanes.available { try compare(lanes, layout, rounds: 1) }
        }
        try compare(.libcrypto, PageLanesTests.layouts[0], rounds: 1)
    }

    /// Seals and opens runs of 1 to 20 random pages, starting at page 1 and at another page.
    private func compare(_ lanes: PageLanes, _ layout: PageCipher.Layout, rounds: Int) throws {
        let (size, reserve) = (layout.pageSize, layout.reserve)
        for _ in 0..<rounds {
            let key = try SecretBytes.random(count: 32)
            let salt = try SystemRandomness.bytes(count: 16)
            let bulk = try BulkSealer(key: key, salt: salt, layout: layout, lanes: lanes)
            let opener = try BulkCipher(key: key, salt: salt, layout: layout, lanes: lanes)
            let sealer = try PageSealer(key: key, salt: salt, layout: layout)
            for (count, first) in (1...9).map({ ($0, UInt32.random(in: 2...1 << 31)) }) + [
                (1, 1), (3, 1), (20, 1), (17, 70_000),
            ] {
                let contents = try SystemRandomness.bytes(count: count * size)
                let reserves = try SystemRandomness.bytes(count: count * reserve)
                var pages = [UInt8](repeating: 0, count: count * size)
                var target = pages.mutableSpan
                try bulk.seal(contents.span, first: first, reserves: reserves.span, into: &target)
                var expected = [UInt8](repeating: 0, count: count * size)
                target = expected.mutableSpan
                for index in 0..<count {
                    try target.withPart(index * size..<(index + 1) * size) {
                        try sealer.seal(
                            contents.span.extracting(index * size..<(index + 1) * size),
                            number: first + UInt32(index),
                            reserve: reserves.span.extracting(index * reserve..<(index + 1) * reserve),
                            into: &$0)
                    }
                }
                #expect(pages == expected, "\(count) pages from \(first) on")
                var opened = [UInt8](repeating: 0xff, count: count * size)
                target = opened.mutableSpan
                try opener.decrypt(pages.span, first: first, into: &target)
                for index in 0..<count {
                    let page = try opener.single.decrypt(
                        Array(pages[index * size..<(index + 1) * size]), number: first + UInt32(index))
                    #expect(Array(opened[index * size..<(index + 1) * size]) == page)
                }
                #expect(try opener.unauthentic(pages.span, first: first) == [])
                guard let code = layout.hmac else { continue }
                // Flips one bit in some of the pages, within the part that the MAC covers.
                let changed = (0..<count).filter { _ in Bool.random() }
                for index in changed {
                    let start = first == 1 && index == 0 ? layout.clearSize : 0
                    pages[index * size + Int.random(in: start..<size - reserve + 16 + code.digestSize)] ^=
                        1 << UInt8.random(in: 0..<8)
                }
                #expect(
                    try opener.unauthentic(pages.span, first: first) == changed.map { first + UInt32($0) })
            }
        }
    }

    // MARK: Choice

    @Test(
        "each kind of lanes of this processor passes its own test, and the best one is used",
        .enabled(if: variable == nil))
    func selfTest() {
        #expect(PageLanes.available.first == .libcrypto)
        for lanes in PageLanes.available { #expect(lanes.areRight, "\(lanes)") }
        #expect(PageLanes.current == PageLanes.available.last)
    }

    private static let variable = ProcessInfo.processInfo.environment["COFFER_PAGE_LANES"]

    @Test("the environment only lowers the lanes in use, and lanes with wrong answers are not used")
    func choice() {
        func choice(
            _ name: String?, of kinds: [PageLanes] = PageLanes.allCases,
            isRight: (PageLanes) -> Bool = { _ in true }
        ) -> PageLanes { PageLanes.choice(of: kinds, allowed: name, isRight: isRight) }
        #expect(choice(nil) == .avx512)
        #expect(choice("avx512") == .avx512)
        #expect(choice("avx2") == .avx2)
        #expect(choice("libcrypto") == .libcrypto)
        #expect(choice("AVX2") == .libcrypto)
        #expect(choice("") == .libcrypto)
        #expect(choice("avx512", of: [.libcrypto, .avx2]) == .avx2)
        #expect(choice("avx512", of: [.libcrypto]) == .libcrypto)
        #expect(choice(nil) { $0 == .avx2 } == .avx2)
        #expect(choice(nil) { _ in false } == .libcrypto)
        #expect(choice("avx2") { $0 == .avx512 } == .libcrypto)
    }

    @Test(
        "lanes that accept unauthentic pages are noticed, and turned off",
        .enabled(if: PageLanes.current != .libcrypto, "no lanes are in use here"))
    func tooLenient() async {
        await #expect(processExitsWith: .success) {
            let (page, mine, theirs) = try OtherLanes.make(sealedWith: .lanes)
            #expect(PageLanes.current != .libcrypto)
            #expect(throws: CryptographyFailure.lanes) {
                try BulkCipher(mine, theirs).unauthentic(page.span, first: 2)
            }
            #expect(PageLanes.current == .libcrypto)
        }
    }

    @Test("lanes that reject authentic pages are noticed, and turned off", .enabled(if: !kinds.isEmpty))
    func tooStrict() async {
        await #expect(processExitsWith: .success) {
            let (page, mine, theirs) = try OtherLanes.make(sealedWith: .libcrypto)
            #expect(throws: CryptographyFailure.lanes) {
                try BulkCipher(mine, theirs).unauthentic(page.span, first: 2)
            }
            #expect(PageLanes.current == .libcrypto)
        }
    }

    @Test(
        "lanes that open or seal pages in another way are noticed, and turned off",
        .enabled(if: !kinds.isEmpty))
    func otherContent() async {
        await #expect(processExitsWith: .success) {
            let (page, mine, theirs) = try OtherLanes.make(sealedWith: .libcrypto)
            var content = page
            var target = content.mutableSpan
            #expect(throws: CryptographyFailure.lanes) {
                try BulkCipher(mine, theirs).decrypt(page.span, first: 2, into: &target)
            }
            #expect(PageLanes.current == .libcrypto)
            let reserves = [UInt8](repeating: 1, count: 80)
            #expect(throws: CryptographyFailure.lanes) {
                try BulkSealer(OtherLanes.sealer(1), theirs).seal(
                    page.span, first: 2, reserves: reserves.span, into: &target)
            }
        }
    }
}

/// Lanes with a different key than libcrypto, so each of their results is wrong.
private enum OtherLanes {
    enum Side { case lanes, libcrypto }

    static let layout = PageCipher.Layout(
        pageSize: 4096, hmac: .sha512, kdf: .sha512, hmacKeyIterations: 2, plaintextHeaderSize: 0)
    private static let salt = [UInt8](repeating: 9, count: 16)

    private static func key(_ byte: UInt8) -> SecretBytes { SecretBytes([UInt8](repeating: byte, count: 32)) }

    static func sealer(_ byte: UInt8) throws -> PageSealer {
        try PageSealer(key: key(byte), salt: salt, layout: layout)
    }

    /// Makes page 2, sealed with the key of one side.
    static func make(sealedWith side: Side) throws -> (page: [UInt8], mine: PageCipher, theirs: LaneKeys) {
        let content = [UInt8](repeating: 7, count: layout.pageSize)
        var page = content
        var target = page.mutableSpan
        let reserve = [UInt8](repeating: 3, count: layout.reserve)
        try sealer(side == .lanes ? 2 : 1).seal(content.span, number: 2, reserve: reserve.span, into: &target)
        let lanes = try LaneKeys(
            key: key(2), salt: salt, layout: layout, PageLanes.available.last ?? .libcrypto)
        return (page, try PageCipher(key: key(1), salt: salt, layout: layout), try #require(lanes))
    }
}
