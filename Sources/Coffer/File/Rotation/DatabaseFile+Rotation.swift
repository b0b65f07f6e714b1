public import Foundation

extension DatabaseFile {
    /// Options for the rotation of a key.
    public struct RotationOptions: Sendable {
        /// The method of a rotation.
        public enum Method: String, Sendable, Hashable {
            /// Encrypts into a copy with a fresh salt, which replaces the file once it is proved. Needs disk
            /// space for the copy.
            case copy
            /// Encrypts the file itself, which keeps its salt. Needs no space for a copy, but for a journal
            /// that may be as large.
            case inPlace
        }

        /// The method by which the file gets its new key. The default is a copy.
        public var method = Method.copy

        /// The cipher settings of the file, which do not change.
        public var cipher = CipherSettings()

        /// The path at which the file with the old key is kept, on the same file system. The path must be
        /// free. With ``Method/copy`` only.
        ///
        /// The kept file is a copy, because another process may have the old one open. It takes the time of a
        /// copy before the database can be used again.
        public var keepOldPath: String?

        /// The time to wait for other connections, in seconds.
        public var lockTimeout: TimeInterval = 0

        /// The maximum number of threads that copy pages, from 1 to 64, with ``Method/copy``. The proof
        /// always uses two threads.
        ///
        /// To use all processors, set it to `ProcessInfo.processInfo.activeProcessorCount`.
        public var threadCount = 2

        /// The bounds within which a pool continues to read and write while the copy is made, with
        /// ``Method/copy``. Nil makes all accesses wait. Ignored for closed files.
        ///
        /// Accesses also wait while the end of the rotation waits for other connections, for at most
        /// ``lockTimeout`` or half a second, if that is longer.
        public var whileInUse: WhileInUse?

        /// Records the result, before the rotation counts as completed: see ``RotationResult``.
        ///
        /// If it throws, ``DatabaseFile/rotate(from:to:options:progress:)`` throws
        /// ``DatabaseFileError/Reason/auditFailed(_:)``, and the file has its new key. A later run finds the
        /// work done and does not call this again, as it has no proof of its own to record.
        public var audit: (@Sendable (RotationResult) throws -> Void)?

        public init() {}
    }

    /// The bounds within which a pool continues to work while its key is rotated.
    ///
    /// The write-ahead log grows with each write during the rotation, because SQLite cannot restart it: see
    /// <doc:KeyRotation>.
    ///
    /// ```swift
    /// var options = DatabaseFile.RotationOptions()
    /// options.whileInUse = DatabaseFile.WhileInUse(maximumLogSize: 256 << 20)
    /// let result = try pool.rotateKey(to: next, options: options)
    /// print("The owners of items waited for \(result.pause ?? 0) seconds.")
    /// ```
    public struct WhileInUse: Sendable, Hashable {
        /// The maximum size of the write-ahead log, in bytes. If the log becomes larger, the rotation fails
        /// with ``DatabaseFileError/Reason/outpaced(logSize:)``. A log that is larger from the beginning may
        /// keep its size.
        public var maximumLogSize: Int64

        /// The maximum number of pages that may have changed since the copy was last brought up to date for
        /// accesses to begin to wait.
        public var maximumRemainder: Int

        /// The maximum number of times that the copy is brought up to date before the rotation fails with
        /// ``DatabaseFileError/Reason/outpaced(logSize:)``.
        public var maximumRoundCount: Int

        /// The maximum delay of a single write, in seconds, if writers outpace the copy: that is, if the log
        /// grows faster than its bound allows for the remaining work, or if rounds do not become smaller.
        /// Zero, the default, never delays writes.
        ///
        /// Each delayed write runs before writes are delayed again. If the delay is not enough, the rotation
        /// fails as it would without one.
        public var maximumWriteDelay: TimeInterval

        /// The maximum time for which accesses wait, in seconds, for reads that are still running when the
        /// copy is complete. If a read takes longer, accesses continue for nine times as long, and then wait
        /// again. The first wait is 0.05 seconds, and each further one is twice as long.
        ///
        /// A read that never ends keeps the rotation from completing until the log reaches its maximum size
        /// or the rotation is canceled.
        public var maximumReadWait: TimeInterval

        /// - Parameters:
        ///   - maximumLogSize: in bytes, 1 GiB by default.
        ///   - maximumRemainder: in pages.
        ///   - maximumRoundCount: does not include the first copy.
        ///   - maximumWriteDelay: in seconds.
        ///   - maximumReadWait: in seconds.
        public init(
            maximumLogSize: Int64 = 1 << 30, maximumRemainder: Int = 1024, maximumRoundCount: Int = 30,
            maximumWriteDelay: TimeInterval = 0, maximumReadWait: TimeInterval = 1
        ) {
            self.maximumLogSize = maximumLogSize
            self.maximumRemainder = maximumRemainder
            self.maximumRoundCount = maximumRoundCount
            self.maximumWriteDelay = maximumWriteDelay
            self.maximumReadWait = maximumReadWait
        }
    }

