internal import SQLCipherBridge

/// The making of a copy: what is copied, and where it goes.
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
    func openCopy() throws -> EngineConnection { try after.open(writing: target) }
}

/// The comparison of a copy with its source.
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

/// What a comparison has found, which was no difference.
struct CopyComparison {
    /// Of the content, which was found equal, as hexadecimal digits.
    var digest: String
    /// What is wrong with the structure; nil when it was not looked at.
    var structure: [String]?
    /// Whether the old key opens the copy; nil when it was not tried.
    var isOldKeyAccepted: Bool?
}
