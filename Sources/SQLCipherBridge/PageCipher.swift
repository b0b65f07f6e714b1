internal import CSQLCipher
package import KeyMaterial

/// Authenticates and decrypts stored pages without SQLCipher.
///
/// The layout is documented in SQLCipher's design notes. A page ends with its reserve: IV (16 bytes), HMAC,
/// padding to whole blocks. The HMAC covers ciphertext, IV and the page number (little endian by default).
/// Its key is PBKDF2(key, salt xor mask), where each byte of the mask is ``Layout/engineSaltMask`` unless the
/// settings specify another one. Page 1 begins with the salt, or with an unencrypted part of the database
/// header.
///
/// An instance is used by one thread at a time.
@safe
package final class PageCipher {
    /// The layout of pages according to the cipher settings.
    package struct Layout: Sendable, Hashable {
        package var pageSize: Int
        /// The hash of the MAC; nil for pages without MACs.
        package var hmac: KeyDerivation.Hash?
        package var kdf: KeyDerivation.Hash
        package var hmacKeyIterations: Int
        package var plaintextHeaderSize: Int
        /// True if MACs cover page numbers in big endian byte order.
        package var hasBigEndianNumbers: Bool
        /// The value that each byte of the salt is combined with to derive the HMAC key.
        package var hmacSaltMask: UInt8
        /// SQLCipher's default mask, which no connection of this library changes.
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

        /// The number of bytes at the end of each page that are not content: IV and HMAC, padded to whole
        /// cipher blocks.
        package var reserve: Int { (16 + (hmac?.digestSize ?? 0) + 15) / 16 * 16 }

        /// The number of unencrypted bytes at the start of page 1.
        package var clearSize: Int { max(16, plaintextHeaderSize) }

        /// Derives the HMAC key.
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
        // From here on, `deinit` frees the context.
        let isKeyed = key.withUnsafeBytes { key in
            unsafe EVP_DecryptInit_ex(cipher, EVP_aes_256_cbc(), nil, key.address(), nil) == 1
                && EVP_CIPHER_CTX_set_padding(cipher, 0) == 1
        }
        guard isKeyed else { throw CryptographyFailure(function: "EVP_DecryptInit_ex") }
    }

    deinit { unsafe EVP_CIPHER_CTX_free(cipher) }

    /// Returns true if the stored page with this number (from 1) is authentic, or if pages have no MACs.
    package func authenticates(_ page: Span<UInt8>, number: UInt32) throws(CryptographyFailure) -> Bool {
        guard let code else { return true }
        precondition(page.count == layout.pageSize)
        return try code.isRight(page, number: number)
    }

    /// Decrypts a page. Its reserve becomes zeros. On page 1, so does the salt, which replaces the magic
    /// string of the database header.
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
                // These offsets are within bounds: start < end <= pageSize - 16.
                unsafe EVP_DecryptInit_ex(cipher, nil, nil, nil, page.address(at: end)) == 1
                    && EVP_DecryptUpdate(
                        cipher, target.address(at: start), &count, page.address(at: start), CInt(end - start))
                        == 1
            }
        }
        guard isDecrypted, Int(count) == end - start else {
            throw CryptographyFailure(function: "EVP_DecryptUpdate")
        }
    }

    /// Returns true if a stored page is authentic. Incomplete pages, and pages whose number is out of range,
    /// are not.
    package func authenticates(_ page: [UInt8], number: Int) throws(CryptographyFailure) -> Bool {
        guard page.count == layout.pageSize, let number = UInt32(exactly: number) else { return false }
        return try authenticates(page.span, number: number)
    }

    /// Returns the content of a page, which must have the right size.
    package func decrypt(_ page: [UInt8], number: UInt32) throws(CryptographyFailure) -> [UInt8] {
        var content = [UInt8](repeating: 0, count: page.count)
        var target = content.mutableSpan
        try decrypt(page.span, number: number, into: &target)
        return content
    }
}

