package import KeyMaterial

/// Checks the authentication code of single pages without SQLCipher: one page that checks out proves the key, whatever became of page 1.
///
/// Source of the layout: SQLCipher's design notes. A page ends with its reserve: IV (16 bytes), HMAC, padding to whole blocks. The HMAC
/// covers ciphertext, IV and the page number (little endian). Its key is PBKDF2(key, salt xor 0x3a).
package struct PageAuthentication: ~Copyable {
    package let pageSize: Int
    private let reserve: Int
    private let hash: KeyDerivation.Hash
    private let plaintextHeaderSize: Int
    private let hmacKey: SecretBytes

    /// - Parameter plaintextHeaderSize: the bytes of page 1 that are stored in the clear; with none, 16 bytes are the salt.
    package init(
        key: borrowing SecretBytes, salt: [UInt8], pageSize: Int, hmacHash: KeyDerivation.Hash, kdfHash: KeyDerivation.Hash,
        hmacKeyIterations: Int, plaintextHeaderSize: Int
    ) throws(CryptographyFailure) {
        self.pageSize = pageSize
        self.hash = hmacHash
        self.plaintextHeaderSize = plaintextHeaderSize
        // IV and HMAC in whole cipher blocks.
        self.reserve = (16 + hmacHash.digestSize + 15) / 16 * 16
        self.hmacKey = try KeyDerivation.pbkdf2(key, salt: salt.map { $0 ^ 0x3a }, iterations: hmacKeyIterations, hash: kdfHash)
    }

    /// Whether the stored bytes of the page with this number (from 1) carry the right code.
    package borrowing func authenticates(_ page: [UInt8], number: Int) throws(CryptographyFailure) -> Bool {
        guard page.count == pageSize, let number = UInt32(exactly: number) else { return false }
        let start = number == 1 ? max(16, plaintextHeaderSize) : 0
        let end = pageSize - reserve + 16
        let stored = page[end..<end + hash.digestSize]
        var message = Array(page[start..<end])
        for shift in stride(from: UInt32(0), to: 32, by: 8) { message.append(UInt8(truncatingIfNeeded: number >> shift)) }
        return try KeyDerivation.hmac(key: hmacKey, message: message, hash: hash).elementsEqual(stored)
    }
}
