internal import SQLCipherBridge

/// A change of how the content of a file is protected: where the file is, and what protects it before and
/// after.
struct FileChange: Sendable {
    let path: String
    let before: FileProtection
    let after: FileProtection
}

/// A way to copy the content of a file.
protocol CopyMethod {
    /// Writes the whole content of the source into the file of the copy, which is empty. There is no other
    /// way to write to it.
    ///
    /// - Parameter source: a connection in a read transaction, which sees everything. It has no functions and
    ///   collations of an application.
    /// - Returns: what finds out whether the copy has that content.
    func copy(
        _ source: ConnectionHandle, to target: HeldFile, _ change: FileChange, _ progress: ProgressReport
    ) throws -> any ContentProof
}

/// A way to find out whether a copy has the content of its source.
protocol ContentProof {
    /// - Parameters:
    ///   - copy: a fresh connection to the copy, that cannot write.
    ///   - file: the file of the copy, for other readers.
    /// - Throws: ``DatabaseFileError/Reason/copyRejected(_:)``; ``DatabaseFileError/Reason/damaged(pages:)``
    ///   for the source.
    func prove(
        _ copy: ConnectionHandle, in file: any StoredBytes & Sendable, against source: ConnectionHandle,
        _ change: FileChange,
        _ progress: ProgressReport
    ) throws -> ProvedContent
}

/// What is known of a copy whose content is that of its source.
struct ProvedContent {
    /// What the digest of the content is made of.
    private let digests: Digests
    /// What is damaged in the structure; nil when it was not looked at.
    var structure: [String]?
    /// Whether the old key opens the copy; nil when it was not tried.
    var isOldKeyAccepted: Bool?
    /// What was compared row by row; zero for pages.
    let tableCount: Int
    let rowCount: Int

    private enum Digests {
        case whole(String)
        case ofPages(PageDigests)
    }

    init(
        digest: String, structure: [String]? = nil, isOldKeyAccepted: Bool? = nil, tableCount: Int = 0,
        rowCount: Int = 0
    ) {
        digests = .whole(digest)
        self.structure = structure
        self.isOldKeyAccepted = isOldKeyAccepted
        self.tableCount = tableCount
        self.rowCount = rowCount
    }

    /// The same with another content, of whose pages these are the digests.
    init(_ proved: ProvedContent, digests: PageDigests) {
        self.digests = .ofPages(digests)
        structure = proved.structure
        isOldKeyAccepted = proved.isOldKeyAccepted
        tableCount = proved.tableCount
        rowCount = proved.rowCount
    }

    /// The digest of the content, as hexadecimal digits. It may have to be made of those of all pages each
    /// time.
    var digest: String {
        get throws(CryptographyFailure) {
            switch digests {
            case .whole(let text): text
            case .ofPages(let digests): try digests.finish()
            }
        }
    }
}
