/// The reason why a database could not be opened or keyed, when it has to do with the key, the cipher, or the
/// file's format.
///
/// SQLite has one result code, `SQLITE_NOTADB`, for most of them. Coffer looks at the file and tries other
/// formats in order to distinguish them apart, on connections of its own that change nothing.
///
/// Descriptions say what happened and what to do. They never contain a key.
public enum EncryptionFailure: Sendable, Hashable {
    /// The file is encrypted, or is to be created, and the configuration has no key.
    case noKey

    /// None of the configured keys opens the file.
    ///
    /// Other reasons cannot be distinguished from a wrong key: custom cipher settings that the configuration
    /// does not have, and damage to page 1 of a file in which no other page proves the key.
    case wrongKey

    /// The file is a SQLite database that is not encrypted.
    case plaintextFile

    /// The key is right, and the file has this older format of SQLCipher, from 1 to 3.
    case olderFormat(Int)

    /// The key is right, and the file has this format of SQLCipher, which is newer than the configured one.
    case newerFormat(Int)

    /// The key is right, and the file has these cipher settings, which no released version of SQLCipher has
    /// by default: those of a big-endian machine or of the beta of SQLCipher 2; or another size of pages,
    /// hash function or plaintext header, no codes, or one round of PBKDF2 as some programs have it.
    case otherSettings(CipherSettings)

    /// The file cannot be a database: it is too short, or its content is not ciphertext.
    case notADatabase

    /// The key is right, and these pages are not as they were written: they were changed, or are missing.
    /// Numbers start at 1.
    ///
    /// The list has the pages that prevented opening, not all damaged pages of the file.
    case damaged(pages: [Int])

    /// The rollback journal or the write-ahead log beside the file, which is at this path, is not the file's
    /// own: it was left by another database, or by one that had the name before, or another program has put
    /// it there. It was not used, and nothing was changed.
    ///
    /// Where the file is whole, move the named file away, and open again. Where it is not, the key of the
    /// file was probably being changed in its place: the former key opens it.
    case foreignSideFile(path: String, isFileWhole: Bool)

    /// What lies at this path beside the file belongs to a user who may not write to the file, or is no
    /// regular file with one name: its owner could change at any time what the engine takes from it. It was
    /// not used, and nothing was changed.
    ///
    /// Only directories in which others can make files are looked at. Where the named file is yours, such as
    /// one that another user has restored, give it the owner of the database; if not, move it away. Open
    /// again then.
    case sideFileOfAnotherUser(path: String)

    /// The database is in WAL mode, or was to be brought into it, and the file at this path may have another
    /// name, or is open by one. Each name has a write-ahead log of its own: what is committed by one name is
    /// not seen by the other, and is lost when either log is brought into the file. Nothing was changed.
    ///
    /// Only connections that can write are refused, and none in a journal mode with a rollback journal. See
    /// <doc:Guarantees>.
    case severalNames(path: String, OtherName)

    /// The SQLite library that answers in this process is not the SQLCipher that Coffer was built with.
    case engineWithoutCipher

    /// The key opened this file before, and does no longer: it was rotated by another program.
    case keyRotated

    /// The key can never work, whatever the file.
    case invalidKey(KeyProblem)

    /// The cipher settings can never work, whatever the file.
    case invalidCipherSettings(CipherSettingsProblem)

    /// The keyring at this path cannot be used, or it and the database do not belong together: see
    /// ``DatabaseKeyring``.
    case keyring(path: String, KeyringProblem)

    /// Why a database file may have another name.
    public enum OtherName: Sendable, Hashable {
        /// The file has so many names.
        case hardLinks(count: Int)
        /// The file itself is a mount point, as `docker run -v file:file` and a Kubernetes `subPath` make
        /// one: the log would be in the folder of this container, and be lost with it.
        case mountPoint
        /// A connection of this process has the file open by another path.
        case openInThisProcess(path: String)
    }

    /// What is wrong with a key.
    public enum KeyProblem: Sendable, Hashable {
        /// The passphrase has no bytes.
        case emptyPassphrase
        /// A raw key of so many bytes, and not of 32.
        case rawKeyLength(Int)
        /// A salt of so many bytes, and not of 16.
        case saltLength(Int)
        /// A passphrase like `x'2DD29CA8...'`, which other tools take as a raw key.
        case passphraseLooksLikeRawKey
        /// A provider answered with another provider.
        case nestedProvider
        /// The secret is longer than any that is taken.
        case tooLong
        /// The system's random generator did not answer.
        case noRandomness
        /// A text of so many digits that is no raw key: it has another length, or characters that are no
        /// hexadecimal digits.
        case notHexadecimal(digits: Int)
        /// A key file, or a credential, cannot be used.
        case file(path: String, KeyFileProblem)
        /// systemd has handed over no credential of this name, or the name is none.
        case noCredential(name: String)
        /// The value for `KEY` in `ATTACH` is a number.
        case number
    }

    /// What is wrong with a file that holds a key.
    public enum KeyFileProblem: Sendable, Hashable {
        /// The system's number of the error.
        case unreadable(errno: Int32)
        /// The path leads to a directory, a socket or a device.
        case notAFile
        /// Other users can read or change the file: take their permissions away, as by `chmod 600`.
        case readableByOthers(mode: UInt32)
        /// The file belongs to another user, who knows the key and can change it.
        case ofAnotherUser
        /// The file is longer than any secret that is taken.
        case tooLong
        /// So many bytes are neither a raw key nor the digits of one.
        case noRawKey(size: Int)
    }

    /// What is wrong with cipher settings.
    public enum CipherSettingsProblem: Sendable, Hashable {
        /// SQLCipher has no such format.
        case unknownFormat(Int)
        /// No power of two from 1024 to 65536.
        case pageSize(Int)
        /// Not a positive number of rounds.
        case kdfIterations(Int)
        /// Not a positive number of rounds.
        case hmacKeyIterations(Int)
        /// A header of so many bytes is not possible.
        case plaintextHeaderSize(Int)
        /// A plaintext header leaves no room for the salt in the file.
        case plaintextHeaderWithoutSalt
        /// SQLCipher did not take a setting; its own words.
        case refused(String)
    }
}
