public import Foundation

extension DatabaseFile {
    /// How a key is rotated.
    public struct RotationOptions: Sendable {
        /// The way of the rotation.
        public enum Method: String, Sendable, Hashable {
            /// Into a copy with a fresh salt, which takes the place of the file when it is proved. Needs room
            /// for the copy.
            case copy
            /// In the file itself, which keeps its salt. Needs no room for a copy, but for a journal, which
            /// may be as large.
            case inPlace
        }

        /// How the file gets its new key. By default by a copy.
        public var method = Method.copy

        /// The cipher settings of the file, which it keeps.
        public var cipher = CipherSettings()

        /// Where the file with the old key is kept, on the same file system; nothing may be there. With
        /// ``Method/copy`` only.
        public var keepOldPath: String?

        /// How long to wait for others, in seconds.
        public var lockTimeout: TimeInterval = 0

        /// How many threads copy pages at once, at most, from 1 to 64, with ``Method/copy``. The proof takes
        /// two threads in any case.
        ///
        /// `ProcessInfo.processInfo.activeProcessorCount` is as many as there are processors.
        public var threadCount = 2

        /// Has a pool go on reading and writing while the copy is made, with ``Method/copy``; nil has all
        /// accesses wait. Of no meaning for closed files.
        ///
        /// Accesses also wait while the end of the rotation waits for other connections, at most
        /// ``lockTimeout``, or half a second.
        public var whileInUse: WhileInUse?

        /// Records what was done, before the rotation counts as completed: see ``RotationResult``.
        ///
        /// When it throws, ``DatabaseFile/rotate(from:to:options:progress:)`` throws
        /// ``DatabaseFileError/Reason/auditFailed(_:)``; the file has its new key then. A later run finds the
        /// work done and does not call this again: it has no proof of its own to record.
        public var audit: (@Sendable (RotationResult) throws -> Void)?

        public init() {}
    }

    /// How a pool goes on while its key is rotated: within which bounds.
    ///
    /// The write-ahead log grows with each write meanwhile, because SQLite cannot begin it anew: see
    /// <doc:KeyRotation>.
    ///
    /// ```swift
    /// var options = DatabaseFile.RotationOptions()
    /// options.whileInUse = DatabaseFile.WhileInUse(maximumLogSize: 256 << 20)
    /// let result = try pool.rotateKey(to: next, options: options)
    /// print("The owners of items waited for \(result.pause ?? 0) seconds.")
    /// ```
    public struct WhileInUse: Sendable, Hashable {
        /// How large the write-ahead log may become, in bytes. The rotation ends with
        /// ``DatabaseFileError/Reason/outpaced(logSize:)`` when it becomes larger. A log that is larger from
        /// the beginning may keep its size.
        public var maximumLogSize: Int64

        /// How many pages may have changed since the copy was last brought up to date when accesses begin to
        /// wait.
        public var maximumRemainder: Int

        /// How often the copy is brought up to date, at most, before the rotation ends with
        /// ``DatabaseFileError/Reason/outpaced(logSize:)``.
        public var maximumRoundCount: Int

        /// How long a write may be made to wait at a time, in seconds, where writers are faster than the
        /// copy: when the log grows faster than its bound allows for the work that is left, or when rounds do
        /// not become small. Zero, the default, never slows them down.
        ///
        /// Each write that waits has its turn before writes wait again. Where that is not enough, the
        /// rotation ends as it does without.
        public var maximumWriteDelay: TimeInterval

        /// How long accesses may be made to wait at a time, in seconds, for reads that are under way when the
        /// copy is complete. Where a read takes longer, they go on, and wait again later: after nine times as
        /// long, for 0.05 seconds at first, and for twice as long each time.
        ///
        /// A read that never ends keeps the rotation from its end, until the log has its maximum size or the
        /// rotation is cancelled.
        public var maximumReadWait: TimeInterval

        /// - Parameters:
        ///   - maximumLogSize: in bytes, 1 GiB if nothing else is said.
        ///   - maximumRemainder: in pages.
        ///   - maximumRoundCount: the first copy does not count.
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

    /// What a rotation would do.
    public struct RotationPlan: Sendable, Hashable {
        /// Whether the file has the new key already, so that nothing would be done.
        public var isAlreadyRotated: Bool
        /// How the file would get its new key.
        public var method: RotationOptions.Method

        /// The size of the file, with its write-ahead log, in bytes.
        public var size: Int64
        /// How many pages the file has.
        public var pageCount: Int

        /// The room that is needed, in bytes.
        public var requiredSpace: Int64
        /// The room that there is, in bytes.
        public var availableSpace: Int64

        /// The journal mode of the file, which it keeps.
        public var journalMode: String

