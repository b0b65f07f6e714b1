internal import CPageLanes
internal import Glibc
internal import KeyMaterial
internal import Synchronization

/// The implementation that this process uses for many pages: several pages at once in the lanes of vector
/// registers, or one after the other by libcrypto.
package enum PageLanes: Int, Sendable, Hashable, CaseIterable, Comparable {
    /// No lanes. The only choice on processors without vector instructions that `CPageLanes` supports.
    case libcrypto = 0
    /// AES-NI, and AVX2 for four MACs at once.
    case avx2 = 1
    /// VAES, and AVX-512 for eight MACs at once.
    case avx512 = 2

    /// The implementation for new work: the fastest lanes of the processor that are allowed and that pass a
    /// test.
    ///
    /// The environment variable `COFFER_PAGE_LANES` names the fastest allowed lanes: `avx512`, `avx2` or
    /// `libcrypto`. It can only restrict the choice. Any other name allows no lanes.
    package static var current: PageLanes { wereWrong.load(ordering: .relaxed) ? .libcrypto : atFirst }

    private static let atFirst = choice(
        of: available, allowed: unsafe getenv("COFFER_PAGE_LANES").map { unsafe String(cString: $0) },
        isRight: \.areRight)

    /// True if a result of lanes has differed from libcrypto's.
    private static let wereWrong = Atomic<Bool>(false)

    /// The implementations that this processor supports, from the slowest to the fastest.
    package static let available: [PageLanes] = {
        let best = Int(page_lanes_best().rawValue)
        return allCases.filter { $0.rawValue <= best }
    }()

    /// Returns the fastest of some implementations that a name allows and that passes a test. Libcrypto needs
    /// no test.
    package static func choice(of kinds: [PageLanes], allowed name: String?, isRight: (PageLanes) -> Bool)
        -> PageLanes
    {
        let most = name.map { name in allCases.first { "\($0)" == name } ?? .libcrypto } ?? .avx512
        return kinds.filter { $0 != .libcrypto && $0 <= most }.sorted(by: >).first(where: isRight)
            ?? .libcrypto
    }

    package static func < (lhs: PageLanes, rhs: PageLanes) -> Bool { lhs.rawValue < rhs.rawValue }

    /// True if these lanes seal, authenticate and open eight pages with the same results as libcrypto.
    package var areRight: Bool {
        let layout = PageCipher.Layout(
            pageSize: 4096, hmac: .sha512, kdf: .sha512, hmacKeyIterations: 1, plaintextHeaderSize: 0)
        let (first, size, count): (UInt32, Int, Int) = (0xfedc_ba98, layout.pageSize, LaneKeys.most)
        do {
            let key = try SecretBytes.random(count: 32)
            let salt = try SystemRandomness.bytes(count: 16)
            guard let lanes = try LaneKeys(key: key, salt: salt, layout: layout, self) else { return true }
            let contents = try SystemRandomness.bytes(count: count * size)
            let reserves = try SystemRandomness.bytes(count: count * layout.reserve)
            var pages = [UInt8](repeating: 0, count: count * size)
            var target = pages.mutableSpan
            lanes.seal(contents.span, first: first, reserves: reserves.span, into: &target)
            let sealer = try PageSealer(key: key, salt: salt, layout: layout)
            for index in 0..<count {
                var expected = [UInt8](repeating: 0, count: size)
                var target = expected.mutableSpan
                let content = contents.span.extracting(index * size..<(index + 1) * size)
                let reserve = reserves.span.extracting(index * layout.reserve..<(index + 1) * layout.reserve)
                try sealer.seal(content, number: first + UInt32(index), reserve: reserve, into: &target)
                guard Array(pages[index * size..<(index + 1) * size]) == expected else { return false }
                var opened = [UInt8](repeating: 0, count: size)
                target = opened.mutableSpan
                lanes.open(expected.span, into: &target)
                guard
                    opened.span.extracting(0..<size - layout.reserve).isEqual(
                        to: content.extracting(0..<size - layout.reserve))
                else {
                    return false
                }
            }
            // Pages must be rejected under wrong numbers.
            return lanes.verdicts(pages.span, first: first).allSatisfy { $0 }
                && !lanes.verdicts(pages.span, first: first + 1).contains(true)
        } catch {
            return false
        }
    }

    /// Disables the lanes for later work in this process, and returns the error to throw.
    static func failure() -> CryptographyFailure {
        wereWrong.store(true, ordering: .relaxed)
        return .lanes
    }
}

/// The keys of a file in the form that lanes need.
///
/// Its functions take one to eight consecutive pages. Page 1 is excluded, because its encrypted part begins
/// at another offset.
@safe
final class LaneKeys: Sendable {
    /// The maximum number of pages.
    static let most = 8

    private let kind: page_lanes_kind
    private let layout: PageCipher.Layout
    /// A `page_lanes_code_key`, followed by a `page_lanes_cipher_key`.
    private let keys: SecretBytes

