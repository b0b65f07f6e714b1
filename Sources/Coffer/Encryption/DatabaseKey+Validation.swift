internal import KeyMaterial

extension DatabaseKey {
    /// Whether both are made of the same bytes in the same way, whatever the salts that come with them. Takes as long for different bytes as
    /// for equal ones.
    func hasSameSecret(as other: DatabaseKey) -> Bool {
        switch (kind, other.kind) {
        case (.passphrase(let mine, _), .passphrase(let theirs, _)): mine.bytes == theirs.bytes
        case (.rawKey(let mine, _), .rawKey(let theirs, _)): mine.bytes == theirs.bytes
        default: false
        }
    }

    /// The salt that comes with the key, if any. A provider's is known only when it is asked.
    var salt: [UInt8]? {
        switch kind {
        case .passphrase(_, let salt), .rawKey(_, let salt): salt
        case .provider, .invalid: nil
        }
    }

    var isProvider: Bool {
        if case .provider = kind { true } else { false }
    }

    /// Refuses a key that can never work. A provider is not asked.
    func validate() throws(KeyError) {
        if let problem { throw .failure(.invalidKey(problem)) }
    }

    private var problem: EncryptionFailure.KeyProblem? {
        switch kind {
        case .invalid(let problem): return problem
        case .provider: return nil
        case .passphrase(let secret, let salt):
            if secret.bytes.isEmpty { return .emptyPassphrase }
            if secret.bytes.count > Int32.max { return .tooLong }
            if !isVerbatim && DatabaseKey.looksLikeRawKey(secret.bytes) { return .passphraseLooksLikeRawKey }
            return DatabaseKey.problem(ofSalt: salt)
        case .rawKey(let secret, let salt):
            if secret.bytes.count != 32 { return .rawKeyLength(secret.bytes.count) }
            return DatabaseKey.problem(ofSalt: salt)
        }
    }

    private static func problem(ofSalt salt: [UInt8]?) -> EncryptionFailure.KeyProblem? {
        guard let salt, salt.count != 16 else { return nil }
        return .saltLength(salt.count)
    }

    /// Whether a text has the form `x'...'` with hexadecimal digits only. SQLCipher takes 64 or 96 digits as a raw key, and any other number
    /// as a passphrase, a trap in itself.
    static func looksLikeRawKey(_ text: borrowing SecretBytes) -> Bool {
        text.withUnsafeBytes { text in
            guard text.count >= 3, unsafe text[0] | 0x20 == UInt8(ascii: "x"), unsafe text[1] == UInt8(ascii: "'"),
                unsafe text[text.count - 1] == UInt8(ascii: "'")
            else { return false }
            return unsafe text[2..<text.count - 1].allSatisfy(SecretHex.isDigit)
        }
    }
}

// MARK: - SQLCipher's own notation

extension DatabaseKey {
    /// A key in the words of SQLCipher and GRDB: `x'...'` with 64 digits is a raw key, with 96 digits a raw key and its salt, and everything
    /// else a passphrase, also when it looks similar.
    init(sqlCipherText text: consuming SecretBytes) {
        let digits = text.count - 3
        guard digits == 64 || digits == 96, DatabaseKey.looksLikeRawKey(text) else {
            self.init(.passphrase(Passphrase(text), salt: nil), isVerbatim: true)
            return
        }
        var key = SecretBytes(count: 32)
        var salt = [UInt8](repeating: 0, count: (digits - 64) / 2)
        let isRead = text.withUnsafeBytes { text in
            let isKeyRead = key.withUnsafeMutableBytes { key in
                unsafe SecretHex.read(UnsafeRawBufferPointer(rebasing: text[2..<66]), to: key)
            }
            let isSaltRead = unsafe salt.withUnsafeMutableBytes { salt in
                unsafe SecretHex.read(UnsafeRawBufferPointer(rebasing: text[66..<text.count - 1]), to: salt)
            }
            return isKeyRead && isSaltRead
        }
        // looksLikeRawKey saw nothing but digits, and an even number of them.
        precondition(isRead)
        self.init(.rawKey(SharedSecret(key), salt: salt.isEmpty ? nil : salt))
    }
}
