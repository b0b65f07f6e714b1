internal import CSQLCipher
internal import KeyMaterial

/// The authentication codes of pages: an HMAC over ciphertext, IV and the page number.
///
/// One instance serves one thread at a time.
@safe
final class PageCode {
    private let layout: PageCipher.Layout
    private let size: Int
    private let context: OpaquePointer
    /// Room for one code.
    private var computed: [UInt8]

    /// - Returns: nil for pages that carry no codes.
    init?(key: borrowing SecretBytes, salt: [UInt8], layout: PageCipher.Layout) throws(CryptographyFailure) {
        guard let hash = layout.hmac else { return nil }
        let hmacKey = try KeyDerivation.pbkdf2(
            key, salt: salt.map { $0 ^ layout.hmacSaltMask }, iterations: layout.hmacKeyIterations, hash: layout.kdf)
        guard let context = unsafe PageCode.makeContext(key: hmacKey, hash: hash) else {
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
        // The parameters keep a pointer to their name, and a string of Swift gives one only for the call that makes them.
        let parameter: StaticString = "digest"
        var digest = Array(name.utf8CString)
        let isKeyed = unsafe digest.withUnsafeMutableBufferPointer { digest in
            let parameters = unsafe [
                OSSL_PARAM_construct_utf8_string(
                    UnsafeRawPointer(parameter.utf8Start).assumingMemoryBound(to: CChar.self), digest.baseAddress, 0),
                OSSL_PARAM_construct_end(),
            ]
            return key.withUnsafeBytes { key in
                unsafe EVP_MAC_init(context, key.assumingMemoryBound(to: UInt8.self).baseAddress, key.count, parameters) == 1
            }
        }
        guard isKeyed else {
            unsafe EVP_MAC_CTX_free(context)
            return nil
        }
        return unsafe context
    }

    /// Whether a stored page of the right size carries the code of its bytes and its number, which is from 1 on.
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
