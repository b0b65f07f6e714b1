internal import Coffer
internal import Foundation
internal import Glibc
internal import KeyMaterial

/// Reads keys from their sources, once each.
struct KeyReader {
    let reporter: Reporter
    /// Set when a passphrase looks like a raw key.
    let looksRaw: Latch

    /// Reads a key and makes it one for databases.
    ///
    /// - Parameter subject: whose key it is, for the question at the terminal.
    func key(_ request: KeyRequest, subject: String) throws(Failure) -> Key {
        let secret = try bytes(request, subject: subject)
        if request.type == .passphrase && KeyReader.hasFormOfRawKey(secret) {
            looksRaw.set()
            if request.role == .new {
                reporter.warning(
                    "The key from \(request.source.name) looks like a raw key, and is taken for a passphrase. A raw key needs the type raw; "
                        + "see --help.")
            }
        }
        return try Key(secret, type: request.type, sourceName: request.source.name)
    }

    /// Whether bytes are as many hexadecimal digits as a raw key has, with or without its salt, and perhaps a newline.
    private static func hasFormOfRawKey(_ bytes: borrowing SecretBytes) -> Bool {
        bytes.withUnsafeBytes { bytes in
            let count = unsafe bytes.last == UInt8(ascii: "\n") ? bytes.count - 1 : bytes.count
            guard count == 64 || count == 96 else { return false }
            return unsafe bytes.prefix(count).allSatisfy { SecretHex.isDigit($0) }
        }
    }

    private func bytes(_ request: KeyRequest, subject: String) throws(Failure) -> SecretBytes {
        switch request.source {
        case .file(let path):
            if request.allowsInsecureFile { reporter.detail("The mode of the key file '\(path)' is not checked.") }
            return try KeyFile.read(path, allowsInsecureMode: request.allowsInsecureFile)
        case .descriptor(let number): return try descriptor(number)
        case .standardInput:
            // Not closed: the number must stay taken.
            let copy = dup(STDIN_FILENO)
            guard copy >= 0 else { throw Failure(SystemError.last, "The standard input cannot be read") }
            return try SecretInput.readAll(Descriptor(owning: copy), name: "The standard input")
        case .command(let words): return try KeyCommand.read(words)
        case .environment(let name):
            reporter.warning(
                "A key in the environment (\(name)) can be seen by programs of the same user; prefer a key file or a credential.")
            return try environment(name)
        case .credential(let name): return try Credential.read(name)
        case .prompt: return try KeyPrompt.read(request, subject: subject)
        }
    }

    private func descriptor(_ number: Int32) throws(Failure) -> SecretBytes {
        let copy = fcntl(number, F_DUPFD_CLOEXEC, 3)
        guard copy >= 0 else {
            throw Failure(.inputMissing, "missing", "File descriptor \(number) is not open. Open it as in: coffer ... \(number)<key.file")
        }
        return try SecretInput.readAll(Descriptor(owning: copy), name: "File descriptor \(number)")
    }

    private func environment(_ name: String) throws(Failure) -> SecretBytes {
        guard let value = unsafe getenv(name) else {
            throw Failure(.inputMissing, "missing", "The environment variable \(name) is not set.")
        }
        let count = unsafe strlen(value)
        return unsafe SecretBytes(copying: UnsafeRawBufferPointer(start: value, count: count))
    }
}

/// A key in the two forms that are needed: the library's, and bytes to compare.
struct Key: Sendable {
    let database: DatabaseKey
    private let secret: SharedSecret
    private let type: KeyType

    /// - Throws: a failure when the bytes cannot be a key of that type.
    init(_ bytes: consuming SecretBytes, type: KeyType, sourceName: String) throws(Failure) {
        switch type {
        case .passphrase:
            let passphrase = SharedSecret(Key.withoutNewline(bytes))
            guard !passphrase.bytes.isEmpty else {
                throw Failure(.keyRejected, "invalid_key", "The passphrase from \(sourceName) is empty.")
            }
            database = passphrase.bytes.withUnsafeBytes { unsafe DatabaseKey.passphrase($0) }
            secret = passphrase
        case .raw, .rawWithSalt:
            let keySize = 32
            let size = type == .raw ? keySize : keySize + 16
            let raw = try SharedSecret(Key.rawBytes(bytes, size: size, type: type, sourceName: sourceName))
            database = raw.bytes.withUnsafeBytes { bytes in
                let key = unsafe UnsafeRawBufferPointer(rebasing: bytes[..<keySize])
                let salt = unsafe UnsafeRawBufferPointer(rebasing: bytes[keySize...])
                return unsafe salt.isEmpty ? DatabaseKey.rawKey(key) : DatabaseKey.rawKey(key, salt: salt)
            }
            secret = raw
        }
        self.type = type
    }

    /// Whether two keys are the same, in a time that says nothing about them.
    func isSame(as other: Key) -> Bool { type == other.type && secret.bytes == other.secret.bytes }

    /// Exactly one newline, which editors and 'echo' add.
    private static func withoutNewline(_ bytes: consuming SecretBytes) -> SecretBytes {
        let end = bytes.withUnsafeBytes { bytes in
            guard let last = unsafe bytes.last, last == UInt8(ascii: "\n") else { return bytes.count }
            guard bytes.count > 1, unsafe bytes[bytes.count - 2] == UInt8(ascii: "\r") else { return bytes.count - 1 }
            return bytes.count - 2
        }
        return end == bytes.count ? bytes : SecretInput.prefix(of: bytes, count: end)
    }

    /// The bytes as they are when their number is right, or the bytes that hexadecimal digits stand for.
    private static func rawBytes(
        _ bytes: consuming SecretBytes, size: Int, type: KeyType, sourceName: String
    ) throws(Failure) -> SecretBytes {
        if bytes.count == size { return bytes }
        let count = bytes.count
        let digits = withoutNewline(bytes)
        var result = SecretBytes(count: size)
        let isRead = digits.withUnsafeBytes { digits in
            digits.count == 2 * size && result.withUnsafeMutableBytes { unsafe SecretHex.read(digits, to: $0) }
        }
        guard isRead else {
            throw Failure(
                .keyRejected, "invalid_key",
                "The key from \(sourceName) is no \(type.rawValue) key: it must have \(size) bytes, or \(2 * size) hexadecimal digits, "
                    + "and has \(count) bytes. Is it a passphrase?")
        }
        return result
    }
}
