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
    /// What was added since the last call of libcrypto, each of which costs more than a small value.
    private let waiting: UnsafeMutableRawBufferPointer
    private var waitingCount = 0
    private static let greatestWaitingCount = 4096

    package init() throws(CryptographyFailure) {
        unsafe waiting = UnsafeMutableRawBufferPointer.allocate(
            byteCount: ContentDigest.greatestWaitingCount, alignment: 16)
        unsafe context = EVP_MD_CTX_new()
        guard unsafe EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1 else {
            throw CryptographyFailure(function: "EVP_DigestInit_ex")
        }
    }

    deinit {
        unsafe EVP_MD_CTX_free(context)
        // Values of a database.
        unsafe OPENSSL_cleanse(waiting.baseAddress, waiting.count)
        unsafe waiting.deallocate()
    }

    package func update(_ bytes: Span<UInt8>) throws(CryptographyFailure) {
        let isSmall = bytes.count <= ContentDigest.greatestWaitingCount / 2
        if !isSmall || bytes.count > ContentDigest.greatestWaitingCount - waitingCount { try flush() }
        guard isSmall else { return try unsafe hash(bytes.bytes) }
        unsafe bytes.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return }
            unsafe waiting.baseAddress?.advanced(by: waitingCount).copyMemory(
                from: start, byteCount: bytes.count)
            waitingCount += bytes.count
        }
    }

    private func flush() throws(CryptographyFailure) {
        let count = waitingCount
        waitingCount = 0
        try unsafe hash(RawSpan(_unsafeBytes: UnsafeRawBufferPointer(rebasing: waiting[..<count])))
    }

    private func hash(_ bytes: RawSpan) throws(CryptographyFailure) {
        let isAdded = unsafe bytes.withUnsafeBytes {
            unsafe EVP_DigestUpdate(context, $0.baseAddress, $0.count) == 1
        }
        guard isAdded else { throw CryptographyFailure(function: "EVP_DigestUpdate") }
    }

    /// Begins anew, with no bytes.
    package func restart() throws(CryptographyFailure) {
        waitingCount = 0
        guard unsafe EVP_DigestInit_ex(context, nil, nil) == 1 else {
            throw CryptographyFailure(function: "EVP_DigestInit_ex")
        }
    }

    /// The digest of all bytes; nothing can be added before ``restart()``.
    package func finish() throws(CryptographyFailure) -> [UInt8] {
        try flush()
        var result = [UInt8](repeating: 0, count: 32)
        guard unsafe EVP_DigestFinal_ex(context, &result, nil) == 1 else {
            throw CryptographyFailure(function: "EVP_DigestFinal_ex")
        }
        return result
    }
}
