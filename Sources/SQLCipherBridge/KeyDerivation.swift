internal import CSQLCipher
package import KeyMaterial
internal import Synchronization

/// A failure of libcrypto to derive a key or to compute a MAC.
package struct CryptographyFailure: Error, Hashable {
    package let function: String

    package var message: String {
        self == .lanes
            ? "the processor's vector instructions gave another result than libcrypto, and are no longer "
                + "used; try again"
            : "\(function) failed"
    }

    /// The result of vector lanes differed from libcrypto's: see ``PageLanes``.
    static let lanes = CryptographyFailure(function: "page_lanes")
}

/// PBKDF2 and HMAC, implemented by the libcrypto that SQLCipher uses.
package enum KeyDerivation {
    /// A hash function, with its name in libcrypto and in SQLCipher.
    package enum Hash: String, Sendable, CaseIterable {
        case sha1 = "SHA1"
        case sha256 = "SHA256"
        case sha512 = "SHA512"

        /// The size of a digest, in bytes.
        package var digestSize: Int {
            switch self {
            case .sha1: 20
            case .sha256: 32
            case .sha512: 64
            }
        }

        fileprivate var digest: OpaquePointer? {
            switch self {
            case .sha1: unsafe EVP_sha1()
            case .sha256: unsafe EVP_sha256()
            case .sha512: unsafe EVP_sha512()
            }
        }
    }

    private static let derivations = Atomic<Int>(0)

    /// The number of keys that this process has derived from passphrases, for tests. Each takes about a tenth
    /// of a second.
    package static var derivationCount: Int { derivations.load(ordering: .relaxed) }

    /// Derives a key of 32 bytes from a passphrase, as SQLCipher does on the first use of a connection.
    package static func databaseKey(
        passphrase: borrowing SecretBytes, salt: [UInt8], iterations: Int, hash: Hash
    ) throws(CryptographyFailure) -> SecretBytes {
        derivations.add(1, ordering: .relaxed)
        return try pbkdf2(passphrase, salt: salt, iterations: iterations, hash: hash)
    }

    /// Derives 32 bytes by PBKDF2 with HMAC.
    static func pbkdf2(
        _ secret: borrowing SecretBytes, salt: [UInt8], iterations: Int, hash: Hash
    ) throws(CryptographyFailure) -> SecretBytes {
        guard let secretCount = CInt(exactly: secret.count), let iterations = CInt(exactly: iterations),
            iterations > 0
        else {
            throw CryptographyFailure(function: "PKCS5_PBKDF2_HMAC")
        }
        var result = SecretBytes(count: 32)
        let isDerived = secret.withUnsafeBytes { secret in
            result.withUnsafeMutableBytes { result in
                unsafe PKCS5_PBKDF2_HMAC(
                    secret.assumingMemoryBound(to: CChar.self).baseAddress, secretCount, salt,
                    CInt(salt.count),
                    iterations, hash.digest, CInt(result.count), result.address()) == 1
            }
        }
        guard isDerived else { throw CryptographyFailure(function: "PKCS5_PBKDF2_HMAC") }
        return result
    }

    /// Returns the MAC of a message.
    package static func hmac(key: borrowing SecretBytes, message: [UInt8], hash: Hash)
        throws(CryptographyFailure) -> [UInt8]
    {
        var result = [UInt8](repeating: 0, count: hash.digestSize)
        var count: CUnsignedInt = 0
        let answer = key.withUnsafeBytes { key in
            unsafe HMAC(
                hash.digest, key.baseAddress, CInt(key.count), message, message.count, &result, &count)
        }
        guard unsafe answer != nil, Int(count) == result.count else {
            throw CryptographyFailure(function: "HMAC")
        }
        return result
    }
}
