internal import Glibc
internal import KeyMaterial
internal import SQLCipherBridge
internal import Synchronization

/// The key of an encrypted database: a passphrase, 32 raw bytes, or a closure that gives one when it is
/// needed.
///
/// ```swift
/// var config = Configuration()
/// config.key = .passphrase("correct horse battery staple")
/// config.key = .rawKey(bytes)
/// config.key = .provider { try .passphrase(answerOfStore()) }
/// ```
///
/// A passphrase costs about a tenth of a second, because it is stretched by PBKDF2 with the file's salt.
/// Copies of a key share what was derived: all queues and pools that are made from one configuration pay once
/// for a file, also when they are opened at the same time. A raw key costs nothing.
///
/// The bytes are kept in memory of their own, which is locked where the system allows it, left out of core
/// dumps, and wiped when the last copy of the key goes away. SQLCipher's copies are not: while a database is
/// open, a core dump of the process has its key in it. A `String` that was given is the caller's, and not
/// under control: prefer bytes for keys that must not stay. A key has no readable description, is not
/// `Codable`, and shows nothing to debuggers and mirrors.
///
/// Making a key never fails. A key that cannot work (empty, of a wrong length) is refused with
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

    /// Whether a passphrase of the form `x'...'` is meant as it is written; see ``init(sqlCipherText:)``.
    let isVerbatim: Bool

    init(_ kind: Kind, isVerbatim: Bool = false) {
        self.kind = kind
        self.isVerbatim = isVerbatim
    }
}

// MARK: - Making a key

extension DatabaseKey {
    /// A passphrase, used as its UTF-8 bytes, which are stretched by PBKDF2 as the cipher settings say.
    ///
    /// Unicode offers several spellings of the same text, and no normalization takes place, here or in other
    /// tools.
    public static func passphrase(_ passphrase: String) -> DatabaseKey {
        DatabaseKey(.passphrase(Passphrase(SecretBytes(utf8: passphrase)), salt: nil))
    }

    /// A passphrase given as bytes, such as `Data` or `[UInt8]`.
    public static func passphrase(_ bytes: some Sequence<UInt8>) -> DatabaseKey {
        DatabaseKey(.passphrase(Passphrase(SecretBytes(bytes)), salt: nil))
    }

    /// A passphrase given as bytes, with the 16 bytes of salt that a file with a plaintext header cannot
    /// store.
    ///
    /// - Parameters:
    ///   - bytes: the secret itself.
    ///   - salt: 16 bytes.
    public static func passphrase(_ bytes: some Sequence<UInt8>, salt: some Sequence<UInt8>) -> DatabaseKey {
        DatabaseKey(.passphrase(Passphrase(SecretBytes(bytes)), salt: Array(salt)))
    }

    /// A key of 32 bytes that is used without derivation. The salt is read from the file, or made at random
    /// for a new file.
    public static func rawKey(_ bytes: some Sequence<UInt8>) -> DatabaseKey {
        DatabaseKey(.rawKey(SharedSecret(SecretBytes(bytes)), salt: nil))
    }

    /// A key of 32 bytes with an explicit salt of 16 bytes, which wins over the one in the file.
    ///
    /// - Parameters:
    ///   - bytes: the secret itself.
    ///   - salt: 16 bytes.
    public static func rawKey(_ bytes: some Sequence<UInt8>, salt: some Sequence<UInt8>) -> DatabaseKey {
        DatabaseKey(.rawKey(SharedSecret(SecretBytes(bytes)), salt: Array(salt)))
    }

    /// A new raw key from the system's random generator.
    ///
    /// Whoever does not store its bytes (see ``withUnsafeRawKeyBytes(_:)``) can never open the database
    /// again.
    public static func random() -> DatabaseKey {
        do throws(RandomnessFailure) {
            return try DatabaseKey(.rawKey(SharedSecret(SecretBytes.random(count: 32)), salt: nil))
        } catch {
            return DatabaseKey(.invalid(.noRandomness))
        }
    }

    /// A key that is asked for when it is needed: at the first opening of a file, and again when the file no
    /// longer opens with the answer.
    ///
    /// The closure is called on the thread that opens a connection, and may be called by several threads at
    /// once. Its errors are thrown by whoever opens the connection, as they are.
    public static func provider(_ key: @escaping @Sendable () throws -> DatabaseKey) -> DatabaseKey {
        DatabaseKey(.provider(key))
    }

    /// Calls `body` with the 32 bytes of a raw key, so that they can be stored, or returns nil when the key
    /// is of another kind.
    ///
    /// The pointer is valid during the call only.
    public func withUnsafeRawKeyBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows
        -> Result?
    {
        guard case .rawKey(let secret, _) = kind else { return nil }
        return try secret.bytes.withUnsafeBytes(body)
    }
}

// MARK: - Showing nothing

