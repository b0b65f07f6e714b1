public import Foundation

extension DatabaseFile {
    /// How the content of a file is written in another form: encrypted, decrypted, in another format, or into
    /// another file.
    public struct ConversionOptions: Sendable {
        /// The cipher settings of the file as it is. Upgrades find out themselves, except for settings that
        /// are not common, such as another number of iterations.
        public var cipher = CipherSettings()

        /// The cipher settings of the result: by default those of SQLCipher 4 where content gets encrypted or
        /// upgraded, and those of the source for other copies.
        public var newCipher: CipherSettings?

        /// Where the old file is kept when the result takes its place, on the same file system; nothing may
        /// be there.
        public var keepOldPath: String?

        /// How long to wait for others, in seconds.
        public var lockTimeout: TimeInterval = 0

        /// The functions that indexes, checks and generated columns call, where the file has such.
        ///
        /// Most files can be copied without: see ``DatabaseFileError/Reason/missingDefinition(_:)``.
        public var functions: [DatabaseFunction] = []

        /// The collations that tables and indexes name, besides those that every connection knows.
        public var collations: [DatabaseCollation] = []

        /// Whether a backup has the encrypted pages themselves, instead of pages that are encrypted anew:
        /// those that nobody has written to since are byte for byte the same as in the last backup, so that
        /// programs that store equal parts once have little to store.
        ///
        /// Such a backup has the key and the salt of the file. Whoever gets several of them sees which pages
        /// have changed, and whoever may write to one can put a page of one into another unnoticed.
        public var keepsStoredPages = false

        /// Records what was done, before it counts as completed, where the result takes the place of the
        /// file. When it throws, the work throws ``DatabaseFileError/Reason/auditFailed(_:)``, and a later
        /// run, which finds it done, does not call this again.
        public var audit: (@Sendable (ConversionResult) throws -> Void)?

        /// The companion of a new file, which gets its name just before the file.
        package var companion: (any FileCompanion)?

        public init() {}
    }

    /// What a conversion would do.
    public struct ConversionPlan: Sendable, Hashable {
        /// Whether the file is already what it would become.
        public var isAlreadyDone: Bool

        /// The format of SQLCipher that was found, from 1 to 4, for upgrades. With a raw key, formats 2 and 3
        /// are the same.
        public var format: Int?

        /// The size of the file, with its write-ahead log, in bytes.
        public var size: Int64

        /// The room that is needed, in bytes.
        public var requiredSpace: Int64
        /// The room that there is, in bytes.
        public var availableSpace: Int64

        /// What an interrupted run has left, and would be removed.
        public var leftovers: [String]

        /// The steps, in words.
        public var steps: [String]
    }

    /// What a conversion has done, and proved.
    public struct ConversionResult: Sendable, Hashable, Codable {
        /// False when the file was already what it should become.
        public var isChanged: Bool

        /// Whether an earlier run, which was interrupted, had left something to complete or to remove.
        public var isResumed: Bool

        /// What was proved; nil when nothing was changed.
        public var proof: ConversionProof?

        /// Where the result is.
        public var path: String

        /// Where the old file is, if it was to be kept.
        public var keptOldPath: String?

        /// How long it took, in seconds.
        public var duration: TimeInterval
    }

    /// What was proved on the new file, by a fresh connection, before it got its name.
    ///
    /// Each page is authentic where pages carry codes, the structure is whole, the new key opens it and the
    /// old one does not, and its schema, all rows with their row IDs, and its version numbers are those of
    /// the source.
    public struct ConversionProof: Sendable, Hashable, Codable {
        /// How many pages the result has.
        public var pageCount: Int
        /// The size of its pages, in bytes.
        public var pageSize: Int
        /// How many tables were compared.
        public var tableCount: Int
        /// How many rows were compared.
        public var rowCount: Int

        /// The salts, as hexadecimal digits; nil for files without encryption.
        public var saltBefore: String?
        /// The salt of the result.
        public var saltAfter: String?

        /// An authentication code (HMAC-SHA-256) of the schema, of all rows with their row IDs, and of the
        /// version numbers, as hexadecimal digits. It does not depend on pages. The key of the code is that
        /// of the result, or that of the source where the result is plaintext, so that nobody can try out
        /// contents on it without that key.
        public var contentDigest: String

        /// Names for the keys, as in ``RotationProof``; nil for files without encryption.
        public var oldKeyID: String?
        /// A name for the key of the result.
        public var newKeyID: String?
    }

    /// The caller's word for a copy that is not encrypted.
    public enum PlaintextConfirmation: Sendable, Hashable {
        /// Whoever can read the result can read the content.
        case contentBecomesReadableByAnyone
    }
}
