internal import Coffer
internal import Glibc
internal import KeyMaterial
internal import Synchronization
internal import SystemCalls

/// Facts about the keys of a run, for the message about a key that opens no file.
struct KeyAdvice: Sendable {
    /// Set if a key was given as a passphrase but looks like a raw key.
    let looksRaw = Latch()
    /// Set if a key without a type was taken for a raw key.
    let isTakenForRaw = Latch()
    /// Set if a secret without a type was taken for a recovery key.
    let isTakenForRecovery = Latch()

    /// Returns the sentence for a key that opens no file, if there is one.
    ///
    /// - Parameter reason: the reason of the failure.
    func words(on reason: String) -> String? {
        if isTakenForRecovery.isSet, ["wrong_key", "invalid_recovery_key"].contains(reason) {
            return
                "The secret was taken for a recovery key: if it is a passphrase, give 'passphrase:' before "
                + "its source."
        }
        guard reason == "wrong_key" else { return nil }
        if looksRaw.isSet {
            return "The key looks like a raw key: if it is one, give --key-type raw, or 'raw:' before its "
                + "source."
        }
        guard isTakenForRaw.isSet else { return nil }
        return "The key was taken for a raw key: if it is a passphrase of digits, give 'passphrase:' before "
            + "its source."
    }
}

/// Reads keys from their sources.
struct KeyReader {
    let reporter: Reporter
    let advice: KeyAdvice
    /// Set once the standard input has been read for a secret.
    private static let isInputRead = Latch()
    /// The time limit for commands, in seconds.
    let commandTimeout: Double
    /// The time to wait for locks of the database that a key is tried on, in seconds.
    let lockTimeout: Double
    /// The input of the command that comes from the standard input, capitalized, if there is one.
    let otherInputUse: String?

    /// Reads a key for databases.
    ///
    /// - Parameter subject: the owner of the key, for the prompt.
    func key(_ request: KeyRequest, subject: String) throws(Failure) -> Key {
        if let program = program(request) {
            return Key(
                program, secret: SharedSecret(SecretBytes(utf8: request.source.identity)), unlocks: .command)
        }
        let secret = try bytes(request, subject: subject)
        switch request.use {
        case .unlocking:
            let type = try unlockType(of: secret, request)
            return try Key(unlocking: secret, as: type, sourceName: request.source.name)
        case .key(let given):
            let type = try keyType(given, of: secret, request)
            if type == .passphrase {
                if KeyReader.hasFormOfRawKey(secret) { advice.looksRaw.set() }
                warn(ofPassphrase: secret, request)
            }
            return try Key(secret, type: type, sourceName: request.source.name)
        }
    }

    private func keyType(_ given: KeyType?, of secret: borrowing SecretBytes, _ request: KeyRequest)
        throws(Failure) -> KeyType
    {
        if let given { return given }
        let type = try SecretForm.key(secret, from: request.source)
        if type != .passphrase { advice.isTakenForRaw.set() }
        return type
    }

    /// Returns the type of a secret for a keyring: the given one, or else the one that its form tells.
    func unlockType(of secret: borrowing SecretBytes, _ request: KeyRequest) throws(Failure) -> UnlockType {
        if case .unlocking(let type?) = request.use { return type }
        let type = try SecretForm.unlock(secret, from: request.source)
        if type == .identity, request.role == .new {
            throw Failure.usage(
                "The secret from \(request.source.name) is an identity. Give its recipient, with --recipient."
            )
        }
        if type == .raw { advice.isTakenForRaw.set() }
        guard type == .passphrase, SecretForm.isRecoveryKey(secret) else { return type }
        guard request.role != .new else { throw SecretForm.newRecoveryKey(request.source) }
        advice.isTakenForRecovery.set()
        return .recovery
    }

    /// Warns of a passphrase that is probably not the intended one, or that is a weak new one.
    func warn(ofPassphrase secret: borrowing SecretBytes, _ request: KeyRequest) {
        let name = request.source.name
        if request.role == .new, KeyReader.hasFormOfRawKey(secret) {
            reporter.warning(
                "The key from \(name) looks like a raw key, but is used as a passphrase. For the raw key, "
                    + "give the source '\(TypedSource(request.source, .raw).text)' to --key or "
                    + "--new-key. The passphrase is '\(TypedSource(request.source, .passphrase).text)'.")
        }
        if secret.textMark() != nil {
            reporter.warning(
                "The passphrase from \(name) begins with a byte order mark, which is part of it. If a text "
                    + "editor added the mark and the key does not open the file, store the passphrase in "
                    + "UTF-8 without the mark.")
        }
        if request.role == .new, KeyReader.isWeak(secret) {
            reporter.warning(
                "The passphrase from \(name) is short or repetitive, and can be guessed by anyone who has "
                    + "the file. 'coffer keygen --words 8' creates a strong one.")
        }
    }

