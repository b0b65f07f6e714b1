internal import Foundation
internal import SQLCipherBridge

/// What is to be done to a file, and how: the part in which rotations, upgrades, encryptions and decryptions differ.
struct ReplacementJob {
    var operation: ReplacementOperation

    /// The source, whose place the result takes: see ``ContentFile`` for copies into other files.
    var path: String
    var before: FileProtection
    var after: FileProtection

    /// Whether the result has the key of the source, so that there is no old one which must not open it.
    var keepsKey = false

    /// How long to wait for others, in seconds.
    var lockTimeout: TimeInterval = 0

    /// Where the file with the old content is kept; only when its place is taken.
    var keepOldPath: String?

    /// Writes the whole content of the source into the file of the copy, which is empty.
    var makeCopy: (CopyWork) throws -> Void

    /// Proves that the copy has the content of the source.
    var compare: (ComparisonWork) throws -> CopyComparison

    /// Records the result; called with the file in its place, before the note is removed.
    var audit: (ReplacementProof) throws -> Void = { _ in }

    /// The connection that the source is open with already, for databases in use; nil to open one.
    ///
    /// It writes nothing during the work, and is in a transaction from `quiesce` to `publish`.
    var lentConnection: ConnectionHandle?

    /// For databases in use: lets go of the lent connection, which is still in its transaction, and goes on with the new file in the journal
    /// mode that is given.
    var resume: (_ journalMode: String) throws -> Void = { _ in }
}

/// What was proved of a copy before it took its place.
struct ReplacementProof: Equatable {
    var pageCount: Int
    var pageSize: Int
    /// Nil for plaintext.
    var saltBefore: [UInt8]?
    var saltAfter: [UInt8]?
    var oldKeyID: String?
    var newKeyID: String?
    var contentDigest: String
}

/// How a replacement has ended.
struct ReplacementResult: Equatable {
    /// False when the file had its new content already.
    var isChanged: Bool
    /// Whether an earlier run had left something.
    var isResumed: Bool
    var proof: ReplacementProof?
}
