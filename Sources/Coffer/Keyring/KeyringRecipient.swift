internal import KeyMaterial
internal import SQLCipherBridge

extension DatabaseKeyring {
    /// The public key of a person or program that can open data sealed to it. It is not secret.
    ///
    /// ```swift
    /// let owner = try DatabaseKeyring.Recipient(text)  // "coffer-recipient-1-..."
    /// ```
    public struct Recipient: Sendable, Hashable, CustomStringConvertible {
        static let prefix = "coffer-recipient-1-"

        let publicKey: [UInt8]

        init(publicKey: [UInt8]) {
            self.publicKey = publicKey
        }

        /// Parses the text of a recipient, in which 8 digits are a checksum. Surrounding spaces and newlines
        /// are ignored.
        ///
        /// - Throws: a ``DatabaseError`` with ``EncryptionFailure/KeyringProblem/invalidRecipient``.
        public init(_ text: String) throws {
            let words = text.split(whereSeparator: \.isWhitespace)
            guard words.count == 1, words[0].hasPrefix(Recipient.prefix),
                let key = KeyTextDigits.read(
                    SecretBytes(words[0].dropFirst(Recipient.prefix.count).utf8), label: Recipient.prefix)
            else { throw DatabaseError(encryptionFailure: .keyring(path: "", .invalidRecipient)) }
            publicKey = key.bytes.withUnsafeBytes { unsafe Array($0) }
        }

        /// The text of the recipient, for people and files.
        public var description: String {
            KeyTextDigits.text(of: SecretBytes(publicKey), label: Recipient.prefix).withUnsafeBytes {
                unsafe String(decoding: $0, as: UTF8.self)
            }
        }
    }

    /// A recipient with its private key, which opens everything sealed to the recipient.
    ///
    /// ```swift
    /// let identity = try DatabaseKeyring.Identity.random()
    /// unsafe identity.withUnsafeText { text in unsafe store(text) }  // a secret
    /// print(identity.recipient)  // not a secret
    /// ```
    public struct Identity: Sendable {
        static let prefix = "coffer-identity-1-"

        private let privateKey: SharedSecret

        /// The public part.
        public let recipient: Recipient

        /// Creates a new identity.
        ///
        /// - Throws: a ``DatabaseError`` if the system has no randomness.
        public static func random() throws -> Identity {
            try DatabaseError.converting {
                try Identity(HPKE.privateKey(seed: SecretBytes.randomOfKey(count: 32)))
            }
        }

        private init(_ privateKey: consuming SecretBytes) throws {
            self.privateKey = SharedSecret(privateKey)
            recipient = Recipient(publicKey: try KeyAgreement.publicKey(of: self.privateKey.bytes))
        }

        /// The secret that opens the slots of the recipient.
        public var secret: Secret { Secret(.identity(privateKey)) }

        /// Calls `body` with the text of the identity, one line without a newline, so that it can be stored.
        /// The pointer is valid only during the call.
        public func withUnsafeText<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows
            -> Result
        {
            try KeyTextDigits.text(of: privateKey.bytes, label: Identity.prefix).withUnsafeBytes(body)
        }

        static func read(_ text: consuming SecretBytes) -> SharedSecret? {
            let text = text.withoutNewline()
            let prefix = Array(Identity.prefix.utf8)
            let digits = text.withUnsafeBytes { text in
                unsafe text.starts(with: prefix)
                    ? SharedSecret(
                        SecretBytes(copying: UnsafeRawBufferPointer(rebasing: text[prefix.count...]))) : nil
            }
            return digits.flatMap { KeyTextDigits.read($0.bytes, label: Identity.prefix) }
        }
    }
}

extension DatabaseKeyring.Identity: CustomStringConvertible, CustomReflectable {
    /// Always `Identity(<redacted>)`.
    public var description: String { "Identity(<redacted>)" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Encodes 32 bytes as 64 hexadecimal digits, followed by 8 digits of checksum that detect copying errors.
enum KeyTextDigits {
    private static let sumSize = 4

    /// Returns a line without a newline: the label, and the digits.
    static func text(of key: borrowing SecretBytes, label: String) -> SecretBytes {
        var message = SecretMessage(capacity: key.count + sumSize)
        message.append(key)
        // libcrypto cannot hash if memory is exhausted. A text without a checksum is refused when it is read.
        if let sum = try? SecretCode.derive(from: key, label: label).prefix(sumSize) { message.append(sum) }
        let bytes = message.finished()
        var digits = SecretBytes(count: 2 * bytes.count)
        bytes.withUnsafeBytes { bytes in
            digits.withUnsafeMutableBytes { unsafe SecretHex.write(bytes, to: $0) }
        }
        var text = SecretMessage(capacity: label.utf8.count + digits.count)
        text.append(Array(label.utf8))
        text.append(digits)
        return text.finished()
    }

    static func read(_ digits: borrowing SecretBytes, label: String) -> SharedSecret? {
        guard digits.count == 2 * (32 + sumSize) else { return nil }
        var bytes = SecretBytes(count: 32 + sumSize)
        let isRead = digits.withUnsafeBytes { digits in
            bytes.withUnsafeMutableBytes { unsafe SecretHex.read(digits, to: $0) }
        }
        guard isRead else { return nil }
        let key = bytes.prefix(32)
        let sum = bytes.withUnsafeBytes {
            unsafe SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0[32...]))
        }
        guard let expected = try? SecretCode.derive(from: key, label: label).prefix(sumSize), sum == expected
        else { return nil }
        return SharedSecret(key)
    }
}
