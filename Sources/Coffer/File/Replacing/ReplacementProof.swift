internal import SQLCipherBridge

/// The facts that were proved about a copy before it took its place, with the digest of its content.
struct ReplacementProof {
    let pageCount: Int
    let pageSize: Int
    /// Nil for plaintext.
    let keyBefore: FileKey?
    let keyAfter: FileKey?
    let content: ProvedContent
    let contentDigest: String

    init(pageCount: Int, pageSize: Int, keyBefore: FileKey?, keyAfter: FileKey?, _ content: ProvedContent)
        throws(CryptographyFailure)
    {
        self.pageCount = pageCount
        self.pageSize = pageSize
        self.keyBefore = keyBefore
        self.keyAfter = keyAfter
        self.content = content
        contentDigest = try FileKey.digest(content.digest, after: keyAfter, before: keyBefore)
    }
}

/// The facts that were proved about a copy before it takes its place. Digesting its content may take some
/// time, and is deferred until no access waits for it.
struct CopyProof {
    private let pageCount: Int
    private let pageSize: Int
    private let keyBefore: FileKey?
    private let keyAfter: FileKey?
    private let content: ProvedContent

    /// Proves the properties that every copy must have, however it was made.
    ///
    /// - Parameters:
    ///   - copy: a fresh connection.
    ///   - content: the facts that were proved about the content of the copy.
    init(
        of copy: ConnectionHandle, _ content: ProvedContent, against source: ConnectionHandle,
        _ change: FileChange,
        _ progress: ProgressReport
    ) throws {
        func reject(_ words: String) -> DatabaseFileError {
            DatabaseFileError(.copyRejected(words), path: change.path)
        }
        let file = try PageFile(copy, change.after)
        let pageCount = try Int(copy.integer(pragma: "page_count"))
        guard file.excess == 0, file.pageCount == pageCount else {
            throw reject("its size does not match its \(pageCount) pages")
        }
        for name in ["user_version", "application_id", "encoding", "auto_vacuum"] {
            let old = try source.firstText(trusted: "PRAGMA main.\(name)")
            let new = try copy.firstText(trusted: "PRAGMA main.\(name)")
            guard old == new else { throw reject("its \(name) is \(new ?? "") instead of \(old ?? "")") }
        }
        guard try CopyProof.schema(of: source) == CopyProof.schema(of: copy) else {
            throw reject("its schema differs")
        }
        // The content is equal, so the source has the same damage.
        guard
            try (content.structure ?? StructureCheck.quick.findings(copy, progress: progress).damage).isEmpty
        else {
            throw DatabaseFileError(.damaged(pages: []), path: change.path)
        }
        self.pageCount = pageCount
        pageSize = file.pageSize
        keyBefore = try change.before.key(of: FileHeader(source))
        keyAfter = try change.after.key(of: FileHeader(copy))
        self.content = content
    }

    func digested() throws(CryptographyFailure) -> ReplacementProof {
        try ReplacementProof(
            pageCount: pageCount, pageSize: pageSize, keyBefore: keyBefore, keyAfter: keyAfter, content)
    }

    private static func schema(of handle: ConnectionHandle) throws(EngineError) -> String? {
        try handle.firstText(
            trusted: """
                SELECT count(*) || char(10) || ifnull(group_concat(type || char(10) || name || char(10) || \
                tbl_name || char(10) || ifnull(sql, ''),
                    char(10)), '')
                FROM (SELECT * FROM sqlite_master ORDER BY type, name)
                """)
    }
}