    /// - Returns: nil if lanes are not used: for pages without HMAC-SHA512, or if libcrypto was chosen.
    init?(key: borrowing SecretBytes, salt: [UInt8], layout: PageCipher.Layout, _ lanes: PageLanes)
        throws(CryptographyFailure)
    {
        guard lanes != .libcrypto, layout.hmac == .sha512, key.count == 32 else { return nil }
        precondition(PageLanes.available.contains(lanes), "The processor does not have these instructions")
        precondition(layout.pageSize.isMultiple(of: 16) && layout.pageSize > layout.reserve)
        kind = page_lanes_kind(UInt32(lanes.rawValue))
        self.layout = layout
        let codeKey = try layout.codeKey(key, salt: salt)
        var keys = SecretBytes(
            count: MemoryLayout<page_lanes_code_key>.stride + MemoryLayout<page_lanes_cipher_key>.size)
        key.withUnsafeBytes { key in
            codeKey.withUnsafeBytes { codeKey in
                keys.withUnsafeMutableBytes { keys in
                    let (code, cipher) = unsafe LaneKeys.parts(UnsafeRawBufferPointer(keys))
                    unsafe page_lanes_code_key_init(
                        UnsafeMutablePointer(mutating: code), codeKey.address(), codeKey.count)
                    unsafe page_lanes_cipher_key_init(UnsafeMutablePointer(mutating: cipher), key.address())
                }
            }
        }
        self.keys = keys
    }

    /// Returns the two keys in `keys`, which are aligned and large enough for both.
    private static func parts(
        _ keys: UnsafeRawBufferPointer
    ) -> (code: UnsafePointer<page_lanes_code_key>?, cipher: UnsafePointer<page_lanes_cipher_key>?) {
        unsafe (
            keys.baseAddress?.assumingMemoryBound(to: page_lanes_code_key.self),
            keys.baseAddress?.advanced(by: MemoryLayout<page_lanes_code_key>.stride).assumingMemoryBound(
                to: page_lanes_cipher_key.self)
        )
    }

    private func count(_ pages: Int, first: UInt32) -> Int {
        precondition(first > 1 && pages.isMultiple(of: layout.pageSize))
        let count = pages / layout.pageSize
        precondition((1...LaneKeys.most).contains(count))
        return count
    }

    /// Returns, for each page, true if its MAC is right for its bytes and its number.
    func verdicts(_ pages: Span<UInt8>, first: UInt32) -> [Bool] {
        let codes = codes(pages, first: first)
        let start = layout.pageSize - layout.reserve + 16
        return (0..<pages.count / layout.pageSize).map { index in
            var difference: UInt8 = 0
            for byte in 0..<64 {
                difference |= codes[index * 64 + byte] ^ pages[index * layout.pageSize + start + byte]
            }
            return difference == 0
        }
    }

    /// Returns the MACs, 64 bytes for each page.
    private func codes(_ pages: Span<UInt8>, first: UInt32) -> [UInt8] {
        let count = count(pages.count, first: first)
        var numbers: [UInt8] = []
        numbers.reserveCapacity(4 * count)
        for index in 0..<count {
            let number = first &+ UInt32(index)
            let stored = layout.hasBigEndianNumbers ? number.byteSwapped : number
            for shift in stride(from: UInt32(0), to: 32, by: 8) {
                numbers.append(UInt8(truncatingIfNeeded: stored >> shift))
            }
        }
        var codes = [UInt8](repeating: 0, count: 64 * count)
        unsafe pages.withUnsafeBytes { pages in
            keys.withUnsafeBytes { keys in
                unsafe page_lanes_codes(
                    kind, LaneKeys.parts(keys).code, count, pages.address(), layout.pageSize,
                    layout.pageSize - layout.reserve + 16, numbers, &codes)
            }
        }
        return codes
    }

    /// Decrypts one page. Its reserve becomes zeros.
    func open(_ page: Span<UInt8>, into content: inout MutableSpan<UInt8>) {
        precondition(page.count == layout.pageSize && content.count == layout.pageSize)
        let end = layout.pageSize - layout.reserve
        unsafe page.withUnsafeBytes { page in
            unsafe content.withUnsafeMutableBytes { content in
                keys.withUnsafeBytes { keys in
                    unsafe page_lanes_decrypt(
                        kind, LaneKeys.parts(keys).cipher, page.address(at: end), page.address(),
                        content.address(), end)
                }
            }
        }
        content.clear(end..<layout.pageSize)
    }

    /// Seals consecutive pages like ``PageSealer``. There must be one reserve for each page.
    func seal(
        _ contents: Span<UInt8>, first: UInt32, reserves: Span<UInt8>, into pages: inout MutableSpan<UInt8>
    ) {
        let count = count(contents.count, first: first)
        precondition(pages.count == contents.count && reserves.count == count * layout.reserve)
        let (size, end) = (layout.pageSize, layout.pageSize - layout.reserve)
        for index in 0..<count {
            pages.copy(
                reserves.extracting(index * layout.reserve..<(index + 1) * layout.reserve),
                at: index * size + end)
        }
        unsafe contents.withUnsafeBytes { contents in
            unsafe pages.withUnsafeMutableBytes { pages in
                keys.withUnsafeBytes { keys in
                    unsafe page_lanes_encrypt(
                        kind, LaneKeys.parts(keys).cipher, count, pages.address(at: end), contents.address(),
                        pages.address(), size, end)
                }
            }
        }
        let codes = codes(pages.span, first: first)
        for index in 0..<count {
            pages.copy(codes.span.extracting(index * 64..<(index + 1) * 64), at: index * size + end + 16)
        }
    }
}
