internal import CSQLCipher
internal import KeyMaterial

/// Authenticated encryption of a short secret: AES in Galois/Counter Mode, implemented by libcrypto.
package enum SealingCipher: Sendable, CaseIterable {
    /// Only for the test vectors of RFC 9180, which use this cipher with X25519. Coffer seals nothing with
    /// it.
    case aes128GCM
    case aes256GCM

    package static let nonceSize = 12
    package static let tagSize = 16

    /// The size of the key, in bytes.
    package var keySize: Int { self == .aes128GCM ? 16 : 32 }

    /// The number of the cipher in RFC 9180.
    var number: UInt8 { self == .aes128GCM ? 1 : 2 }

    private var cipher: OpaquePointer? { unsafe self == .aes128GCM ? EVP_aes_128_gcm() : EVP_aes_256_gcm() }

    /// Returns the ciphertext, followed by the tag.
    func seal(
        _ secret: borrowing SecretBytes, key: borrowing SecretBytes, nonce: borrowing SecretBytes,
        authenticated: [UInt8]
    ) throws(CryptographyFailure) -> [UInt8] {
        let context = unsafe EVP_CIPHER_CTX_new()
        defer { unsafe EVP_CIPHER_CTX_free(context) }
        var result = [UInt8](repeating: 0, count: secret.count + SealingCipher.tagSize)
        var tag = [UInt8](repeating: 0, count: SealingCipher.tagSize)
        var (count, last) = (CInt(0), CInt(0))
        let isSealed = key.withUnsafeBytes { key in
            nonce.withUnsafeBytes { nonce in
                secret.withUnsafeBytes { secret in
                    unsafe EVP_EncryptInit_ex(
                        context, cipher, nil, key.address(), nonce.address()) == 1
                        && SealingCipher.authenticate(authenticated, context, EVP_EncryptUpdate)
                        && EVP_EncryptUpdate(
                            context, &result, &count, secret.address(), CInt(secret.count)) == 1
                        && EVP_EncryptFinal_ex(context, nil, &last) == 1
                        && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, CInt(tag.count), &tag) == 1
                }
            }
        }
        guard isSealed, Int(count) == secret.count, last == 0 else {
            throw CryptographyFailure(function: "EVP_EncryptFinal_ex")
        }
        result.replaceSubrange(secret.count..., with: tag)
        return result
    }

    /// Returns the sealed secret, or nil if it is not authentic.
    func open(
        _ sealed: [UInt8], key: borrowing SecretBytes, nonce: borrowing SecretBytes, authenticated: [UInt8]
    ) throws(CryptographyFailure) -> SecretBytes? {
        guard sealed.count > SealingCipher.tagSize else { return nil }
        let context = unsafe EVP_CIPHER_CTX_new()
        defer { unsafe EVP_CIPHER_CTX_free(context) }
        let size = sealed.count - SealingCipher.tagSize
        var tag = Array(sealed[size...])
        var result = SecretBytes(count: size)
        var (count, last) = (CInt(0), CInt(0))
        let isDecrypted = key.withUnsafeBytes { key in
            nonce.withUnsafeBytes { nonce in
                result.withUnsafeMutableBytes { result in
                    unsafe EVP_DecryptInit_ex(
                        context, cipher, nil, key.address(), nonce.address()) == 1
                        && SealingCipher.authenticate(authenticated, context, EVP_DecryptUpdate)
                        && EVP_DecryptUpdate(context, result.address(), &count, sealed, CInt(size)) == 1
                        && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, CInt(tag.count), &tag) == 1
                }
            }
        }
        guard isDecrypted, Int(count) == size else {
            throw CryptographyFailure(function: "EVP_DecryptUpdate")
        }
        guard unsafe EVP_DecryptFinal_ex(context, nil, &last) == 1 else { return nil }
        return result
    }

    private typealias Update = (
        OpaquePointer?, UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<CInt>?, UnsafePointer<UInt8>?, CInt
    ) ->
        CInt

    private static func authenticate(_ bytes: [UInt8], _ context: OpaquePointer?, _ update: Update) -> Bool {
        var count: CInt = 0
        return unsafe bytes.isEmpty || update(context, nil, &count, bytes, CInt(bytes.count)) == 1
    }
}
