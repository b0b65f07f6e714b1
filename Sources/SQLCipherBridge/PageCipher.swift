internal import CSQLCipher
package import KeyMaterial

/// Reads the stored bytes of pages without SQLCipher: whether they are authentic, and what they contain.
///
/// Source of the layout: SQLCipher's design notes. A page ends with its reserve: IV (16 bytes), HMAC, padding to whole blocks. The HMAC covers
/// ciphertext, IV and the page number (little endian by default), and its key is PBKDF2(key, salt xor mask), with 0x3a for each byte of the mask. Page 1 begins with the salt, or with a part
/// of the database header in the clear.
///
/// One instance serves one thread at a time.
@safe
package final class PageCipher {
    /// How pages are laid out, as the cipher settings say.
    package struct Layout: Sendable, Hashable {
        package var pageSize: Int
        /// Nil for pages without authentication codes.
        package var hmac: KeyDerivation.Hash?
        package var kdf: KeyDerivation.Hash
        package var hmacKeyIterations: Int
        package var plaintextHeaderSize: Int
        /// Whether the codes cover the numbers of pages with the highest byte first.
        package var hasBigEndianNumbers: Bool
        /// What each byte of the salt is combined with where the key for HMAC is derived.
        package var hmacSaltMask: UInt8

        package init(
            pageSize: Int, hmac: KeyDerivation.Hash?, kdf: KeyDerivation.Hash, hmacKeyIterations: Int, plaintextHeaderSize: Int,
            hasBigEndianNumbers: Bool = false, hmacSaltMask: UInt8 = 0x3a
        ) {
            self.pageSize = pageSize
            self.hmac = hmac
            self.kdf = kdf
            self.hmacKeyIterations = hmacKeyIterations
            self.plaintextHeaderSize = plaintextHeaderSize
            self.hasBigEndianNumbers = hasBigEndianNumbers
            self.hmacSaltMask = hmacSaltMask
        }

        /// The bytes at the end of each page that are not content: IV and HMAC, in whole cipher blocks.
        package var reserve: Int { (16 + (hmac?.digestSize ?? 0) + 15) / 16 * 16 }

        /// The bytes at the start of page 1 that are not encrypted.
        package var clearSize: Int { max(16, plaintextHeaderSize) }
    }

    package let layout: Layout
    private let cipher: OpaquePointer?
    private let code: PageCode?

    package init(key: borrowing SecretBytes, salt: [UInt8], layout: Layout) throws(CryptographyFailure) {
        self.layout = layout
        guard key.count == 32 else { throw CryptographyFailure(function: "EVP_DecryptInit_ex") }
        code = try PageCode(key: key, salt: salt, layout: layout)
        unsafe cipher = EVP_CIPHER_CTX_new()
        // From here on, the end of life frees it.
        let isKeyed = key.withUnsafeBytes { key in
            unsafe EVP_DecryptInit_ex(
                cipher, EVP_aes_256_cbc(), nil, key.assumingMemoryBound(to: UInt8.self).baseAddress, nil) == 1
                && EVP_CIPHER_CTX_set_padding(cipher, 0) == 1
        }
        guard isKeyed else { throw CryptographyFailure(function: "EVP_DecryptInit_ex") }
    }

    deinit { unsafe EVP_CIPHER_CTX_free(cipher) }

    /// Whether the stored bytes of the page with this number (from 1) carry the right code; true for pages that carry none.
    package func authenticates(_ page: Span<UInt8>, number: UInt32) throws(CryptographyFailure) -> Bool {
        guard let code else { return true }
        precondition(page.count == layout.pageSize)
        return try code.isRight(page, number: number)
    }

    /// Decrypts a page. Its reserve becomes zeros, and so does the salt at the start of page 1, where the database header has its magic.
    package func decrypt(
        _ page: Span<UInt8>, number: UInt32, into target: inout MutableSpan<UInt8>
    ) throws(CryptographyFailure) {
        precondition(page.count == layout.pageSize && target.count >= layout.pageSize)
        let start = number == 1 ? layout.clearSize : 0
        let end = layout.pageSize - layout.reserve
        if number == 1 && layout.plaintextHeaderSize == 0 {
            target.clear(0..<start)
        } else {
            target.copy(page.extracting(0..<start))
        }
        target.clear(end..<layout.pageSize)
        var count: CInt = 0
        let isDecrypted = unsafe page.withUnsafeBytes { page in
            unsafe target.withUnsafeMutableBytes { target in
                // These are within bounds: start < end <= pageSize - 16.
                let iv = unsafe (page.baseAddress! + end).assumingMemoryBound(to: UInt8.self)
                let input = unsafe (page.baseAddress! + start).assumingMemoryBound(to: UInt8.self)
                let output = unsafe (target.baseAddress! + start).assumingMemoryBound(to: UInt8.self)
                return unsafe EVP_DecryptInit_ex(cipher, nil, nil, nil, iv) == 1
                    && EVP_DecryptUpdate(cipher, output, &count, input, CInt(end - start)) == 1
            }
        }
        guard isDecrypted, Int(count) == end - start else { throw CryptographyFailure(function: "EVP_DecryptUpdate") }
    }

    /// Whether the stored bytes of a page carry the right code: those of an incomplete page, or of one that the engine cannot count, do not.
    package func authenticates(_ page: [UInt8], number: Int) throws(CryptographyFailure) -> Bool {
        guard page.count == layout.pageSize, let number = UInt32(exactly: number) else { return false }
        return try authenticates(page.span, number: number)
    }

    /// The content of a page of the right size.
    package func decrypt(_ page: [UInt8], number: UInt32) throws(CryptographyFailure) -> [UInt8] {
        var content = [UInt8](repeating: 0, count: page.count)
        var target = content.mutableSpan
        try decrypt(page.span, number: number, into: &target)
        return content
    }
}

/// A SHA-256 digest that grows.
@safe
package final class ContentDigest {
    private let context: OpaquePointer?

    package init() throws(CryptographyFailure) {
        unsafe context = EVP_MD_CTX_new()
        guard unsafe EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1 else {
            throw CryptographyFailure(function: "EVP_DigestInit_ex")
        }
    }

    deinit { unsafe EVP_MD_CTX_free(context) }

    package func update(_ bytes: Span<UInt8>) throws(CryptographyFailure) {
        let isAdded = unsafe bytes.withUnsafeBytes { unsafe EVP_DigestUpdate(context, $0.baseAddress, $0.count) == 1 }
        guard isAdded else { throw CryptographyFailure(function: "EVP_DigestUpdate") }
    }

    /// The digest of all bytes; nothing can be added afterwards.
    package func finish() throws(CryptographyFailure) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: 32)
        guard unsafe EVP_DigestFinal_ex(context, &result, nil) == 1 else { throw CryptographyFailure(function: "EVP_DigestFinal_ex") }
        return result
    }
}