        /// What an interrupted rotation has left, and would be removed.
        public var leftovers: [String]

        /// The steps, in words.
        public var steps: [String]
    }

    /// What a rotation has done, and proved.
    public struct RotationResult: Sendable, Hashable, Codable {
        /// False when the file had the new key already.
        public var isChanged: Bool

        /// Whether an earlier run, which was interrupted, had left something to complete or to remove.
        public var isResumed: Bool

        /// What was proved; nil when nothing was changed.
        public var proof: RotationProof?

        /// Where the file with the old key is.
        public var keptOldPath: String?

        /// How long it took, in seconds.
        public var duration: TimeInterval

        /// How long accesses had to wait for its end, in seconds and in all, with
        /// ``RotationOptions/whileInUse``; nil for other rotations. They have ended to wait when
        /// ``RotationOptions/audit`` is called.
        public var pause: TimeInterval?
    }

    /// What was proved before the new file took the place of the old one: on the new file, by a connection of
    /// its own.
    public struct RotationProof: Sendable, Hashable, Codable {
        /// How many pages the new file has.
        public var pageCount: Int
        /// The size of its pages, in bytes.
        public var pageSize: Int

        /// The first 16 bytes of the file, as hexadecimal digits.
        public var saltBefore: String
        /// The salt of the new file.
        public var saltAfter: String

        /// The old key does not open the new file.
        public var isOldKeyRejected: Bool
        /// The new key opens it.
        public var isNewKeyAccepted: Bool
        /// Each page is authentic, and the structure is whole.
        public var isIntegrityClean: Bool
        /// The decrypted content of each page is the same, but for the counters that distinguish one copy
        /// from the other.
        public var isContentEqual: Bool

        /// An authentication code (HMAC-SHA-256) of the digests of the decrypted pages, without these
        /// counters, under the new key, as hexadecimal digits.
        ///
        /// Equal contents that are encrypted with the same 32 bytes have the same one: that is, files of the
        /// same raw key, and of the same passphrase and salt. Without the key, nobody can find out from it
        /// whether a content that they guess is the right one.
        public var contentDigest: String

        /// Names for the keys, to be compared with those of other results of this file. They are keyed
        /// hashes: nothing can be found out from one without the key.
        public var oldKeyID: String
        /// A name for the new key.
        public var newKeyID: String
    }

    /// Finds out what ``rotate(from:to:options:progress:)`` would do, and changes nothing.
    ///
    /// The keys are tried. An error is the one that the rotation would end with at its beginning.
    ///
    ///     let plan = try file.rotationPlan(from: key, to: next)
    ///     print(plan.requiredSpace <= plan.availableSpace, plan.steps)
    ///
    /// - Parameters:
    ///   - oldKey: the key that opens the file now.
    ///   - newKey: the key that it would have.
    ///   - options: how it would be done.
    public func rotationPlan(
        from oldKey: DatabaseKey, to newKey: DatabaseKey, options: RotationOptions = RotationOptions()
    ) throws -> RotationPlan {
        try FileRotation(path: path, oldKey: oldKey, newKey: newKey, options: options).plan()
    }

    /// Encrypts the file with another key.
    ///
    /// A copy with the new key is made beside the file, checked page by page and on a connection of its own,
    /// and takes the place of the file in one step. Until then the file is untouched, whatever happens. A
    /// crash leaves the file whole, under one of the two keys; running the rotation again completes it and
    /// removes what was left. Mode, owner, access control lists and extended attributes are kept.
    ///
    /// When the file has the new key already, there is nothing to do, and ``RotationResult/isChanged`` is
    /// false.
    ///
    ///     let result = try file.rotate(from: key, to: next)
    ///     print(result.isChanged, result.proof?.pageCount ?? 0)
    ///
    /// - Parameters:
    ///   - oldKey: the key that opens the file now.
    ///   - newKey: the key that it gets.
    ///   - options: how it is done.
    ///   - progress: called with the pages that were done; throws to end the rotation.
    /// - Returns: what was done and proved.
    /// - Throws: a ``DatabaseFileError``: `busy` when another process has the file open, or opens it before
    ///   the copy has its place; `key` when the old key does not open it; `emptyFile` for a file without
    ///   bytes; `unsafeFile(.sharedDirectory)` where other users may rename files in the directory.
    @discardableResult
    public func rotate(
        from oldKey: DatabaseKey, to newKey: DatabaseKey, options: RotationOptions = RotationOptions(),
        progress: ProgressFunction? = nil
    ) throws -> RotationResult {
        try FileRotation(path: path, oldKey: oldKey, newKey: newKey, options: options).perform(
            progress: ProgressReport(progress))
    }
}
