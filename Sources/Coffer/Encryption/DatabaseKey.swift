internal import KeyMaterial

/// The key of an encrypted database: a passphrase, 32 raw bytes, or a closure that supplies either on demand.
///
/// ```swift
/// var config = Configuration()
/// config.key = .passphrase("correct horse battery staple")
/// config.key = .rawKey(bytes)
/// config.key = .provider { try .passphrase(answerOfStore()) }
/// ```
///
/// A passphrase costs about a tenth of a second, because PBKDF2 stretches it with the file's salt. Copies of
/// a key share the derived keys: all queues and pools created from one configuration pay once per file, even
/// if they are opened at the same time. A raw key costs nothing.
///
/// The bytes are kept in separate memory, which is locked where the system allows it, excluded from core
/// dumps, and wiped when the last copy of the key is released. SQLCipher's copies are not excluded: while a
/// database is open, a core dump of the process contains its key. Coffer cannot wipe a `String` that you pass
/// in, so prefer bytes for keys that must not stay in memory. A key has no readable description, is not
/// `Codable`, and shows nothing to debuggers and mirrors.
///
/// Creating a key never fails. A key that cannot work (because it is empty or has the wrong length) is
/// refused with
/// ``EncryptionFailure/invalidKey(_:)`` when a database is opened with it.
public struct DatabaseKey: Sendable {
    enum Kind: Sendable {
        case passphrase(Passphrase, salt: [UInt8]?)
        case rawKey(SharedSecret, salt: [UInt8]?)
        case provider(@Sendable () throws -> DatabaseKey)
        case located(LocatedKey)
        case invalid(EncryptionFailure.KeyProblem)
    }

    let kind: Kind

    /// True if a passphrase of the form `x'...'` is to be used literally; see ``init(sqlCipherText:)``.
    let isVerbatim: Bool

    init(_ kind: Kind, isVerbatim: Bool = false) {
        self.kind = kind
        self.isVerbatim = isVerbatim
    }
}

// MARK: - Creating keys

extension DatabaseKey {
    /// Returns a passphrase that is used as its UTF-8 bytes and stretched by PBKDF2 according to the cipher
    /// settings.
    ///
    /// The text is not normalized, neither here nor in other tools, so different Unicode spellings of the
    /// same text are different passphrases.
    public static func passphrase(_ passphrase: String) -> DatabaseKey {
        DatabaseKey(.passphrase(Passphrase(SecretBytes(utf8: passphrase)), salt: nil))
    }

    /// Returns a passphrase given as bytes, such as `Data` or `[UInt8]`.
    public static func passphrase(_ bytes: some Sequence<UInt8>) -> DatabaseKey {
        DatabaseKey(.passphrase(Passphrase(SecretBytes(bytes)), salt: nil))
    }

    /// Returns a passphrase given as bytes, with the salt that a file with a plaintext header cannot store.
    ///
    /// - Parameter salt: 16 bytes.
    public static func passphrase(_ bytes: some Sequence<UInt8>, salt: some Sequence<UInt8>) -> DatabaseKey {
        DatabaseKey(.passphrase(Passphrase(SecretBytes(bytes)), salt: Array(salt)))
    }

    /// Returns a key of 32 bytes that is used without derivation. The salt is read from the file, or chosen
    /// at random for a new file.
    public static func rawKey(_ bytes: some Sequence<UInt8>) -> DatabaseKey {
        DatabaseKey(.rawKey(SharedSecret(SecretBytes(bytes)), salt: nil))
    }

    /// Returns a key of 32 bytes with an explicit salt, which takes precedence over the one in the file.
    ///
    /// - Parameters:
    ///   - bytes: 32 bytes.
    ///   - salt: 16 bytes.
    public static func rawKey(_ bytes: some Sequence<UInt8>, salt: some Sequence<UInt8>) -> DatabaseKey {
        DatabaseKey(.rawKey(SharedSecret(SecretBytes(bytes)), salt: Array(salt)))
    }

