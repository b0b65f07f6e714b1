internal import KeyMaterial
internal import SQLCipherBridge

extension DatabaseKeyring {
    /// A key of 256 bits for a sheet of paper: 14 groups of 4 characters, which include a checksum.
    ///
    /// ```swift
    /// let recovery = try DatabaseKeyring.RecoveryKey.random()
    /// try keyring.add(.secret(recovery.secret, name: "safe"), unlockedBy: .passphrase(passphrase))
    /// unsafe recovery.withUnsafeText { text in unsafe printSheet(text) }  // now: it is not stored
    /// ```
    public struct RecoveryKey: Sendable {
        private let bytes: SharedSecret

        /// Creates a new key.
        ///
        /// - Throws: a ``DatabaseError`` if the system has no randomness.
        public static func random() throws -> RecoveryKey {
            try DatabaseError.converting {
                RecoveryKey(bytes: SharedSecret(try SecretBytes.randomOfKey(count: RecoveryText.size)))
            }
        }

        /// The secret that opens a slot created with this key.
        public var secret: Secret { Secret(.recoveryKey(bytes)) }

        /// Calls `body` with the characters of the key, in groups. The pointer is valid only during the call.
        public func withUnsafeText<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows
            -> Result
        {
            try RecoveryText.text(of: bytes.bytes).withUnsafeBytes(body)
        }
    }
}

extension DatabaseKeyring.RecoveryKey: CustomStringConvertible, CustomReflectable {
    /// Always `RecoveryKey(<redacted>)`.
    public var description: String { "RecoveryKey(<redacted>)" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The characters of a recovery key: 256 bits and a checksum of 24 bits, five bits a character, without I, L,
/// O and U.
enum RecoveryText {
    static let size = 32
    private static let sumSize = 3
    private static let groupSize = 4
    private static let label = "coffer recovery key 1"
    private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)

    static func text(of key: borrowing SecretBytes) -> SecretBytes {
        var message = SecretMessage(capacity: size + sumSize)
        message.append(key)
        // A text without a checksum is refused when it is read.
        if let sum = try? SecretCode.derive(from: key, label: label).prefix(sumSize) { message.append(sum) }
        let bytes = message.finished()
        let count = bytes.count * 8 / 5
        var text = SecretBytes(count: count + (count - 1) / groupSize)
        bytes.withUnsafeBytes { bytes in
            text.withUnsafeMutableBytes { text in
                var position = 0
                for index in 0..<count {
                    if index > 0, index.isMultiple(of: groupSize) {
                        unsafe text[position] = UInt8(ascii: "-")
                        position += 1
                    }
                    var value = 0
                    for bit in 5 * index..<5 * index + 5 {
                        value = value << 1 | Int(unsafe bytes[bit / 8] >> UInt8(7 - bit % 8) & 1)
                    }
                    unsafe text[position] = character(value)
                    position += 1
                }
            }
        }
        return text
    }

    /// Returns the key in a text; nil if the checksum is wrong.
    static func read(_ text: borrowing SecretBytes) -> SharedSecret? {
        var bytes = SecretBytes(count: size + sumSize)
        let isRead = text.withUnsafeBytes { text in
            bytes.withUnsafeMutableBytes { bytes in
                var bit = 0
                for index in text.indices {
                    let character = unsafe text[index]
                    if [
                        UInt8(ascii: " "), UInt8(ascii: "-"), UInt8(ascii: "\n"), UInt8(ascii: "\r"),
                        UInt8(ascii: "\t"),
                    ].contains(
                        character)
                    {
                        continue
                    }
                    guard let value = value(of: character), bit + 5 <= 8 * bytes.count else { return false }
                    for shift in stride(from: 4, through: 0, by: -1) {
                        unsafe bytes[bit / 8] |= UInt8(value >> shift & 1) << UInt8(7 - bit % 8)
                        bit += 1
                    }
                }
                return bit == 8 * bytes.count
            }
        }
        guard isRead else { return nil }
        let key = bytes.prefix(size)
        let sum = bytes.withUnsafeBytes {
            unsafe SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0[size...]))
        }
        guard let expected = try? SecretCode.derive(from: key, label: label).prefix(sumSize), sum == expected
        else { return nil }
        return SharedSecret(key)
    }

    // Both functions examine every character of the alphabet, so that cache lines do not reveal the selected
    // one.

    private static func character(_ value: Int) -> UInt8 {
        var result: UInt8 = 0
        for (index, character) in alphabet.enumerated() { result |= index == value ? character : 0 }
        return result
    }

    private static func value(of character: UInt8) -> Int? {
        var upper = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(character) ? character - 32 : character
        // Letters that people confuse with digits.
        if upper == UInt8(ascii: "O") { upper = UInt8(ascii: "0") }
        if upper == UInt8(ascii: "I") || upper == UInt8(ascii: "L") { upper = UInt8(ascii: "1") }
        var result: Int?
        for (index, character) in alphabet.enumerated() where character == upper { result = index }
        return result
    }
}
