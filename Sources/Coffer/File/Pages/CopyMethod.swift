internal import SQLCipherBridge

/// A change to the encryption of a file: its path, and its protection before and after.
struct FileChange: Sendable {
    var path: String
    let before: FileProtection
    let after: FileProtection

    /// Opens a copy, which must open with the new key.
    func openCopy(_ copy: HeldFile) throws -> EngineConnection {
        do {
            return try after.open(viewing: copy)
        } catch KeyError.encryption(let failure, _) {
            throw DatabaseFileError(
                .copyRejected("the new key does not open it (\(failure))"), path: path)
        }
    }
}

/// A way to copy the content of a file.
protocol CopyMethod {
    /// Writes the whole content of the source into the empty file of the copy. Nothing else writes to that
    /// file.
    ///
    /// - Parameter source: a connection in a read transaction that sees the whole content. It has no
    ///   functions or collations of an application.
    /// - Returns: the proof that then checks whether the copy has that content.
    func copy(
        _ source: ConnectionHandle, to target: HeldFile, _ change: FileChange, _ progress: ProgressReport
    ) throws -> any ContentProof
}

/// A way to check that a copy has the content of its source.
protocol ContentProof {
    /// - Parameters:
    ///   - copy: a fresh read-only connection to the copy.
    ///   - file: the file of the copy, for other readers.
    /// - Throws: ``DatabaseFileError/Reason/copyRejected(_:)``; ``DatabaseFileError/Reason/damaged(pages:)``
    ///   for the source.
    func prove(
        _ copy: ConnectionHandle, in file: any StoredBytes & Sendable, against source: ConnectionHandle,
        _ change: FileChange,
        _ progress: ProgressReport
    ) throws -> ProvedContent
}

/// The facts about a copy that was shown to equal its source.
struct ProvedContent {
    /// The source of the content digest.
    private let digests: Digests
    /// The structural damage that was found; nil if the structure was not checked.
    var structure: [String]?
    /// True if the old key opens the copy; nil if it was not tried.
    var isOldKeyAccepted: Bool?
    /// The number of tables that were compared row by row; zero if pages were compared.
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

    /// Creates a copy of `proved` for newer content, given the digests of its pages.
    init(_ proved: ProvedContent, digests: PageDigests) {
        self.digests = .ofPages(digests)
        structure = proved.structure
        isOldKeyAccepted = proved.isOldKeyAccepted
        tableCount = proved.tableCount
        rowCount = proved.rowCount
    }

    /// The digest of the content, as hexadecimal digits. Each access may hash the digests of all pages again.
    var digest: String {
        get throws(CryptographyFailure) {
            switch digests {
            case .whole(let text): text
            case .ofPages(let digests): try digests.finish()
            }
        }
    }
}
