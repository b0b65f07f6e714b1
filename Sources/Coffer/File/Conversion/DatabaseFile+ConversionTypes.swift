public import Foundation

extension DatabaseFile {
    /// Options for writing the content of a file in another form: encrypted, decrypted, in another format, or
    /// into another file.
    public struct ConversionOptions: Sendable {
        /// The current cipher settings of the file. Upgrades detect the settings, except for uncommon ones
        /// such as an unusual number of iterations.
        public var cipher = CipherSettings()

        /// The cipher settings of the result. By default, SQLCipher 4's settings for encryptions and
        /// upgrades, and the source's settings for other copies.
        public var newCipher: CipherSettings?

        /// The path at which the old file is kept when the result replaces it, on the same file system. The
        /// path must be free.
        public var keepOldPath: String?

        /// The time to wait for other connections, in seconds.
        public var lockTimeout: TimeInterval = 0

        /// The functions that the file's indexes, checks, and generated columns call.
        ///
        /// Most files can be copied without them: see ``DatabaseFileError/Reason/missingDefinition(_:)``.
        public var functions: [DatabaseFunction] = []

        /// The collations that tables and indexes name, in addition to the built-in ones.
        public var collations: [DatabaseCollation] = []

        /// True if a backup contains the stored encrypted pages, instead of pages that are encrypted anew.
        /// Pages that have not been written to since the last backup are then identical to those in it, so
        /// programs with deduplication have little to store.
        ///
        /// Such a backup has the key and the salt of the file. Anyone with several backups can see which
        /// pages have changed, and anyone with write access to one can put a page of another into it without
        /// being detected.
        public var keepsStoredPages = false

        /// Records the result before the operation counts as completed, if the result replaces the file. If
        /// it throws, the operation throws ``DatabaseFileError/Reason/auditFailed(_:)``, and a later run,
        /// which finds the work done, does not call this again.
        public var audit: (@Sendable (ConversionResult) throws -> Void)?

        /// The companion of a new file, which gets its name just before the file.
        package var companion: (any FileCompanion)?

        /// True if an old file that a restore keeps gets a copy of the keyring at its former path.
        package var keepsKeyring = false

        public init() {}
    }

    /// The steps and requirements of a conversion that has not begun.
    public struct ConversionPlan: Sendable, Hashable {
        /// True if the file is already in the requested form.
        public var isAlreadyDone: Bool

        /// The SQLCipher format that was found, from 1 to 4, for upgrades. With a raw key, formats 2 and 3
        /// are the same.
        public var format: Int?

        /// The size of the file, with its write-ahead log, in bytes.
        public var size: Int64

        /// The required disk space, in bytes.
        public var requiredSpace: Int64
        /// The available disk space, in bytes.
        public var availableSpace: Int64

        /// The paths of the files that an interrupted run left, and that would be removed.
        public var leftovers: [String]

        /// The steps, in words.
        public var steps: [String]
    }

    /// The outcome of a conversion, with its proof.
    public struct ConversionResult: Sendable, Hashable, Codable {
        /// False if the file was already in the requested form.
        public var isChanged: Bool

        /// True if an earlier, interrupted run had left work to complete or files to remove.
        public var isResumed: Bool

        /// The proof; nil if the file was not changed.
        public var proof: ConversionProof?

        /// The path of the result.
        public var path: String

        /// The path of the old file, if it was kept.
        public var keptOldPath: String?

        /// The duration of the conversion, in seconds.
        public var duration: TimeInterval
    }

    /// The facts that a fresh connection proved about the new file before it got its name.
    ///
    /// Each page is authentic if pages carry authentication codes, the structure is intact, the new key opens
    /// the file and the old one does not, and the schema, all rows with their row IDs, and the version
    /// numbers equal the source's.
    public struct ConversionProof: Sendable, Hashable, Codable {
        /// The number of pages of the result.
        public var pageCount: Int
        /// The size of its pages, in bytes.
        public var pageSize: Int
        /// The number of compared tables.
        public var tableCount: Int
        /// The number of compared rows.
        public var rowCount: Int

        /// The salt of the source, in hexadecimal digits; nil for a file without encryption.
        public var saltBefore: String?
        /// The salt of the result; nil for a file without encryption.
        public var saltAfter: String?

        /// An authentication code (HMAC-SHA-256) of the schema, of all rows with their row IDs, and of the
        /// version numbers, in hexadecimal digits. It does not depend on pages. The key of the code is the
        /// key of the result, or the key of the source if the result is plaintext. Without that key, the code
        /// cannot be used to check a guess at the content.
        public var contentDigest: String

        /// An identifier of the source's key, as in ``RotationProof``; nil for a file without encryption.
        public var oldKeyID: String?
        /// An identifier of the result's key; nil for a file without encryption.
        public var newKeyID: String?
    }

    /// The caller's confirmation that a copy may be unencrypted.
    public enum PlaintextConfirmation: Sendable, Hashable {
        /// Anyone with access to the result can read the content.
        case contentBecomesReadableByAnyone
    }
}