    /// Reads the key of a request, if there is one.
    func key(ifGiven request: KeyRequest?, subject: String) throws(Failure) -> Key? {
        guard let request else { return nil }
        return try key(request, subject: subject)
    }

    /// Reads a secret that is not the key of a file.
    ///
    /// - Parameters:
    ///   - option: the option for its source.
    ///   - subject: the owner of the secret, for the prompt.
    func secret(from source: SecretSource, _ option: String, subject: String) throws(Failure) -> SecretBytes {
        try bytes(
            KeyRequest(role: .current, source: source, use: .key(nil), origin: .named("--\(option)")),
            subject: subject)
    }

    /// Returns true if a passphrase is weak by its length or its number of distinct bytes alone.
    private static func isWeak(_ bytes: borrowing SecretBytes) -> Bool {
        bytes.withUnsafeBytes { bytes in
            var (count, seen) = (0, (UInt64(0), UInt64(0), UInt64(0), UInt64(0)))
            for index in bytes.indices {
                let byte = unsafe bytes[index]
                guard byte != UInt8(ascii: "\n"), byte != UInt8(ascii: "\r") else { continue }
                count += 1
                let bit = UInt64(1) << UInt64(byte & 63)
                switch byte >> 6 {
                case 0: seen.0 |= bit
                case 1: seen.1 |= bit
                case 2: seen.2 |= bit
                default: seen.3 |= bit
                }
            }
            let different =
                seen.0.nonzeroBitCount + seen.1.nonzeroBitCount + seen.2.nonzeroBitCount
                + seen.3.nonzeroBitCount
            return count < 12 || different < 6
        }
    }

    /// Returns true if the bytes have the form of a raw key in hexadecimal, with or without its salt, and
    /// with an optional newline.
    private static func hasFormOfRawKey(_ bytes: borrowing SecretBytes) -> Bool {
        bytes.withUnsafeBytes { bytes in
            let count = unsafe bytes.last == UInt8(ascii: "\n") ? bytes.count - 1 : bytes.count
            guard count == 64 || count == 96 else { return false }
            return unsafe bytes.prefix(count).allSatisfy { SecretHex.isDigit($0) }
        }
    }

    func bytes(_ request: KeyRequest, subject: String) throws(Failure) -> SecretBytes {
        switch request.source {
        case .file(let path):
            if request.allowsInsecureFile {
                reporter.detail("The mode of the key file '\(path)' is not checked.")
            }
            return try KeyFile.read(path, request.access)
        case .descriptor(let number): return try descriptor(number)
        case .standardInput:
            // Also for secrets that may not be needed: the input would be lost.
            if let otherInputUse { throw KeyReader.sharedInput(otherInputUse) }
            // Each secret has its own source: only the keys of many files are read once for all.
            guard !KeyReader.isInputRead.isSet else {
                throw Failure.usage("Two secrets cannot both come from the standard input.")
            }
            KeyReader.isInputRead.set()
            // Read from a duplicate and leave descriptor 0 open, so that no other file gets its number.
            let copy = try Failure.explaining("The standard input cannot be read") { () throws(Errno) in
                try Descriptor(duplicating: STDIN_FILENO)
            }
            return try SecretInput.readAll(copy, name: "The standard input")
        case .command(let words): return try KeyCommand.read(words, timeout: commandTimeout)
        case .environment(let name):
            reporter.warning(
                "A key in the environment (\(name)) is visible to programs of the same user; prefer a key "
                    + "file or a credential."
            )
            return try environment(name)
        case .credential(let name): return try Credential.read(name)
        case .prompt: return try KeyPrompt.read(request, subject: subject)
        }
    }

    private static func sharedInput(_ words: String) -> Failure {
        .usage("\(words) and a secret cannot both come from the standard input.")
    }