/// Encrypts pages like SQLCipher, but without it: the counterpart of ``PageCipher``.
///
/// An instance is used by one thread at a time.
@safe
package final class PageSealer {
    package let layout: PageCipher.Layout
    private let salt: [UInt8]
    private let cipher: OpaquePointer?
    private let code: PageCode?

    /// - Parameter salt: the 16-byte salt of the file.
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
        // From here on, `deinit` frees the context.
        let isKeyed = key.withUnsafeBytes { key in
            unsafe EVP_EncryptInit_ex(cipher, EVP_aes_256_cbc(), nil, key.address(), nil) == 1
                && EVP_CIPHER_CTX_set_padding(cipher, 0) == 1
        }
        guard isKeyed else { throw CryptographyFailure(function: "EVP_EncryptInit_ex") }
    }

    deinit { unsafe EVP_CIPHER_CTX_free(cipher) }

    /// Encrypts a page and adds its MAC. Page 1 gets the salt or its unencrypted header.
    ///
    /// - Parameters:
    ///   - content: the content of the page, as decrypted by ``PageCipher``. Its reserve is ignored.
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
                // These offsets are within bounds: start < end <= pageSize - 16.
                unsafe EVP_EncryptInit_ex(cipher, nil, nil, nil, target.address(at: end)) == 1
                    && EVP_EncryptUpdate(
                        cipher, target.address(at: start), &count, content.address(at: start),
                        CInt(end - start)) == 1
            }
        }
        guard isEncrypted, Int(count) == end - start else {
            throw CryptographyFailure(function: "EVP_EncryptUpdate")
        }
        try code?.write(to: &target, number: number)
    }
}

/// The MAC of pages: an HMAC over ciphertext, IV and the page number.
///
/// An instance is used by one thread at a time.
@safe
private final class PageCode {
    private let layout: PageCipher.Layout
    private let size: Int
    private let context: OpaquePointer
    /// The buffer for a computed MAC.
    private var computed: [UInt8]

    /// - Returns: nil if pages have no MACs.
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
        guard let algorithm = unsafe EVP_MAC_fetch(nil, "HMAC", nil) else { return nil }
        defer { unsafe EVP_MAC_free(algorithm) }
        guard let context = unsafe EVP_MAC_CTX_new(algorithm) else { return nil }
        // The parameters keep a pointer to their name. A Swift string would provide a pointer only during the
        // call that creates them.
        let parameter: StaticString = "digest"
        var digest = Array(hash.rawValue.utf8CString)
        let isKeyed = unsafe digest.withUnsafeMutableBufferPointer { digest in
            let parameters = unsafe [
                OSSL_PARAM_construct_utf8_string(
                    UnsafeRawPointer(parameter.utf8Start).assumingMemoryBound(to: CChar.self),
                    digest.baseAddress, 0),
                OSSL_PARAM_construct_end(),
            ]
            return key.withUnsafeBytes { key in
                unsafe EVP_MAC_init(context, key.address(), key.count, parameters) == 1
            }
        }
        guard isKeyed else {
            unsafe EVP_MAC_CTX_free(context)
            return nil
        }
        return unsafe context
    }

    /// Returns true if the MAC of a stored page is right for its bytes and its number (from 1). The page must
    /// have the right size.
    func isRight(_ page: Span<UInt8>, number: UInt32) throws(CryptographyFailure) -> Bool {
        try compute(page, number: number)
        let end = layout.pageSize - layout.reserve + 16
        var difference: UInt8 = 0
        for index in 0..<size { difference |= computed[index] ^ page[end + index] }
        return difference == 0
    }

    /// Writes the MAC of an encrypted page to its place after the IV.
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
            // Without a key, the context restarts with its current one.
            unsafe EVP_MAC_init(context, nil, 0, nil) == 1
                && EVP_MAC_update(context, page.address(at: start), end - start) == 1
                && withUnsafeBytes(of: &stored) { unsafe EVP_MAC_update(context, $0.baseAddress, 4) } == 1
                && EVP_MAC_final(context, &computed, &count, size) == 1
        }
        guard isComputed, count == size else { throw CryptographyFailure(function: "EVP_MAC_final") }
    }
}
