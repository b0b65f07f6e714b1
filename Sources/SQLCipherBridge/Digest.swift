internal import CSQLCipher

/// Digests by the same libcrypto that SQLCipher uses.
package enum Digest {
    package static func sha256(_ message: [UInt8]) throws(CryptographyFailure) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: 32)
        var count: CUnsignedInt = 0
        guard unsafe EVP_Digest(message, message.count, &result, &count, EVP_sha256(), nil) == 1, count == 32
        else {
            throw CryptographyFailure(function: "EVP_Digest")
        }
        return result
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
        let isAdded = unsafe bytes.withUnsafeBytes {
            unsafe EVP_DigestUpdate(context, $0.baseAddress, $0.count) == 1
        }
        guard isAdded else { throw CryptographyFailure(function: "EVP_DigestUpdate") }
    }

    /// Begins anew, with no bytes.
    package func restart() throws(CryptographyFailure) {
        guard unsafe EVP_DigestInit_ex(context, nil, nil) == 1 else {
            throw CryptographyFailure(function: "EVP_DigestInit_ex")
        }
    }

    /// The digest of all bytes; nothing can be added before ``restart()``.
    package func finish() throws(CryptographyFailure) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: 32)
        guard unsafe EVP_DigestFinal_ex(context, &result, nil) == 1 else {
            throw CryptographyFailure(function: "EVP_DigestFinal_ex")
        }
        return result
    }
}
