package import KeyMaterial

/// Hybrid public key encryption (RFC 9180): the holder of a public key seals a secret for the holder of the
/// private key.
///
/// Base mode, one message per encapsulation, DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, AES-256-GCM. It does
/// not authenticate the sender. Names in quotation marks come from the RFC.
package enum HPKE {
    /// A sealed secret in its stored form.
    package struct Sealed: Sendable, Hashable {
        /// "enc": the ephemeral public key of this message.
        package var encapsulation: [UInt8]
        /// The ciphertext and its tag.
        package var ciphertext: [UInt8]

        package init(encapsulation: [UInt8], ciphertext: [UInt8]) {
            self.encapsulation = encapsulation
            self.ciphertext = ciphertext
        }

        /// Returns the size of the ciphertext of a secret, in bytes.
        package static func size(of count: Int) -> Int { count + SealingCipher.tagSize }
    }

    /// The reason why a secret could not be sealed.
    package enum Failure: Error, Hashable {
        case cryptography(CryptographyFailure)
        case randomness(RandomnessFailure)
        /// The public key has the wrong size, or leads to an all-zero shared secret.
        case unusablePublicKey
    }

    /// "DeriveKeyPair": derives the private key from a seed of at least 32 bytes.
    package static func privateKey(seed: borrowing SecretBytes) throws(CryptographyFailure) -> SecretBytes {
        let suite = Suite.kem
        let extracted = try suite.extract(salt: SecretBytes(count: 0), "dkp_prk", seed)
        return try suite.expand(extracted, "sk", [], count: KeyAgreement.keySize)
    }

    /// Seals a secret to a public key.
    ///
    /// - Parameters:
    ///   - info: the purpose of the secret. Opening it requires the same bytes.
    ///   - authenticated: additional data. Opening the secret requires the same bytes.
    package static func seal(
        _ secret: borrowing SecretBytes, to publicKey: [UInt8], info: [UInt8], authenticated: [UInt8] = []
    ) throws(Failure) -> Sealed {
        let seed: SecretBytes
        do throws(RandomnessFailure) { seed = try SecretBytes.random(count: 32) } catch {
            throw .randomness(error)
        }
        return try seal(
            secret, to: publicKey, info: info, authenticated: authenticated, seed: seed, cipher: .aes256GCM)
    }

    /// Seals a secret with a given seed instead of a random one, for known answers.
    package static func seal(
        _ secret: borrowing SecretBytes, to publicKey: [UInt8], info: [UInt8], authenticated: [UInt8],
        seed: borrowing SecretBytes,
        cipher: SealingCipher
    ) throws(Failure) -> Sealed {
        let result: Sealed?
        do throws(CryptographyFailure) {
            result = try sealed(secret, publicKey, info, authenticated, privateKey(seed: seed), cipher)
        } catch {
            throw .cryptography(error)
        }
        guard let result else { throw .unusablePublicKey }
        return result
    }

    private static func sealed(
        _ secret: borrowing SecretBytes, _ publicKey: [UInt8], _ info: [UInt8], _ authenticated: [UInt8],
        _ ephemeral: borrowing SecretBytes, _ cipher: SealingCipher
    ) throws(CryptographyFailure) -> Sealed? {
        let encapsulation = try KeyAgreement.publicKey(of: ephemeral)
        guard let shared = try sharedSecret(ephemeral, publicKey, encapsulation, publicKey) else {
            return nil
        }
        let schedule = try Schedule.make(shared, info: info, cipher)
        let ciphertext = try cipher.seal(
            secret, key: schedule.key, nonce: schedule.nonce, authenticated: authenticated)
        return Sealed(encapsulation: encapsulation, ciphertext: ciphertext)
    }

    /// Opens a sealed secret with a private key. Returns nil if it was sealed to another key or for another
    /// purpose, or was changed.
    package static func open(
        _ sealed: Sealed, privateKey: borrowing SecretBytes, info: [UInt8], authenticated: [UInt8] = [],
        cipher: SealingCipher = .aes256GCM
    ) throws(CryptographyFailure) -> SecretBytes? {
        let publicKey = try KeyAgreement.publicKey(of: privateKey)
        guard let shared = try sharedSecret(privateKey, sealed.encapsulation, sealed.encapsulation, publicKey)
        else { return nil }
        let schedule = try Schedule.make(shared, info: info, cipher)
        return try cipher.open(
            sealed.ciphertext, key: schedule.key, nonce: schedule.nonce, authenticated: authenticated)
    }

    /// "ExtractAndExpand" of the agreed secret, bound to both public keys.
    private static func sharedSecret(
        _ privateKey: borrowing SecretBytes, _ publicKey: [UInt8], _ encapsulation: [UInt8],
        _ recipient: [UInt8]
    ) throws(CryptographyFailure) -> SecretBytes? {
        guard let agreed = try KeyAgreement.sharedSecret(privateKey, publicKey) else { return nil }
        let extracted = try Suite.kem.extract(salt: SecretBytes(count: 0), "eae_prk", agreed)
        return try Suite.kem.expand(extracted, "shared_secret", encapsulation + recipient, count: 32)
    }

    /// "KeySchedule" in base mode: without a pre-shared key.
    private struct Schedule: ~Copyable {
        let key: SecretBytes
        let nonce: SecretBytes

        static func make(
            _ shared: borrowing SecretBytes, info: [UInt8], _ cipher: SealingCipher
        ) throws(CryptographyFailure) -> Schedule {
            let suite = Suite.hpke(cipher)
            let none = SecretBytes(count: 0)
            let context = try [0] + suite.hash("psk_id_hash", []) + suite.hash("info_hash", info)
            let secret = try suite.extract(salt: shared, "secret", none)
            let key = try suite.expand(secret, "key", context, count: cipher.keySize)
            let nonce = try suite.expand(secret, "base_nonce", context, count: SealingCipher.nonceSize)
            return Schedule(key: key, nonce: nonce)
        }
    }

    /// "LabeledExtract" and "LabeledExpand" for one "suite_id". All outputs here fit into one block of HKDF.
    private struct Suite {
        let identifier: [UInt8]

        static let kem = Suite(identifier: Array("KEM".utf8) + [0, 0x20])

        static func hpke(_ cipher: SealingCipher) -> Suite {
            Suite(identifier: Array("HPKE".utf8) + [0, 0x20, 0, 1, 0, cipher.number])
        }

        private func labeled(_ label: String) -> [UInt8] {
            Array("HPKE-v1".utf8) + identifier + Array(label.utf8)
        }

        func extract(salt: borrowing SecretBytes, _ label: String, _ secret: borrowing SecretBytes)
            throws(CryptographyFailure)
            -> SecretBytes
        {
            let label = labeled(label)
            var message = SecretMessage(capacity: label.count + secret.count)
            message.append(label)
            message.append(secret)
            return try SecretCode.hmac(key: salt, message: message.finished())
        }

        /// Extracts from bytes that are not secret.
        func hash(_ label: String, _ bytes: [UInt8]) throws(CryptographyFailure) -> [UInt8] {
            try extract(salt: SecretBytes(count: 0), label, SecretBytes(bytes)).withUnsafeBytes {
                unsafe Array($0)
            }
        }

        func expand(_ secret: borrowing SecretBytes, _ label: String, _ info: [UInt8], count: Int)
            throws(CryptographyFailure)
            -> SecretBytes
        {
            precondition(count <= SecretCode.size)
            let message = [UInt8(count >> 8), UInt8(count & 0xff)] + labeled(label) + info + [1]
            return try SecretCode.hmac(key: secret, message: SecretBytes(message)).prefix(count)
        }
    }
}
