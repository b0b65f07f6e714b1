internal import CSQLCipher
package import KeyMaterial

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
    package init(key: borrowing SecretBytes, salt: [UInt8], layout: PageCipher.Layout) throws(CryptographyFailure) {
        self.layout = layout
        self.salt = salt
        guard key.count == 32, salt.count == 16 else { throw CryptographyFailure(function: "EVP_EncryptInit_ex") }
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
        precondition(content.count == layout.pageSize && target.count == layout.pageSize && reserve.count == layout.reserve)
        let start = number == 1 ? layout.clearSize : 0
        let end = layout.pageSize - layout.reserve
        target.copy(reserve, at: end)
        if number == 1 {
            let salt = salt
            if layout.plaintextHeaderSize == 0 { target.copy(salt.span) } else { target.copy(content.extracting(0..<start)) }
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
        guard isEncrypted, Int(count) == end - start else { throw CryptographyFailure(function: "EVP_EncryptUpdate") }
        try code?.write(to: &target, number: number)
    }
}
