internal import SQLCipherBridge
internal import SystemCalls

extension EncryptionFailure: CustomStringConvertible {
    public var description: String {
        switch self {
        case .noKey:
            "The database is encrypted or must be encrypted, but the configuration has no key. Set "
                + "Configuration.key, or Configuration.setDefaultKey(_:) at the start of the program, or "
                + "allow plaintext explicitly."
        case .wrongKey:
            "The key does not open this file. Check the key and the cipher settings."
        case .plaintextFile:
            "The file is an unencrypted SQLite database. Encrypt it into a new file, or allow plaintext "
                + "explicitly to open it."
        case .olderFormat(let format):
            "The key is right, but the file has SQLCipher's older format \(format). Upgrade the file, or set "
                + "Configuration.cipher to .sqlcipher(format: \(format))."
        case .newerFormat(let format):
            "The key is right, but the file has SQLCipher's format \(format), which is newer than the "
                + "configured one. Set Configuration.cipher to .sqlcipher(format: \(format))."
        case .otherSettings(let settings):
            "The key is right, but the file has other cipher settings. Upgrade the file, or set "
                + "Configuration.cipher to \(settings.spelling)."
        case .notADatabase:
            "The file is not a database. Check the path; if it should be a database, restore it from a "
                + "backup."
        case .damaged(let pages) where pages.isEmpty:
            "The file is damaged, although the key is right. Restore it from a backup."
        case .damaged(let pages):
            "The file is damaged, although the key is right (page "
                + "\(pages.map(String.init).joined(separator: ", "))). Restore it from a backup."
        case .foreignSideFile(let path, true):
            "\(path) was not used: it does not belong to the database file next to it, which is intact or "
                + "new. Using it would destroy one of the two. Move it away, and open the database again."
        case .foreignSideFile(let path, false):
            "\(path) is damaged, or does not belong to the database file next to it with this key, and "
                + "without it the database file is not intact. If the key was being changed, open the file "
                + "with the former key. If not, restore the original file or a backup."
        case .sideFileOfAnotherUser(let path):
            "\(path) was not used: it belongs to another user, who could destroy the database with it, or it "
                + "is not a regular file with a single name. It may have committed transactions. If a "
                + "program of that user has the database open, close it there. If the file is yours, give "
                + "it the owner of the database. Otherwise, move it away. A directory in which other users "
                + "cannot create files is safer."
        case .severalNames(let path, let other): "\(path) \(other.words)"
        case .engineWithoutCipher:
            "The SQLite library that this process uses is not Coffer's SQLCipher. Do not link another "
                + "libsqlite3 before it."
        case .keyRotated:
            "The key no longer opens this file: another program has rotated it. Open the file again with the "
                + "new key."
        case .invalidKey(let problem):
            "The key cannot be used. \(problem.description)"
        case .invalidCipherSettings(let problem):
            "The cipher settings cannot be used. \(problem.description)"
        case .keyring(let path, let problem) where path.isEmpty: problem.description
        case .keyring(let path, let problem): "\(path): \(problem.description)"
        }
    }

    /// The result code that SQLite gives, or would give, for this failure.
    var engineCode: CInt {
        switch self {
        case .noKey, .wrongKey, .plaintextFile, .olderFormat, .newerFormat, .otherSettings, .notADatabase,
            .keyRotated, .damaged:
            EngineCode.notADatabase
        case .foreignSideFile, .sideFileOfAnotherUser, .severalNames: EngineCode.cantOpen
        case .engineWithoutCipher: EngineCode.error
        case .keyring: EngineCode.cantOpen
        case .invalidKey, .invalidCipherSettings: EngineCode.misuse
        }
    }
}

extension EncryptionFailure {
    /// Creates the failure for a file that may have another name; nil if a connection may use it in WAL mode.
    init?(otherNameOf handle: ConnectionHandle) {
        guard let name = handle.otherName else { return nil }
        let other: OtherName =
            switch name {
            case .hardLinks(let count): .hardLinks(count: count)
            case .mountPoint: .mountPoint
            case .openAs(let path): .openInThisProcess(path: path)
            }
        self = .severalNames(path: handle.filename(schema: "main") ?? "", other)
    }
}

