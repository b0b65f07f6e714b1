internal import CSQLCipher
package import KeyMaterial

/// Reads the stored bytes of pages without SQLCipher: whether they are authentic, and what they contain.
///
/// Source of the layout: SQLCipher's design notes. A page ends with its reserve: IV (16 bytes), HMAC, padding
/// to whole blocks. The HMAC covers ciphertext, IV and the page number (little endian by default), and its
/// key is PBKDF2(key, salt xor mask), where each byte of the mask is ``Layout/engineSaltMask`` unless the
/// settings say otherwise. Page 1 begins with the salt, or with a part of the database header in the clear.
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
        /// The engine's own mask, which no connection of this library changes.
        package static let engineSaltMask: UInt8 = 0x3a

        package init(
            pageSize: Int, hmac: KeyDerivation.Hash?, kdf: KeyDerivation.Hash, hmacKeyIterations: Int,
            plaintextHeaderSize: Int,
            hasBigEndianNumbers: Bool = false, hmacSaltMask: UInt8 = Layout.engineSaltMask
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

        /// The key of the codes of pages.
        func codeKey(_ key: borrowing SecretBytes, salt: [UInt8]) throws(CryptographyFailure) -> SecretBytes {
            try KeyDerivation.pbkdf2(
                key, salt: salt.map { $0 ^ hmacSaltMask }, iterations: hmacKeyIterations, hash: kdf)
        }
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

    /// Whether the stored bytes of the page with this number (from 1) carry the right code; true for pages
    /// that carry none.
    package func authenticates(_ page: Span<UInt8>, number: UInt32) throws(CryptographyFailure) -> Bool {
        guard let code else { return true }
        precondition(page.count == layout.pageSize)
        return try code.isRight(page, number: number)
    }

    /// Decrypts a page. Its reserve becomes zeros, and so does the salt at the start of page 1, where the
    /// database header has its magic.
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
        guard isDecrypted, Int(count) == end - start else {
            throw CryptographyFailure(function: "EVP_DecryptUpdate")
        }
    }

    /// Whether the stored bytes of a page carry the right code: those of an incomplete page, or of one that
    /// the engine cannot count, do not.
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

/// Encrypts pages as SQLCipher does, without it: the counterpart of ``PageCipher``.
///
/// One instance serves one thread at a time.
@safe
package final class PageSealer {
    package let layout: PageCipher.Layout
    private let salt: [UInt8]
    private let cipher: OpaquePointer?
    private let code: PageCode?

    /// - Parameter salt: the one of the file, 16 bytes.
    package init(key: borrowing SecretBytes, salt: [UInt8], layout: PageCipher.Layout)
        throws(CryptographyFailure)
    {
        self.layout = layout
        self.salt = salt
        guard key.count == 32, salt.count == 16 else {
            throw CryptographyFailure(function: "EVP_EncryptInit_ex")
        }
        code = try PageCode(key: key, salt: salt, layout: layout)
        unsafe cipher = EVP_CIPHER_CTX_new()
        // From here on, the end of life frees it.
        let isKeyed = key.withUnsafeBytes { key in
            unsafe EVP_EncryptInit_ex(
                cipher, EVP_aes_256_cbc(), nil, key.assumingMemoryBound(to: UInt8.self).baseAddress, nil) == 1
                && EVP_CIPHER_CTX_set_padding(cipher, 0) == 1
        }
        guard isKeyed else { throw CryptographyFailure(function: "EVP_EncryptInit_ex") }
    }

    deinit { unsafe EVP_CIPHER_CTX_free(cipher) }

    /// Encrypts a page, gives it its code, and page 1 the salt or its header in the clear.
    ///
    /// - Parameters:
    ///   - content: as ``PageCipher`` decrypts it; its reserve is ignored.
    ///   - reserve: fresh random bytes, as many as the layout reserves. The first 16 become the IV.
    package func seal(
        _ content: Span<UInt8>, number: UInt32, reserve: Span<UInt8>, into target: inout MutableSpan<UInt8>
    ) throws(CryptographyFailure) {
        precondition(
            content.count == layout.pageSize && target.count == layout.pageSize
                && reserve.count == layout.reserve)
        let start = number == 1 ? layout.clearSize : 0
        let end = layout.pageSize - layout.reserve
        target.copy(reserve, at: end)
        if number == 1 {
            let salt = salt
            if layout.plaintextHeaderSize == 0 {
                target.copy(salt.span)
            } else {
                target.copy(content.extracting(0..<start))
            }
        }
        var count: CInt = 0
        let isEncrypted = unsafe content.withUnsafeBytes { content in
            unsafe target.withUnsafeMutableBytes { target in
                // These are within bounds: start < end <= pageSize - 16.
                let iv = unsafe (target.baseAddress! + end).assumingMemoryBound(to: UInt8.self)
                let input = unsafe (content.baseAddress! + start).assumingMemoryBound(to: UInt8.self)
                let output = unsafe (target.baseAddress! + start).assumingMemoryBound(to: UInt8.self)
                return unsafe EVP_EncryptInit_ex(cipher, nil, nil, nil, iv) == 1
                    && EVP_EncryptUpdate(cipher, output, &count, input, CInt(end - start)) == 1
            }
        }
        guard isEncrypted, Int(count) == end - start else {
            throw CryptographyFailure(function: "EVP_EncryptUpdate")
        }
        try code?.write(to: &target, number: number)
    }
}

