internal import Glibc
internal import SQLCipherBridge

extension EncryptionFailure: CustomStringConvertible {
    public var description: String {
        switch self {
        case .noKey:
            "The database is encrypted, or must be, and the configuration has no key. Set "
                + "Configuration.key, or Configuration.setDefaultKey(_:) at the start of the program, or "
                + "allow plaintext explicitly."
        case .wrongKey:
            "The key does not open this file. Check the key and the cipher settings."
        case .plaintextFile:
            "The file is a SQLite database without encryption. Encrypt it into a new file, or open it with "
                + "plaintext allowed explicitly."
        case .olderFormat(let format):
            "The key is right, but the file has the older format \(format) of SQLCipher. Upgrade the file, "
                + "or set Configuration.cipher to .sqlcipher(format: \(format))."
        case .newerFormat(let format):
            "The key is right, but the file has format \(format) of SQLCipher, which is newer than the "
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
            "\(path) does not belong to the database file beside it, which is whole, and was not used: it "
                + "would destroy the file. Move it away, and open again."
        case .foreignSideFile(let path, false):
            "\(path) does not belong to the database file beside it with this key, and the file is not "
                + "whole without it. If the key was being changed, open the file with the former key; if "
                + "not, put back the file that was there, or restore a backup."
        case .sideFileOfAnotherUser(let path):
            "\(path) belongs to another user, who could destroy the database with it, or is no regular file "
                + "with one name. It was not used. If it is yours, give it the owner of the database; if "
                + "not, move it away. A directory in which others cannot make files is safer."
        case .severalNames(let path, let other): "\(path) \(other.words)"
        case .engineWithoutCipher:
            "The SQLite library that answers in this process is not Coffer's SQLCipher. Do not link another "
                + "libsqlite3 before it."
        case .keyRotated:
            "The key opened this file before and does no longer: another program has rotated it. Open the "
                + "file again with the new key."
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
    /// Nil for a file that a connection can have in WAL mode.
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
    /// Continues a sentence that begins with the path of the file.
    fileprivate var words: String {
        switch self {
        case .hardLinks(let count):
            "has \(count) names (hard links), and each would have a write-ahead log of its own: commits "
                + "would be lost. Remove the other names, or use a journal mode with a rollback journal."
        case .mountPoint:
            "is a mount point itself (as with 'docker run -v file:file' or a Kubernetes subPath), and its "
                + "write-ahead log would be in a folder that is not mounted: commits would be lost with the "
                + "container. Mount the folder of the database, or use a journal mode with a rollback "
                + "journal."
        case .openInThisProcess(let path):
            "is open in this process by another name, \(path), and each name would have a write-ahead log of "
                + "its own: commits would be lost. Use one path for all connections."
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
            "The passphrase has the form x'...' with hexadecimal digits, which other tools take as a raw "
                + "key. Use .keySpec for a key in this form, .rawKey with the bytes, or another passphrase."
        case .nestedProvider:
            "The provider answered with another provider. Answer with a passphrase or a raw key."
        case .tooLong: "The passphrase has more than 2^31 bytes. Give a shorter one."
        case .noRandomness: "The system's random generator did not answer. Try again."
        case .notHexadecimal(let count):
            "A raw key has 64 hexadecimal digits, or 96 with its salt, and nothing else; there are \(count) "
                + "characters."
        case .file(let path, let problem): "The key file '\(path)' \(problem.description)"
        case .noCredential(let name):
            "There is no credential '\(name)'. Run the program from a systemd unit with LoadCredential=; a "
                + "name has no slash."
        case .number: "It is a number. Give a text or a blob."
        }
    }
}

extension EncryptionFailure.KeyFileProblem: CustomStringConvertible {
    /// Continues a sentence that begins with the name of the file.
    public var description: String {
        switch self {
        case .unreadable(let code): "cannot be read: \(unsafe String(cString: strerror(code)))."
        case .notAFile: "is not a file."
        case .readableByOthers(let mode):
            "can be read by others (mode \(String(mode, radix: 8))). Give it mode 600, and replace the key "
                + "if others may have read it."
        case .ofAnotherUser: "belongs to another user, who knows the key and can change it."
        case .tooLong: "is longer than any key."
        case .noRawKey(let size):
            "holds no raw key: it has \(size) bytes. A raw key has 32 bytes or 64 hexadecimal digits. Is it "
                + "a passphrase?"
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
            "With a plaintext header the file has no room for the salt. Give a raw key with its salt."
        case .refused(let words): "\(words)."
        }
    }
}