extension DatabaseKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Always `DatabaseKey(<redacted>)`.
    public var description: String { "DatabaseKey(<redacted>)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension DatabaseKey {
    /// Whether both are made of the same bytes in the same way, whatever the salts that come with them. Takes
    /// as long for different bytes as for equal ones.
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
        case .provider, .located, .invalid: nil
        }
    }

    /// Whether the key is asked for when a file is opened.
    var isProvider: Bool {
        switch kind {
        case .provider, .located: true
        case .passphrase, .rawKey, .invalid: false
        }
    }

    var isLocated: Bool {
        if case .located = kind { true } else { false }
    }

    /// Refuses a key that can never work. A provider is not asked.
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

    /// Whether a text has the form `x'...'` with hexadecimal digits only. SQLCipher takes 64 or 96 digits as
    /// a raw key, and any other number as a passphrase, a trap in itself.
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
    /// A key in the words of SQLCipher and GRDB: `x'...'` with 64 digits is a raw key, with 96 digits a raw
    /// key and its salt, and everything else a passphrase, also when it looks similar.
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

/// A passphrase, and what was derived from it (I4).
///
/// All copies of a ``DatabaseKey`` share it, so that queues and pools that are made from one configuration
/// derive once for each file, also when they are opened at the same time. What was derived is wiped together
/// with the passphrase, when the last of them goes away.
final class Passphrase: Sendable {
    let bytes: SecretBytes

    private let derivations = Mutex<[Derivation]>([])
    private let newFiles = Mutex<[NewFile]>([])

    /// How many derivations, and new files, are remembered: a program that opens more files with one key
    /// derives the oldest anew.
    private static let limit = 16

    init(_ bytes: consuming SecretBytes) {
        self.bytes = bytes
    }

    // MARK: - Deriving

    private struct Parameters: Hashable {
        let salt: [UInt8]
        let iterations: Int
        let algorithm: CipherSettings.HashAlgorithm
    }

    /// One derivation, which the first thread that needs it makes while the others wait.
    private final class Derivation: Sendable {
        let parameters: Parameters
        let result = Mutex<SharedSecret?>(nil)

        init(_ parameters: Parameters) {
            self.parameters = parameters
        }
    }

    /// The key for a file with this salt.
    ///
    /// - Returns: the 32 bytes, and whether they were derived by this call. Otherwise they were known, or
    ///   another thread has derived them while this one waited.
    func derived(salt: [UInt8], settings: CipherSettings) throws(CryptographyFailure) -> (
        secret: SharedSecret, isFresh: Bool
    ) {
        let parameters = Parameters(
            salt: salt, iterations: settings.kdfIterations, algorithm: settings.kdfAlgorithm)
        let derivation = derivations.withLock { derivations in
            let known = derivations.firstIndex { $0.parameters == parameters }.map {
                derivations.remove(at: $0)
            }
            let derivation = known ?? Derivation(parameters)
            derivations.append(derivation)
            if derivations.count > Passphrase.limit { derivations.removeFirst() }
            return derivation
        }
        return try derivation.result.withLock { result throws(CryptographyFailure) in
            if let result { return (result, false) }
            let secret = try SharedSecret(
                KeyDerivation.databaseKey(
                    passphrase: bytes, salt: salt, iterations: settings.kdfIterations,
                    hash: settings.kdfAlgorithm.bridged))
            result = secret
            return (secret, true)
        }
    }

    // MARK: - New files

    /// A file that was found empty, and the salt that it is to have.
    private struct NewFile {
        let identity: FileIdentity
        let salt: [UInt8]
        /// Whether the salt was written: an empty file with this number is another one, made after this one
        /// was deleted.
        var isWritten = false
    }

    /// The salt for an empty file: the same for all that open the file at this time, and never that of
    /// another file.
    ///
    /// - Parameter path: where the file is; nil when only its owner knows.
    func salt(forNewFileAt path: String?) throws(RandomnessFailure) -> [UInt8] {
        let fresh = try SystemRandomness.bytes(count: 16)
        var status = stat()
        guard let path, unsafe stat(path, &status) == 0 else { return fresh }
        let identity = FileIdentity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
        return newFiles.withLock { files in
            if let index = files.firstIndex(where: { $0.identity == identity }) {
                if !files[index].isWritten || status.st_size > 0 { return files[index].salt }
                files.remove(at: index)
            }
            files.append(NewFile(identity: identity, salt: fresh))
            if files.count > Passphrase.limit { files.removeFirst() }
            return fresh
        }
    }

    /// Notes that a file has got its salt.
    func didWriteSalt(_ salt: [UInt8]) {
        newFiles.withLock { files in
            for index in files.indices where files[index].salt == salt { files[index].isWritten = true }
        }
    }
}

/// The passphrases that the preparations of a configuration have used, as long as a connection has them: all
/// queues and pools that are made from the configuration share what is derived from them.
final class PreparedPassphrases: Sendable {
    private struct Entry {
        weak var passphrase: Passphrase?
        let salt: [UInt8]?
    }

    private let entries = Mutex<[Entry]>([])

    /// The key that is known for the same passphrase, or the key itself.
    func shared(_ key: DatabaseKey) -> DatabaseKey {
        guard case .passphrase(let passphrase, let salt) = key.kind else { return key }
        return entries.withLock { entries in
            entries.removeAll { $0.passphrase == nil }
            for entry in entries where entry.salt == salt {
                if let known = entry.passphrase, known.bytes == passphrase.bytes {
                    return DatabaseKey(.passphrase(known, salt: salt), isVerbatim: key.isVerbatim)
                }
            }
            entries.append(Entry(passphrase: passphrase, salt: salt))
            return key
        }
    }
}