/// The authentication codes of pages: an HMAC over ciphertext, IV and the page number.
///
/// One instance serves one thread at a time.
@safe
private final class PageCode {
    private let layout: PageCipher.Layout
    private let size: Int
    private let context: OpaquePointer
    /// Room for one code.
    private var computed: [UInt8]

    /// - Returns: nil for pages that carry no codes.
    init?(key: borrowing SecretBytes, salt: [UInt8], layout: PageCipher.Layout) throws(CryptographyFailure) {
        guard let hash = layout.hmac else { return nil }
        guard let context = unsafe PageCode.makeContext(key: try layout.codeKey(key, salt: salt), hash: hash)
        else {
            throw CryptographyFailure(function: "EVP_MAC_init")
        }
        unsafe self.context = context
        self.layout = layout
        size = hash.digestSize
        computed = [UInt8](repeating: 0, count: size)
    }

    deinit { unsafe EVP_MAC_CTX_free(context) }

    private static func makeContext(key: borrowing SecretBytes, hash: KeyDerivation.Hash) -> OpaquePointer? {
        let name =
            switch hash {
            case .sha1: "SHA1"
            case .sha256: "SHA256"
            case .sha512: "SHA512"
            }
        guard let algorithm = unsafe EVP_MAC_fetch(nil, "HMAC", nil) else { return nil }
        defer { unsafe EVP_MAC_free(algorithm) }
        guard let context = unsafe EVP_MAC_CTX_new(algorithm) else { return nil }
        // The parameters keep a pointer to their name, and a string of Swift gives one only for the call that
        // makes them.
        let parameter: StaticString = "digest"
        var digest = Array(name.utf8CString)
        let isKeyed = unsafe digest.withUnsafeMutableBufferPointer { digest in
            let parameters = unsafe [
                OSSL_PARAM_construct_utf8_string(
                    UnsafeRawPointer(parameter.utf8Start).assumingMemoryBound(to: CChar.self),
                    digest.baseAddress, 0),
                OSSL_PARAM_construct_end(),
            ]
            return key.withUnsafeBytes { key in
                unsafe EVP_MAC_init(
                    context, key.assumingMemoryBound(to: UInt8.self).baseAddress, key.count, parameters) == 1
            }
        }
        guard isKeyed else {
            unsafe EVP_MAC_CTX_free(context)
            return nil
        }
        return unsafe context
    }

    /// Whether a stored page of the right size carries the code of its bytes and its number, which is from 1
    /// on.
    func isRight(_ page: Span<UInt8>, number: UInt32) throws(CryptographyFailure) -> Bool {
        try compute(page, number: number)
        let end = layout.pageSize - layout.reserve + 16
        var difference: UInt8 = 0
        for index in 0..<size { difference |= computed[index] ^ page[end + index] }
        return difference == 0
    }

    /// Puts the code of an encrypted page into its place behind the IV.
    func write(to page: inout MutableSpan<UInt8>, number: UInt32) throws(CryptographyFailure) {
        try compute(page.span, number: number)
        let end = layout.pageSize - layout.reserve + 16
        for index in 0..<size { page[end + index] = computed[index] }
    }

    private func compute(_ page: Span<UInt8>, number: UInt32) throws(CryptographyFailure) {
        let start = number == 1 ? layout.clearSize : 0
        let end = layout.pageSize - layout.reserve + 16
        var stored = layout.hasBigEndianNumbers ? number.bigEndian : number.littleEndian
        var count = 0
        let isComputed = unsafe page.withUnsafeBytes { page in
            // Without a key, the context starts again with the one that it has.
            unsafe EVP_MAC_init(context, nil, 0, nil) == 1
                && EVP_MAC_update(context, page.baseAddress! + start, end - start) == 1
                && withUnsafeBytes(of: &stored) { unsafe EVP_MAC_update(context, $0.baseAddress, 4) } == 1
                && EVP_MAC_final(context, &computed, &count, size) == 1
        }
        guard isComputed, count == size else { throw CryptographyFailure(function: "EVP_MAC_final") }
    }
}
