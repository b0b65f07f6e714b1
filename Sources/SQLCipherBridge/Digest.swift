internal import CSQLCipher

/// Digests, implemented by the libcrypto that SQLCipher uses.
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
