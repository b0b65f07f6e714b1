internal import CSQLCipher
package import KeyMaterial

/// X25519 (RFC 7748), implemented by libcrypto.
package enum KeyAgreement {
    package static let keySize = 32

    package static func publicKey(of privateKey: borrowing SecretBytes) throws(CryptographyFailure) -> [UInt8]
    {
        let key = try AgreementKey(privateKey: privateKey)
        var result = [UInt8](repeating: 0, count: keySize)
        var count = keySize
        guard unsafe EVP_PKEY_get_raw_public_key(key.pointer, &result, &count) == 1, count == keySize else {
            throw CryptographyFailure(function: "EVP_PKEY_get_raw_public_key")
        }
        return result
    }

    /// Returns the shared secret of both sides; nil for a public key that leads to an all-zero secret, which
    /// everyone knows.
    package static func sharedSecret(_ privateKey: borrowing SecretBytes, _ publicKey: [UInt8])
        throws(CryptographyFailure) -> SecretBytes?
    {
        guard publicKey.count == keySize else { return nil }
        let own = try AgreementKey(privateKey: privateKey)
        let theirs = try AgreementKey(publicKey: publicKey)
        let context = unsafe EVP_PKEY_CTX_new(own.pointer, nil)
        defer { unsafe EVP_PKEY_CTX_free(context) }
        guard unsafe context != nil, unsafe EVP_PKEY_derive_init(context) == 1,
            unsafe EVP_PKEY_derive_set_peer(context, theirs.pointer) == 1
        else { throw CryptographyFailure(function: "EVP_PKEY_derive_init") }
        var result = SecretBytes(count: keySize)
        let isDerived = result.withUnsafeMutableBytes { result in
            var count = keySize
            // libcrypto also rejects an all-zero result.
            return unsafe EVP_PKEY_derive(context, result.address(), &count) == 1 && count == keySize
        }
        guard isDerived, !isZero(result) else { return nil }
        return result
    }

    private static func isZero(_ bytes: borrowing SecretBytes) -> Bool {
        bytes == SecretBytes(count: bytes.count)
    }
}

/// A key in libcrypto, which is wiped when this value is destroyed.
@safe
private struct AgreementKey: ~Copyable {
    let pointer: OpaquePointer

    init(privateKey: borrowing SecretBytes) throws(CryptographyFailure) {
        let key = privateKey.withUnsafeBytes { bytes in
            unsafe EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, nil, bytes.address(), bytes.count)
        }
        guard let key = unsafe key else {
            throw CryptographyFailure(function: "EVP_PKEY_new_raw_private_key")
        }
        unsafe pointer = key
    }

    init(publicKey: [UInt8]) throws(CryptographyFailure) {
        guard let key = unsafe EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, nil, publicKey, publicKey.count)
        else {
            throw CryptographyFailure(function: "EVP_PKEY_new_raw_public_key")
        }
        unsafe pointer = key
    }

    deinit { unsafe EVP_PKEY_free(pointer) }
}
