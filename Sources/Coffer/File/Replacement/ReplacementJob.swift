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
    var compare: (ComparisonWork) throws -> Comparison

    /// Records the result; called with the file in its place, before the note is removed.
    var audit: (ReplacementProof) throws -> Void = { _ in }

    /// The connection that the source is open with already, for databases in use; nil to open one.
    ///
    /// It writes nothing during the work, and is in a transaction from `quiesce` to `publish`.
    var lentConnection: ConnectionHandle?

    /// For databases in use: lets go of the lent connection, which is still in its transaction, and goes on with the new file in the journal
    /// mode that is given.
    var resume: (_ journalMode: String) throws -> Void = { _ in }

    struct CopyWork {
        /// A connection in a read transaction, which sees everything. It has no functions and collations of an application.
        var source: ConnectionHandle
        var before: FileProtection
        /// The file of the copy. There is no other way to write to it.
        var target: HeldFile
        var after: FileProtection
        /// Of the source, for errors.
        var path: String
        var progress: ProgressReport

        /// A connection to the empty file of the copy, which is made permanent as a whole later on, so that it needs no journal.
        func openCopy() throws -> ConnectionHandle { try after.open(writing: target) }
    }

    struct Comparison {
        /// Of the content, which was found equal, as hexadecimal digits.
        var digest: String
        /// What is wrong with the structure; nil when it was not looked at.
        var structure: [String]?
        /// Whether the old key opens the copy; nil when it was not tried.
        var isOldKeyAccepted: Bool?
    }

    struct ComparisonWork {
        var source: ConnectionHandle
        var before: FileProtection
        /// A fresh connection to the copy, that cannot write.
        var copy: ConnectionHandle
        /// The file of the copy, for other readers.
        var file: any StoredBytes
        var after: FileProtection
        var path: String
        var progress: ProgressReport
    }
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
