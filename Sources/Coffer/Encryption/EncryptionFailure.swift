/// The reason why a database could not be opened or keyed, if it is related to the key, the cipher, or the
/// file's format.
///
/// SQLite has one result code, `SQLITE_NOTADB`, for most of these reasons. To distinguish them, Coffer
/// examines the file and tries other formats, on separate connections that change nothing.
///
/// Descriptions state the problem and the remedy. They never contain a key.
public enum EncryptionFailure: Sendable, Hashable {
    /// The file is encrypted, or is to be created, and the configuration has no key.
    case noKey

    /// None of the configured keys opens the file.
    ///
    /// Some causes cannot be distinguished from a wrong key: custom cipher settings that the configuration
    /// does not have, and damage to page 1 of a file in which no other page verifies the key. The salt (the
    /// first 16 bytes) is part of a key that is derived from a passphrase: if it is damaged, no page verifies
    /// the passphrase.
    case wrongKey

    /// The file is a SQLite database that is not encrypted.
    case plaintextFile

    /// The key is right, and the file has this older SQLCipher format, from 1 to 3.
    case olderFormat(Int)

    /// The key is right, and the file has this SQLCipher format, which is newer than the configured one.
    case newerFormat(Int)

    /// The key is right, and the file has these cipher settings, which no released version of SQLCipher uses
    /// by default: the settings of a big-endian machine or of the beta of SQLCipher 2; or another page size,
    /// hash function or plaintext header, no MACs, or a single round of PBKDF2, as some programs use.
    case otherSettings(CipherSettings)

    /// The file cannot be a database: it is too short, or its content is not ciphertext.
    case notADatabase

    /// The key is right, but these pages are damaged: they were changed or are missing. Numbers start at 1.
    ///
    /// The list contains the pages that prevented opening, not all damaged pages of the file. It is `[1]` if
    /// a raw key decrypts the header, but no page is authentic: the salt (the first 16 bytes) is damaged, or
    /// the configuration lacks custom settings of the MACs.
    case damaged(pages: [Int])

    /// The rollback journal or write-ahead log at this path does not belong to the file: it was left by
    /// another database or by one that had the name before, or another program has put it there. It was not
    /// used, and nothing was changed.
    ///
    /// If the file is whole, move the named side file away and open the database again. A missing or empty
    /// file counts as whole: SQLite would delete the side file. If it is not whole, the key of the file was
    /// probably being changed in place, and the previous key opens it; or the journal is damaged, and the
    /// file has a part of a transaction.
    case foreignSideFile(path: String, isFileWhole: Bool)

    /// The side file at this path belongs to a user who may not write to the database, or is not a regular
    /// file with a single name. Its owner could change the data that the engine uses from it at any time. It
    /// was not used, and nothing was changed.
    ///
    /// Only directories in which other users can create files are checked. The file may have committed
    /// transactions. If a program of that user has the database open, close it there. If the file is yours
    /// (for example, restored by another user), change its owner to the database's owner; otherwise, move it
    /// away. Then open the database again.
    case sideFileOfAnotherUser(path: String)

    /// The database is in WAL mode, or was about to enter it, and the file at this path may have another
    /// name, or is open under one. Each name has a write-ahead log of its own: transactions committed under
    /// one name are invisible under the other, and are lost when either log is checkpointed. Nothing was
    /// changed.
    ///
    /// Only connections that can write are refused, and only in WAL mode, not with a rollback journal. See
    /// <doc:Guarantees>.
    case severalNames(path: String, OtherName)

    /// The SQLite library loaded in this process is not the SQLCipher that Coffer was built with.
    case engineWithoutCipher

    /// The key used to open this file, but no longer does: another program has rotated it.
    case keyRotated

    /// The key can never work, for any file.
    case invalidKey(KeyProblem)

    /// The cipher settings can never work, for any file.
    case invalidCipherSettings(CipherSettingsProblem)

    /// The keyring at this path cannot be used, or does not match the database: see ``DatabaseKeyring``.
    case keyring(path: String, KeyringProblem)

    /// The reason why a database file may have another name.
    public enum OtherName: Sendable, Hashable {
        /// The file has this number of names.
        case hardLinks(count: Int)
        /// The file itself is a mount point, as `docker run -v file:file` and a Kubernetes `subPath` create.
        /// The log would be in this container's directory, and be lost with the container.
        case mountPoint
        /// A connection of this process has the file open under another path.
        case openInThisProcess(path: String)
    }

    /// A problem with a key.
    public enum KeyProblem: Sendable, Hashable {
        /// The passphrase has no bytes.
        case emptyPassphrase
        /// The raw key has this number of bytes instead of 32.
        case rawKeyLength(Int)
        /// The salt has this number of bytes instead of 16.
        case saltLength(Int)
        /// The passphrase has the form `x'2DD29CA8...'`, which other tools treat as a raw key.
        case passphraseLooksLikeRawKey
        /// A provider returned another provider.
        case nestedProvider
        /// The passphrase is longer than 2^31 bytes.
        case tooLong
        /// The system's random generator failed.
        case noRandomness
        /// The text, with this number of digits, is not a raw key: it has the wrong length, or contains
        /// characters other than hexadecimal digits.
        case notHexadecimal(digits: Int)
        /// A key file, or a credential, cannot be used.
        case file(path: String, KeyFileProblem)
        /// systemd has provided no credential of this name, or the name is not valid.
        case noCredential(name: String)
        /// The value for `KEY` in `ATTACH` is a number.
        case number
        /// The master key of ``DatabaseKey/derived(from:info:salt:)-(_,String,_)`` is not a raw key.
        case masterKeyIsNotRaw
    }

    /// A problem with a file that contains a key.
    public enum KeyFileProblem: Sendable, Hashable {
        /// The file cannot be read. The value is the system's error number.
        case unreadable(errno: Int32)
        /// The path leads to a directory, a socket or a device.
        case notAFile
        /// Other users can read or change the file. Remove their permissions, for example with `chmod 600`.
        case readableByOthers(mode: UInt32)
        /// The file belongs to another user. That user knows the key and can change it.
        case ofAnotherUser
        /// The file is longer than any accepted secret.
        case tooLong
        /// The file has this number of bytes, which are neither a raw key nor the digits of one.
        case noRawKey(size: Int)
    }

    /// A problem with cipher settings.
    public enum CipherSettingsProblem: Sendable, Hashable {
        /// SQLCipher has no such format.
        case unknownFormat(Int)
        /// The page size is not a power of two from 1024 to 65536.
        case pageSize(Int)
        /// The number of iterations is not positive or too large.
        case kdfIterations(Int)
        /// The number of iterations is not positive or too large.
        case hmacKeyIterations(Int)
        /// A plaintext header of this number of bytes is not possible.
        case plaintextHeaderSize(Int)
        /// A plaintext header leaves no room for the salt in the file.
        case plaintextHeaderWithoutSalt
        /// SQLCipher refused a setting, with this message.
        case refused(String)
    }
}
