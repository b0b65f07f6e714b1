package import KeyMaterial

/// HKDF with SHA-256 (RFC 5869): derives keys from a secret with high entropy.
package enum HKDF {
    /// The maximum size of a result, in bytes.
    package static let maximumCount = 255 * SecretCode.size

    /// Derives a secret of `count` bytes.
    ///
    /// - Parameters:
    ///   - salt: a value that need not be secret. Empty stands for 32 zero bytes, to which HMAC pads it.
    ///   - info: the purpose of the result. Each purpose has an independent result.
    package static func derive(
        from secret: borrowing SecretBytes, salt: [UInt8] = [], info: [UInt8], count: Int = SecretCode.size
    ) throws(CryptographyFailure) -> SecretBytes {
        let extracted = try SecretCode.hmac(key: SecretBytes(salt), message: secret)
        return try expand(extracted, info: info, count: count)
    }

    private static func expand(
        _ extracted: borrowing SecretBytes, info: [UInt8], count: Int
    ) throws(CryptographyFailure) -> SecretBytes {
        precondition((1...maximumCount).contains(count), "HKDF returns 1 to \(maximumCount) bytes.")
        let blockCount = (count + SecretCode.size - 1) / SecretCode.size
        var result = SecretMessage(capacity: blockCount * SecretCode.size)
        var block = SecretBytes(count: 0)
        for number in 1...blockCount {
            var message = SecretMessage(capacity: block.count + info.count + 1)
            message.append(block)
            message.append(info)
            message.append([UInt8(number)])
            block = try SecretCode.hmac(key: extracted, message: message.finished())
            result.append(block)
        }
        return result.finished().prefix(count)
    }
}
