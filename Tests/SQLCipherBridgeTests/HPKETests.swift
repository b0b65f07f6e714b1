import KeyMaterial
import SQLCipherBridge
import Testing

@Suite("HPKE")
struct HPKETests {
    private static let info = bytes("4f6465206f6e2061204772656369616e2055726e")
    private static let plaintext = bytes("4265617574792069732074727574682c20747275746820626561757479")
    private static let authenticated = bytes("436f756e742d30")
    private static let ephemeralSeed = bytes(
        "7268600d403fce431561aef583ee1613527cff655c1343f29812e66706df3234")
    private static let recipientSeed = bytes(
        "6db9df30aa07dd42ee5e8181afdb977e538f5e1fec8a06223f33f7013e525037")

    @Test("RFC 9180, A.1.1: the key pairs of both sides")
    func derivesKeyPairs() throws {
        let ephemeral = try HPKE.privateKey(seed: SecretBytes(Self.ephemeralSeed))
        #expect(Self.hex(ephemeral) == "52c4a758a802cd8b936eceea314432798d5baf2d7e9235dc084ab1b9cfa2f736")
        #expect(
            try KeyAgreement.publicKey(of: ephemeral)
                == Self.bytes("37fda3567bdbd628e88668c3c8d7e97d1d1253b6d4ea6d44c150f741f1bf4431"))
        let recipient = try HPKE.privateKey(seed: SecretBytes(Self.recipientSeed))
        #expect(Self.hex(recipient) == "4612c550263fc8ad58375df3f557aac531d26850903e55a9f23f21d8534e8ac8")
        #expect(
            try KeyAgreement.publicKey(of: recipient)
                == Self.bytes("3948cfe0ad1ddb695d780e59077195da6c56506b027329794ab02bca80815c4d"))
    }

    // The first is the vector of RFC 9180, A.1.1. The RFC has no vector for X25519 with AES-256-GCM. The
    // second was computed with Python from the same inputs, with code that also reproduces the first.
    @Test(
        "known answers",
        arguments: [
            (
                SealingCipher.aes128GCM,
                "f938558b5d72f1a23810b4be2ab4f84331acc02fc97babc53a52ae8218a355a96d8770ac83d07bea87e13c512a"
            ),
            (
                .aes256GCM,
                "090b7dc225419f7da9e8b460becfbb96a26c7964d79b8010d397fa838530a32a397b14f5776db19ff5e57734e0"
            ),
        ])
    func sealsKnownAnswers(_ cipher: SealingCipher, _ ciphertext: String) throws {
        let recipient = try HPKE.privateKey(seed: SecretBytes(Self.recipientSeed))
        let sealed = try HPKE.seal(
            SecretBytes(Self.plaintext), to: KeyAgreement.publicKey(of: recipient), info: Self.info,
            authenticated: Self.authenticated,
            seed: SecretBytes(Self.ephemeralSeed), cipher: cipher)
        #expect(
            sealed.encapsulation
                == Self.bytes("37fda3567bdbd628e88668c3c8d7e97d1d1253b6d4ea6d44c150f741f1bf4431"))
        #expect(sealed.ciphertext == Self.bytes(ciphertext))
        let opened = try Self.opened(sealed, recipient, authenticated: Self.authenticated, cipher: cipher)
        #expect(opened == "4265617574792069732074727574682c20747275746820626561757479")
    }

    @Test("ciphertext of the HPKE in Python's cryptography 48 is opened")
    func opensWhatOthersHaveSealed() throws {
        let all = Self.bytes(
            "ee18c6a71e3924225c7ccc6e4276ec11ef562b769c0607ceb4a97d605d02de5284753992a4e2488e5a0ac73aa6a19906d2c5bcf25f1462352477ebed0f539716"
                + "f915b44567347f9c774fab7354248409")
        let sealed = HPKE.Sealed(encapsulation: Array(all[..<32]), ciphertext: Array(all[32...]))
        let recipient = try HPKE.privateKey(seed: SecretBytes(Self.recipientSeed))
        let opened = try Self.opened(sealed, recipient)
        #expect(opened.map(Self.bytes) == Array("a data key of thirty-two bytes..".utf8))
    }

    @Test("a flipped bit, another key or another purpose makes opening fail")
    func refusesEverythingElse() throws {
        let recipient = try HPKE.privateKey(seed: SecretBytes(Self.recipientSeed))
        let publicKey = try KeyAgreement.publicKey(of: recipient)
        let sealed = try HPKE.seal(SecretBytes(Self.plaintext), to: publicKey, info: Self.info)
        let whole = try Self.opened(sealed, recipient)
        #expect(whole != nil)
        for bit in 0..<8 * (32 + sealed.ciphertext.count) {
            var other = sealed
            // X25519 ignores the highest bit of a public key, but the key derivation does not.
            if bit < 256 {
                other.encapsulation[bit / 8] ^= 1 << (bit % 8)
            } else {
                other.ciphertext[bit / 8 - 32] ^= 1 << (bit % 8)
            }
            let opened = try Self.opened(other, recipient)
            #expect(opened == nil, "bit \(bit)")
        }
        let others = try [
            Self.opened(sealed, SecretBytes(Self.ephemeralSeed)),
            Self.opened(sealed, recipient, info: Self.info + [0]),
            Self.opened(sealed, recipient, authenticated: [1]),
        ]
        #expect(others == [nil, nil, nil])
    }

    @Test("nothing is sealed to a public key of low order, nor opened from one", arguments: [0, 1])
    func refusesLowOrder(_ first: UInt8) throws {
        let publicKey = [first] + [UInt8](repeating: 0, count: 31)
        #expect(throws: HPKE.Failure.unusablePublicKey) {
            _ = try HPKE.seal(SecretBytes(Self.plaintext), to: publicKey, info: [])
        }
        let sealed = HPKE.Sealed(encapsulation: publicKey, ciphertext: [UInt8](repeating: 0, count: 48))
        let recipient = try HPKE.privateKey(seed: SecretBytes(Self.recipientSeed))
        let opened = try Self.opened(sealed, recipient, info: [])
        #expect(opened == nil)
    }

    @Test("a stretched passphrase matches the first 32 bytes of a scrypt vector of RFC 7914, section 12")
    func stretchesAsTheRFC() throws {
        let derived = try PassphraseStretching.derive(
            SecretBytes("pleaseletmein".utf8), salt: Array("SodiumChloride".utf8),
            PassphraseStretching.Cost(logarithm: 14))
        #expect(Self.hex(derived) == "7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2")
    }

    @Test("a cost that asks for more memory than 256 MiB, or for none, is not acceptable")
    func boundsCosts() {
        #expect(PassphraseStretching.Cost.standard.isAcceptable)
        for cost in [
            (63, 8, 1), (40, 8, 1), (20, 32, 1), (17, 8, 1_000_000), (17, 0, 1), (17, 8, 0), (0, 8, 1),
            (-1, 8, 1), (10, Int.max, 1),
            // libcrypto rejects N of 2^(16 r) and more.
            (16, 1, 1), (20, 1, 1),
        ] {
            #expect(
                !PassphraseStretching.Cost(logarithm: cost.0, blockSize: cost.1, parallelism: cost.2)
                    .isAcceptable, "\(cost)")
        }
        #expect(PassphraseStretching.Cost(logarithm: 15, blockSize: 1).isAcceptable)
    }

    @Test("a key can be derived with an acceptable cost", arguments: [(15, 1, 1), (16, 2, 1), (10, 32, 4)])
    func derivesAcceptable(_ logarithm: Int, _ blockSize: Int, _ parallelism: Int) throws {
        let cost = PassphraseStretching.Cost(
            logarithm: logarithm, blockSize: blockSize, parallelism: parallelism)
        #expect(cost.isAcceptable)
        let derived = try PassphraseStretching.derive(SecretBytes("p".utf8), salt: [1], cost)
        #expect(derived.count == 32)
    }

    /// Returns the digits of the opened plaintext, or nil if opening failed.
    private static func opened(
        _ sealed: HPKE.Sealed, _ privateKey: borrowing SecretBytes, info: [UInt8] = info,
        authenticated: [UInt8] = [],
        cipher: SealingCipher = .aes256GCM
    ) throws -> String? {
        guard
            let bytes = try HPKE.open(
                sealed, privateKey: privateKey, info: info, authenticated: authenticated, cipher: cipher)
        else {
            return nil
        }
        return hex(bytes)
    }

    private static func hex(_ bytes: borrowing SecretBytes) -> String {
        bytes.withUnsafeBytes { bytes in
            unsafe bytes.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
        }
    }

    private static func bytes(_ digits: String) -> [UInt8] {
        let digits = Array(digits)
        return stride(from: 0, to: digits.count, by: 2).compactMap {
            UInt8(String(digits[$0...$0 + 1]), radix: 16)
        }
    }
}
