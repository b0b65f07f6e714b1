import Foundation
import KeyMaterial
import SQLCipherBridge
import Testing

@Suite("Pages")
struct PageCipherTests {
    private let salt = [UInt8](0..<16)

    private static let layouts: [PageCipher.Layout] = [
        PageCipher.Layout(
            pageSize: 4096, hmac: .sha512, kdf: .sha512, hmacKeyIterations: 2, plaintextHeaderSize: 0),
        PageCipher.Layout(
            pageSize: 1024, hmac: .sha1, kdf: .sha1, hmacKeyIterations: 2, plaintextHeaderSize: 0),
        PageCipher.Layout(
            pageSize: 512, hmac: .sha256, kdf: .sha256, hmacKeyIterations: 2, plaintextHeaderSize: 32),
    ]

    private func key(_ byte: UInt8) -> SecretBytes { SecretBytes([UInt8](repeating: byte, count: 32)) }

    private func seal(_ content: [UInt8], number: UInt32, layout: PageCipher.Layout) throws -> [UInt8] {
        let sealer = try PageSealer(key: key(7), salt: salt, layout: layout)
        let reserve = [UInt8](repeating: 0x5a, count: layout.reserve)
        var page = [UInt8](repeating: 0, count: layout.pageSize)
        var target = page.mutableSpan
        try sealer.seal(content.span, number: number, reserve: reserve.span, into: &target)
        return page
    }

    private func content(_ layout: PageCipher.Layout) -> [UInt8] {
        (0..<layout.pageSize).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    }

    @Test(
        "an encrypted page decrypts to its content, except for the reserved bytes", arguments: layouts,
        [UInt32(1), 2, 70_000])
    func roundTrip(_ layout: PageCipher.Layout, _ number: UInt32) throws {
        let content = content(layout)
        let page = try seal(content, number: number, layout: layout)
        let cipher = try PageCipher(key: key(7), salt: salt, layout: layout)
        #expect(try cipher.authenticates(page, number: Int(number)))
        let start = number == 1 && layout.plaintextHeaderSize == 0 ? 16 : 0
        let end = layout.pageSize - layout.reserve
        let decrypted = try cipher.decrypt(page, number: number)
        #expect(decrypted[start..<end] == content[start..<end])
        #expect(decrypted[end...].allSatisfy { $0 == 0 })
        if number == 1 && layout.plaintextHeaderSize == 0 { #expect(Array(page[..<16]) == salt) }
    }

    @Test(
        "a page with a changed bit, another page number or another key is not authentic", arguments: layouts)
    func forgeries(_ layout: PageCipher.Layout) throws {
        let page = try seal(content(layout), number: 3, layout: layout)
        let cipher = try PageCipher(key: key(7), salt: salt, layout: layout)
        let sizeOfCode = try #require(layout.hmac).digestSize
        // Nothing covers the padding after the MAC.
        let end = layout.pageSize - layout.reserve + 16 + sizeOfCode
        for index in stride(from: 0, to: end, by: 37) {
            var changed = page
            changed[index] ^= 1
            #expect(try !cipher.authenticates(changed, number: 3), "byte \(index)")
        }
        #expect(try !cipher.authenticates(page, number: 4))
        #expect(try !PageCipher(key: key(8), salt: salt, layout: layout).authenticates(page, number: 3))
        #expect(
            try !PageCipher(key: key(7), salt: salt.reversed(), layout: layout).authenticates(page, number: 3)
        )
    }

    @Test("an incomplete page, or one with an impossible page number, is not authentic")
    func impossible() throws {
        let layout = PageCipherTests.layouts[0]
        let page = try seal(content(layout), number: 3, layout: layout)
        let cipher = try PageCipher(key: key(7), salt: salt, layout: layout)
        #expect(try !cipher.authenticates(Array(page.dropLast()), number: 3))
        #expect(try !cipher.authenticates(page, number: -3))
        #expect(try !cipher.authenticates(page, number: Int(UInt32.max) + 4))
    }

    @Test("a key of another size is refused")
    func keySize() {
        #expect(throws: CryptographyFailure.self) {
            try PageCipher(key: SecretBytes([1, 2, 3]), salt: salt, layout: PageCipherTests.layouts[0])
        }
    }
}