    /// The steps and requirements of a rotation that has not begun.
    public struct RotationPlan: Sendable, Hashable {
        /// True if the file has the new key already, so there is nothing to do.
        public var isAlreadyRotated: Bool
        /// The method by which the file would get its new key.
        public var method: RotationOptions.Method

        /// The size of the file, with its write-ahead log, in bytes.
        public var size: Int64
        /// The number of pages of the file.
        public var pageCount: Int

        /// The required disk space, in bytes.
        public var requiredSpace: Int64
        /// The available disk space, in bytes.
        public var availableSpace: Int64

        /// The journal mode of the file, which it keeps.
        public var journalMode: String

        /// The paths of the files that an interrupted rotation left, and that would be removed.
        public var leftovers: [String]

        /// The steps, in words.
        public var steps: [String]
    }

    /// The outcome of a rotation, with its proof.
    public struct RotationResult: Sendable, Hashable, Codable {
        /// False if the file had the new key already.
        public var isChanged: Bool

        /// True if an earlier, interrupted run had left work to complete or files to remove.
        public var isResumed: Bool

        /// The proof; nil if the file was not changed.
        public var proof: RotationProof?

        /// The path of the file with the old key.
        public var keptOldPath: String?

        /// The duration of the rotation, in seconds.
        public var duration: TimeInterval

        /// The total time that accesses had to wait for the end of the rotation, in seconds, with
        /// ``RotationOptions/whileInUse``; nil for other rotations. Accesses no longer wait when
        /// ``RotationOptions/audit`` is called.
        public var pause: TimeInterval?
    }

    /// The facts that were proved before the new file replaced the old one, on the new file and with a
    /// connection of its own.
    public struct RotationProof: Sendable, Hashable, Codable {
        /// The number of pages of the new file.
        public var pageCount: Int
        /// The size of its pages, in bytes.
        public var pageSize: Int

        /// The first 16 bytes of the old file, in hexadecimal digits.
        public var saltBefore: String
        /// The salt of the new file.
        public var saltAfter: String

        /// True if the old key does not open the new file.
        public var isOldKeyRejected: Bool
        /// True if the new key opens the new file.
        public var isNewKeyAccepted: Bool
        /// True if each page is authentic, and the structure is intact.
        public var isIntegrityClean: Bool
        /// True if the decrypted content of each page is the same, except for the counters that distinguish
        /// one copy from the other.
        public var isContentEqual: Bool

        /// An authentication code (HMAC-SHA-256) of the digests of the decrypted pages, without these
        /// counters, under the new key, in hexadecimal digits.
        ///
        /// Equal contents that are encrypted with the same 32 bytes have the same code. These are files with
        /// the same raw key, and files with the same passphrase and salt. Without the key, the code cannot be
        /// used to check a guess at the content.
        public var contentDigest: String

        /// An identifier of the old key, for comparison with other results of this file. Key identifiers are
        /// keyed hashes: they reveal nothing without the key.
        public var oldKeyID: String
        /// An identifier of the new key.
        public var newKeyID: String
    }

    /// Returns a plan of ``rotate(from:to:options:progress:)``, and changes nothing.
    ///
    /// The keys are tried on the file. An error is the one that the rotation would throw at its beginning.
    ///
    ///     let plan = try file.rotationPlan(from: key, to: next)
    ///     print(plan.requiredSpace <= plan.availableSpace, plan.steps)
    ///
    /// - Parameter oldKey: the key that opens the file now.
    public func rotationPlan(
        from oldKey: DatabaseKey, to newKey: DatabaseKey, options: RotationOptions = RotationOptions()
    ) throws -> RotationPlan {
        try FileRotation(path: path, oldKey: oldKey, newKey: newKey, options: options).plan()
    }

    /// Encrypts the file with another key.
    ///
    /// A copy with the new key is made next to the file, checked page by page and with a connection of its
    /// own, and replaces the file in one step. Until then the file is not changed, even if the rotation
    /// fails. After a crash the file is complete, with one of the two keys; running the rotation again
    /// completes it and removes leftovers. The mode, the owner, access control lists, and extended attributes
    /// are kept.
    ///
    /// If the file has the new key already, nothing is done, and ``RotationResult/isChanged`` is false.
    ///
    ///     let result = try file.rotate(from: key, to: next)
    ///     print(result.isChanged, result.proof?.pageCount ?? 0)
    ///
    /// - Parameters:
    ///   - oldKey: the key that opens the file now.
    ///   - progress: called with the number of completed pages; throws to end the rotation.
    /// - Returns: the result with its proof.
    /// - Throws: a ``DatabaseFileError``: `busy` if another process has the file open, or opens it before the
    ///   copy is in its place; `key` if the old key does not open it; `emptyFile` for a file without bytes;
    ///   `unsafeFile(.sharedDirectory)` if other users may rename files in the directory.
    @discardableResult
    public func rotate(
        from oldKey: DatabaseKey, to newKey: DatabaseKey, options: RotationOptions = RotationOptions(),
        progress: ProgressFunction? = nil
    ) throws -> RotationResult {
        try FileRotation(path: path, oldKey: oldKey, newKey: newKey, options: options).perform(
            progress: ProgressReport(progress))
    }
}
