public import Foundation

extension DatabaseFile {
    /// Facts about a file that are visible without its key.
    public struct Inspection: Sendable, Hashable {
        /// The apparent type of a file.
        public enum Kind: String, Sendable, Hashable {
            /// The content looks like random bytes, as in an encrypted database.
            case encrypted
            /// A SQLite database without encryption.
            case plaintext
            /// A file of zero bytes, which becomes a database at its first use.
            case empty
            /// The file is too short, or too regular to be encrypted.
            case notADatabase
        }

        /// A file that SQLite keeps next to the database.
        public struct Companion: Sendable, Hashable {
            /// The purpose of a companion file.
            public enum Role: String, Sendable, Hashable, CaseIterable {
                /// The write-ahead log, which may contain committed transactions.
                case wal
                /// The index of the log, in memory that processes share.
                case shm
                /// The rollback journal. If its process ended in the middle of a transaction, it is rolled
                /// back when the database is next opened.
                case journal

                var suffix: String { "-\(rawValue)" }
            }

            /// The purpose of the file.
            public var role: Role
            /// The size in bytes.
            public var size: Int64
        }

        /// The apparent type of the file.
        public var kind: Kind

        /// The size in bytes.
        public var size: Int64

        /// The page size in bytes: read from a plaintext file, guessed for an encrypted one; nil if neither
        /// is possible.
        public var pageSize: Int?

        /// A Boolean value that indicates whether ``pageSize`` is a guess from the size of the file: the
        /// first common default that divides it, which may be wrong.
        public var isPageSizeGuessed: Bool

        /// The 16 bytes at the start of an encrypted file, which are not secret.
        public var salt: [UInt8]?

        /// The files next to the database that belong to it, including empty ones.
        public var companions: [Companion]

        /// The number of hard links to the file. More than one prevents a key rotation.
        public var linkCount: Int

        /// The user ID of the file's owner.
        public var userID: UInt32
        /// The group ID of the file.
        public var groupID: UInt32

        /// The permission bits, as in `0o600`.
        public var mode: UInt32

        /// The files that an interrupted operation has left next to the database. The next run of the same
        /// operation removes them.
        public var leftovers: [String]
    }

    /// Inspects the file without a key. It changes nothing, and takes no lock.
    ///
    ///     let look = try file.inspect()
    ///     print(look.kind, look.size, look.leftovers)
    public func inspect() throws -> Inspection {
        try FileInspector(path: path).inspect()
    }

    /// Facts about the content of a file, which require its key.
    public struct Contents: Sendable, Hashable {
        /// The settings that open the file.
        public var cipher: CipherSettings

        /// The SQLCipher format whose defaults the settings are, from 1 to 4; nil for other settings.
        public var format: Int?

        /// The page size in bytes.
        public var pageSize: Int

        /// The number of pages that the database states. The file may be longer, see
        /// ``Verification/trailingByteCount``.
        public var pageCount: Int

        /// The number of free pages.
        public var freePageCount: Int

        /// The names of tables and virtual tables, sorted, without SQLite's own tables.
        public var tables: [String]

        /// `PRAGMA user_version`, which belongs to the application.
        public var userVersion: Int32
        /// `PRAGMA application_id`, with which other tools recognize the application's files.
        public var applicationID: Int32

        /// The journal mode in lower case, such as `"delete"` or `"wal"`.
        public var journalMode: String

        /// The auto-vacuum mode in lower case: `"none"`, `"full"` or `"incremental"`.
        public var autoVacuum: String

        /// The text encoding, such as `"UTF-8"`.
        public var encoding: String
    }

    /// Inspects the content of the file with a key. It changes nothing: transactions in a write-ahead log are
    /// read, but not checkpointed.
    ///
    /// - Parameters:
    ///   - key: nil for a file without encryption.
    ///   - cipher: nil to detect the format. The formats from 4 to 1 are tried in this order.
    ///   - lockTimeout: the time to wait for locks of other connections, in seconds.
    public func inspect(
        key: DatabaseKey?, cipher: CipherSettings? = nil, lockTimeout: TimeInterval = 0
    ) throws -> Contents {
        try FileInspector(path: path).contents(key: key, cipher: cipher, timeout: lockTimeout)
    }

    /// Checks a key, and returns its identifier, the same as in ``RotationProof``: a keyed hash of the key
    /// material and the salt of the file. It changes nothing.
    ///
    /// - Parameters:
    ///   - cipher: nil to detect the format. The formats from 4 to 1 are tried in this order.
    ///   - lockTimeout: the time to wait for locks of other connections, in seconds.
    /// - Returns: 16 hexadecimal digits; nil for a file without a salt, such as an empty one.
    /// - Throws: a ``DatabaseFileError`` if the key does not open the file. If its first page is damaged,
    ///   other pages can verify the key.
    package func keyID(
        _ key: DatabaseKey, cipher: CipherSettings? = nil, lockTimeout: TimeInterval = 0
    ) throws -> String? {
        try FileInspector(path: path).keyID(key, cipher: cipher, timeout: lockTimeout)
    }
}