extension EncryptionFailure.OtherName {
    /// The part of a sentence that follows the path of the file.
    fileprivate var words: String {
        switch self {
        case .hardLinks(let count):
            "has \(count) names (hard links), and each name would have its own write-ahead log: commits "
                + "would be lost. Remove the other names, or use a journal mode with a rollback journal."
        case .mountPoint:
            "is a mount point itself (as with 'docker run -v file:file' or a Kubernetes subPath), so its "
                + "write-ahead log would be in a folder that is not mounted: commits would be lost with the "
                + "container. Mount the folder of the database, or use a journal mode with a rollback "
                + "journal."
        case .openInThisProcess(let path):
            "is already open in this process under another path, \(path), and each path would have its own "
                + "write-ahead log: commits would be lost. Use one path for all connections."
        }
    }
}

extension EncryptionFailure.KeyProblem: CustomStringConvertible {
    public var description: String {
        switch self {
        case .emptyPassphrase: "The passphrase is empty. Give a passphrase, or a raw key."
        case .rawKeyLength(let count): "A raw key has 32 bytes, not \(count)."
        case .saltLength(let count): "A salt has 16 bytes, not \(count)."
        case .passphraseLooksLikeRawKey:
            "The passphrase has the form x'...' with hexadecimal digits, which other tools interpret as a "
                + "raw key. Use .keySpec for a key in this form, .rawKey with the bytes, or another "
                + "passphrase."
        case .nestedProvider:
            "The key provider returned another provider. Return a passphrase or a raw key."
        case .tooLong: "The passphrase has more than 2^31 bytes. Give a shorter one."
        case .noRandomness: "The system's random number generator failed. Try again."
        case .notHexadecimal(let count):
            "A raw key has exactly 64 hexadecimal digits, or 96 with its salt. The text has \(count) "
                + "characters."
        case .file(let path, let problem): "The key file '\(path)' \(problem.description)"
        case .noCredential(let name):
            "There is no credential '\(name)'. Run the program from a systemd unit with LoadCredential=; a "
                + "name must not contain a slash."
        case .number: "The key is a number. Use a text or a blob."
        case .masterKeyIsNotRaw:
            "Keys are derived from a raw key of 32 random bytes, and the master key is not one. A passphrase "
                + "would be too easy to guess."
        }
    }
}

extension EncryptionFailure.KeyFileProblem: CustomStringConvertible {
    /// The part of a sentence that follows the name of the file.
    public var description: String {
        switch self {
        case .unreadable(let code): "cannot be read: \(Errno(code).words)."
        case .notAFile: "is not a file."
        case .readableByOthers(let mode):
            "can be read by others (mode \(String(mode, radix: 8))). Give it mode 600, and replace the key "
                + "if others may have read it."
        case .ofAnotherUser: "belongs to another user, who can read and change the key."
        case .tooLong: "is too large for a key file."
        case .noRawKey(let size):
            "does not contain a raw key: it has \(size) bytes. A raw key has 32 bytes or 64 hexadecimal "
                + "digits. Is it a passphrase?"
        }
    }
}

extension EncryptionFailure.CipherSettingsProblem: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unknownFormat(let format): "SQLCipher has no format \(format). Choose 1 to 4."
        case .pageSize(let size): "The page size must be a power of two from 1024 to 65536, not \(size)."
        case .kdfIterations(let count):
            "The number of KDF iterations must be from 1 to 2^31 - 1, not \(count)."
        case .hmacKeyIterations(let count):
            "The number of iterations for the HMAC key must be from 1 to 2^31 - 1, not \(count)."
        case .plaintextHeaderSize(let size):
            "The size of the plaintext header must be 0, or a multiple of 16 up to 96, not \(size). 32 is "
                + "enough for file type detection."
        case .plaintextHeaderWithoutSalt:
            "A file with a plaintext header has no room for the salt. Give a raw key with its salt."
        case .refused(let words): "\(words)."
        }
    }
}
