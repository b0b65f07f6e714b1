internal import CSQLCipher
package import KeyMaterial

/// HMAC-SHA-256 with a secret result, for deriving keys.
package enum SecretCode {
    package static let size = 32

    package static func hmac(key: borrowing SecretBytes, message: borrowing SecretBytes)
        throws(CryptographyFailure) -> SecretBytes
    {
        var result = SecretBytes(count: size)
        let isMade = key.withUnsafeBytes { key in
            message.withUnsafeBytes { message in
                result.withUnsafeMutableBytes { result in
                    var count: CUnsignedInt = 0
                    let answer = unsafe HMAC(
                        EVP_sha256(), key.baseAddress, CInt(key.count), message.address(),
                        message.count, result.address(), &count)
                    return unsafe answer != nil && Int(count) == size
                }
            }
        }
        guard isMade else { throw CryptographyFailure(function: "HMAC") }
        return result
    }

    /// Derives a secret from another one, for the purpose named by the label.
    package static func derive(
        from secret: borrowing SecretBytes, label: String, context: [UInt8] = []
    ) throws(CryptographyFailure) -> SecretBytes {
        let message = SecretBytes(Array(label.utf8) + context)
        return try hmac(key: secret, message: message)
    }
}