    private func descriptor(_ number: Int32) throws(Failure) -> SecretBytes {
        guard let copy = try? Descriptor(duplicating: number) else {
            throw Failure(
                .inputMissing, "missing",
                "File descriptor \(number) is not open. Open it as in: coffer ... \(number)<key.file")
        }
        return try SecretInput.readAll(copy, name: "File descriptor \(number)")
    }

    private func environment(_ name: String) throws(Failure) -> SecretBytes {
        guard let secret = SecretEnvironment.secret(name) else {
            throw Failure(.inputMissing, "missing", "The environment variable \(name) is not set.")
        }
        return secret.bytes.copy()
    }
}

/// A key in two forms: the library's, and bytes for comparison.
struct Key: Sendable {
    let database: DatabaseKey
    private let secret: SharedSecret
    private let type: KeyType
    /// The kind of slot secret that the bytes are.
    private let unlocks: UnlockType?
    /// The secret that opens the keyrings of files, or nil if this is a key of the files themselves.
    let slotSecret: DatabaseKeyring.Secret?
    /// The cached identifier of the key for the whole site. A process has only one site.
    private let siteName = SiteName()

    private final class SiteName: Sendable {
        let digits = Mutex<String?>(nil)
    }

    /// - Throws: ``Failure`` if the bytes cannot be a key of that type.
    init(_ bytes: consuming SecretBytes, type: KeyType, sourceName: String) throws(Failure) {
        switch type {
        case .passphrase:
            let passphrase = SharedSecret(bytes.withoutNewline())
            guard !passphrase.bytes.isEmpty else {
                throw Failure(.keyRejected, "invalid_key", "The passphrase from \(sourceName) is empty.")
            }
            database = passphrase.bytes.withUnsafeBytes { unsafe DatabaseKey.passphrase($0) }
            secret = passphrase
        case .raw, .rawWithSalt:
            let keySize = 32
            let size = type == .raw ? keySize : keySize + 16
            let hint = Key.hint(on: bytes)
            guard let raw = bytes.decoded(size: size) else {
                throw Failure(
                    .keyRejected, "invalid_key",
                    "The key from \(sourceName) is not of the type \(type.rawValue), which has "
                        + "\(size) bytes or \(2 * size) hexadecimal digits. \(hint)")
            }
            database = raw.bytes.withUnsafeBytes { bytes in
                let key = unsafe UnsafeRawBufferPointer(rebasing: bytes[..<keySize])
                let salt = unsafe UnsafeRawBufferPointer(rebasing: bytes[keySize...])
                return unsafe salt.isEmpty ? DatabaseKey.rawKey(key) : DatabaseKey.rawKey(key, salt: salt)
            }
            secret = raw
        }
        self.type = type
        unlocks = nil
        slotSecret = nil
    }

    /// Returns a guess about bytes that are not a key of the expected type, for error messages.
    private static func hint(on bytes: borrowing SecretBytes) -> String {
        if case .utf16? = bytes.textMark() {
            return "It is UTF-16 text with a byte order mark: store it in UTF-8."
        }
        switch bytes.decodedSize() {
        case 32?: return "It has the \(2 * 32) digits of a key without a salt: use the type raw."
        case 48?: return "It has the \(2 * 48) digits of a key with its salt: use the type raw+salt."
        case let size?: return "It has \(2 * size) digits."
        case nil: return "It has \(bytes.count) bytes. Is it a passphrase?"
        }
    }

    /// Creates the key that a keyring releases for a secret.
    init(_ slotSecret: DatabaseKeyring.Secret, secret: SharedSecret, unlocks: UnlockType) {
        self.slotSecret = slotSecret
        database = .keyring(unlockedBy: slotSecret)
        self.secret = secret
        self.unlocks = unlocks
        type = .passphrase
    }

    /// Returns true if two keys are equal. Compares in constant time.
    func isSame(as other: Key) -> Bool {
        type == other.type && unlocks == other.unlocks && secret.bytes == other.secret.bytes
    }

    /// Returns the identifier of the key for the whole site. The first call computes it from the bytes. A raw
    /// key has the same identifier with and without a salt.
    func siteID(_ compute: (borrowing SecretBytes, _ isPassphrase: Bool) throws(Failure) -> String)
        throws(Failure) -> String
    {
        if let known = siteName.digits.withLock({ $0 }) { return known }
        let digits =
            try type == .rawWithSalt
            ? compute(secret.bytes.prefix(32), false) : compute(secret.bytes, type == .passphrase)
        siteName.digits.withLock { $0 = digits }
        return digits
    }
}