    /// Returns a new raw key from the system's random generator.
    ///
    /// If you do not store its bytes (see ``withUnsafeRawKeyBytes(_:)``), the database cannot be opened
    /// again.
    public static func random() -> DatabaseKey {
        do throws(RandomnessFailure) {
            return try DatabaseKey(.rawKey(SharedSecret(SecretBytes.random(count: 32)), salt: nil))
        } catch {
            return DatabaseKey(.invalid(.noRandomness))
        }
    }

    /// Returns a key that is requested when it is needed: when a file is first opened, and again when the
    /// earlier answer no longer opens the file.
    ///
    /// The closure is called on the thread that opens a connection, possibly on several threads at once. Its
    /// errors are rethrown unchanged to the caller that opens the connection.
    public static func provider(_ key: @escaping @Sendable () throws -> DatabaseKey) -> DatabaseKey {
        DatabaseKey(.provider(key))
    }

    /// Calls `body` with the 32 bytes of a raw key, so that they can be stored.
    ///
    /// The pointer is valid only during the call.
    ///
    /// - Returns: nil if the key is not a raw key.
    public func withUnsafeRawKeyBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows
        -> Result?
    {
        guard case .rawKey(let secret, _) = kind else { return nil }
        return try secret.bytes.withUnsafeBytes(body)
    }
}

// MARK: - Redacted descriptions

extension DatabaseKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Always `DatabaseKey(<redacted>)`.
    public var description: String { "DatabaseKey(<redacted>)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension DatabaseKey {
    /// Returns true if both keys consist of the same bytes, used in the same way. Salts that were given with
    /// them are ignored. The comparison takes constant time.
    func hasSameSecret(as other: DatabaseKey) -> Bool {
        switch (kind, other.kind) {
        case (.passphrase(let mine, _), .passphrase(let theirs, _)): mine.bytes == theirs.bytes
        case (.rawKey(let mine, _), .rawKey(let theirs, _)): mine.bytes == theirs.bytes
        default: false
        }
    }

    /// The salt given with the key, if any. A provider's salt is unknown until it is called.
    var salt: [UInt8]? {
        switch kind {
        case .passphrase(_, let salt), .rawKey(_, let salt): salt
        case .provider, .located, .invalid: nil
        }
    }

    /// True if the key is requested when a file is opened.
    var isProvider: Bool {
        switch kind {
        case .provider, .located: true
        case .passphrase, .rawKey, .invalid: false
        }
    }

    var isLocated: Bool {
        if case .located = kind { true } else { false }
    }

    /// Throws if the key can never work. Providers are not called.
    func validate() throws(KeyError) {
        if let problem { throw .failure(.invalidKey(problem)) }
    }

    private var problem: EncryptionFailure.KeyProblem? {
        switch kind {
        case .invalid(let problem): return problem
        case .provider, .located: return nil
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

    /// Returns true if the text has the form `x'...'` and contains only hexadecimal digits. SQLCipher treats
    /// 64 or 96 digits as a raw key and any other number as a passphrase, which is easy to get wrong.
    static func looksLikeRawKey(_ text: borrowing SecretBytes) -> Bool {
        text.withUnsafeBytes { text in
            guard text.count >= 3, unsafe text[0] | 0x20 == UInt8(ascii: "x"),
                unsafe text[1] == UInt8(ascii: "'"),
                unsafe text[text.count - 1] == UInt8(ascii: "'")
            else { return false }
            return unsafe text[2..<text.count - 1].allSatisfy(SecretHex.isDigit)
        }
    }
}

// MARK: - SQLCipher's own notation

extension DatabaseKey {
    /// Creates a key from the notation of SQLCipher and GRDB: `x'...'` with 64 digits is a raw key, with 96
    /// digits a raw key and its salt. Everything else is a passphrase, even if it looks similar.
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
        // looksLikeRawKey has accepted only digits, and 64 or 96 are an even number.
        precondition(isRead)
        self.init(.rawKey(SharedSecret(key), salt: salt.isEmpty ? nil : salt))
    }
}
