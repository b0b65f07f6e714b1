internal import SQLCipherBridge

extension DatabaseFile {
    /// What the bytes of a file say without a key.
    public struct Inspection: Sendable, Hashable {
        /// What a file looks like.
        public enum Kind: String, Sendable, Hashable {
            /// It looks like random bytes: encrypted, by all that can be seen.
            case encrypted
            /// A SQLite database without encryption.
            case plaintext
            /// A file of no bytes, which becomes a database at its first use.
            case empty
            /// Too short, or too regular to be encrypted.
            case notADatabase
        }

        /// A file that SQLite keeps beside the database.
        public struct Companion: Sendable, Hashable {
            /// What a file beside the database is for.
            public enum Role: String, Sendable, Hashable, CaseIterable {
                /// The write-ahead log, which may have committed transactions.
                case wal
                /// The index of the log, in memory that processes share.
                case shm
                /// The rollback journal. One of a process that ended in the middle is played back at the next
                /// opening.
                case journal

                var suffix: String { "-\(rawValue)" }
            }

            /// What the file is for.
            public var role: Role
            /// In bytes.
            public var size: Int64
        }

        /// What the file looks like.
        public var kind: Kind

        /// In bytes.
        public var size: Int64

        /// In bytes: read from a plaintext file, guessed for an encrypted one. Nil when there is none.
        public var pageSize: Int?

        /// Whether ``pageSize`` is a guess from the size of the file: the default that divides it, which need
        /// not be the truth.
        public var isPageSizeGuessed: Bool

        /// The 16 bytes at the start of an encrypted file, which are no secret.
        public var salt: [UInt8]?

        /// The files beside it that have something to do with it, empty ones included.
        public var companions: [Companion]

        /// How many names the file has; more than one prevents a rotation.
        public var linkCount: Int

        /// The number of the user that the file belongs to.
        public var userID: UInt32
        /// The number of the group that the file belongs to.
        public var groupID: UInt32

        /// The permission bits, as in `0o600`.
        public var mode: UInt32

        /// Files that an interrupted run has left beside it. The next run of the same operation removes them.
        public var leftovers: [String]
    }

    /// Looks at the file without a key. Nothing is changed, and no lock is taken.
    ///
    ///     let look = try file.inspect()
    ///     print(look.kind, look.size, look.leftovers)
    public func inspect() throws -> Inspection {
        try FileInspector(path: path).inspect()
    }

    /// What a file contains, as a reader with the key sees it.
    public struct Contents: Sendable, Hashable {
        /// The settings that open the file.
        public var cipher: CipherSettings

        /// The format of SQLCipher that the settings are, from 1 to 4; nil when they are none.
        public var format: Int?

        /// In bytes.
        public var pageSize: Int

        /// As the database says; the file may be longer, see ``Verification/trailingByteCount``.
        public var pageCount: Int

        /// How many pages are free.
        public var freePageCount: Int

        /// The names of tables and virtual tables, sorted; without those of SQLite itself.
        public var tables: [String]

        /// `PRAGMA user_version`, which belongs to the application.
        public var userVersion: Int32
        /// `PRAGMA application_id`, by which other tools know whose file it is.
        public var applicationID: Int32

        /// In lower case, as in `"delete"` and `"wal"`.
        public var journalMode: String

        /// In lower case: `"none"`, `"full"` or `"incremental"`.
        public var autoVacuum: String

        /// As in `"UTF-8"`.
        public var encoding: String
    }

    /// Looks into the file with a key. Nothing is changed: what a write-ahead log contains is seen, and stays
    /// there.
    ///
    /// - Parameters:
    ///   - key: nil for a file without encryption.
    ///   - cipher: nil to find out which format from 4 to 1 opens the file, in this order.
    public func inspect(key: DatabaseKey?, cipher: CipherSettings? = nil) throws -> Contents {
        try FileInspector(path: path).contents(key: key, cipher: cipher)
    }

    /// Tries a key, and names it as ``RotationProof`` does: a keyed hash of what encrypts the file, and of
    /// its salt. Nothing is changed.
    ///
    /// - Parameter cipher: nil to find out which format from 4 to 1 opens the file, in this order.
    /// - Returns: 16 hexadecimal digits; nil for a file without a salt, as one without content.
    /// - Throws: a ``DatabaseFileError`` when the key does not open the file. Where its first page is
    ///   damaged, other pages may prove the key.
    package func keyID(_ key: DatabaseKey, cipher: CipherSettings? = nil) throws -> String? {
        try FileInspector(path: path).keyID(key, cipher: cipher)
    }
}
